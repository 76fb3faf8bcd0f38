"""Distill a session's events into observations: tasks, fixed failures, decisions and discoveries.

`tools` and `commands` classify events, `outcomes` reads results and `tasks` groups events. A mind picks what to keep;
`observations` and `pieces` build the records for the bank.
"""
