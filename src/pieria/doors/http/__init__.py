"""HTTP: every tool, the memories and facts of a bank, its events, and MCP, for callers over a socket.

`app` joins the routes, `server` is the process of `pieria serve`. Import nothing here, because the command line imports
`tokens` from this package.
"""
