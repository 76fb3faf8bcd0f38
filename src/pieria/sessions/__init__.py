"""Sessions: an agent's run towards a goal, step by step, from which knowledge is drawn while it goes on.

What a session may do, and when, is told here, over protocols: what judges, what embeds, what keeps the graph, and what
keeps the session itself. No store and no bank is known here.
"""
