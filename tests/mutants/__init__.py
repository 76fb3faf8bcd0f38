"""Judge the fast tests by mutation: how many small faults in the source do they notice?

`python -m tests.mutants --reach` records which test files reach which lines. Then `python -m tests.mutants` plants one
fault at a time in a copy of the tree, always the same ones, and runs the files that reach it.
"""
