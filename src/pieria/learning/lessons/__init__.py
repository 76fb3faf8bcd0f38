"""Learn lessons from failures that agents fixed and from corrections by people.

`steps` tells which commands change anything. `failures` pairs failures with fixes, and `corrections` collects
what people said. `finder` asks a mind and grounds its answer. `weight` computes confidence and contradictions. Nothing
here writes.
"""
