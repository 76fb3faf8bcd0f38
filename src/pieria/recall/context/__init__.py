"""The context block: what an agent reads at the start of a session or with a prompt, before it asks.

`candidates` reads the memories and finds open points, `lines` formats a memory, and `block` fits everything into the
budget. Nothing here writes or reads a clock.
"""
