"""Notes in a folder of Markdown files: reading, writing and comparing. Nothing here writes to a bank."""
