"""The Model Context Protocol: toolsets as an MCP server, over stdio here and over HTTP next door.

`server` makes the server for any transport; the rest is for the process that `pieria mcp` is. Nothing may be imported
here: what answers `initialize` must be there at once.
"""
