"""What is told before anything is asked: the block for the start of a session, or for a prompt.

`looking` reads what may be told of, `threads` finds what is still open in it, `lines` says how a memory is told, and
`block` puts together what the budget has room for. Nothing here writes, and nothing here reads a clock.
"""
