"""HTTP: every tool, the memories and facts of a bank, its events, and MCP, for callers who come over a socket.

`app` puts the routes together, `server` is the process that `pieria serve` is. Nothing may be imported here, since the
command line imports `tokens` from beside it.
"""
