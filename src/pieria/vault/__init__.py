"""Notes in a folder of Markdown files: how they are read, written and compared. Nothing here writes to a bank."""
