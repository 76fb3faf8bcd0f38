"""From what agents were seen to fail at and mend, and from people who put them right, to what to do the next time.

`steps` says what of a command line changes anything, `failing` finds failures and what mended them, `telling` what
people said to it, `finding` asks a mind and grounds its answer, `weighing` says how sure that is, and what contradicts
what. Nothing here writes.
"""
