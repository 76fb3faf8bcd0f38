"""A bank behind HTTP: the table of verbs, the JSON of their values, and the `Bank` that sends them.

The door `doors/http` reads the same table and the same JSON. No rule about access belongs here: the server decides.
"""
