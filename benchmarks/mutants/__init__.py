"""Judge the fast tests by mutation: how many small faults in the source do they notice?

`python -m benchmarks.mutants --reach` records which test files reach which lines. Then `python -m benchmarks.mutants`
plants one fault at a time in a copy of the tree, always the same ones, and runs the files that reach it.
"""
