"""The Model Context Protocol: toolsets as an MCP server, over stdio here and over HTTP in `http`.

`server` makes the server for any transport; the rest is for the process of `pieria mcp`. Import nothing here, so that
`initialize` is answered at once.
"""
