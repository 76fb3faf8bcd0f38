"""From what happened while an agent worked to observations: tasks, failures that were mended, decisions, discoveries.

`tools` and `commands` say what an event is, `outcomes` how it ended, `tasks` what belongs together; a mind notices what
is worth keeping, and `observations` and `pieces` make of it what a bank writes.
"""
