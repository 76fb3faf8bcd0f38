"""`python -m tests.doors.mcp.odd.serving DATA`: serves the odd tools over stdio, as `pieria mcp` would."""

import sys

from pieria.doors.mcp.stdio import Asked, serve
from pieria.toolsets import Registry
from pieria.toolsets.registry import toolset_in

if __name__ == "__main__":
    serve(Registry([toolset_in("tests.doors.mcp.odd")]), Asked(sys.argv[1], {"bank": "odd", "session": None}))
