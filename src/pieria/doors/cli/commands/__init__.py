"""The commands, one file a group: each reads its line, calls one verb, and answers. What it prints is in `shown`."""
