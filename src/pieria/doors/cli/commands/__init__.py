"""The commands, one module a group: each parses its line, calls one verb, and answers."""
