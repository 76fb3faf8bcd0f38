"""The record: plain data and pure functions, with no input or output. It imports nothing from the layers above."""
