"""Mnemosyne's fifteen tools: remember and recall, sleep, triples, a scratchpad, export and import, and a diagnosis."""
