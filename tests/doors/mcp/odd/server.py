"""`python -m tests.doors.mcp.odd.server DATA`: serves the odd tools over stdio, as `pieria mcp` would."""

import sys

from tests.doors.mcp.odd import REGISTRY

from pieria.doors.mcp.stdio import Asked, serve

if __name__ == "__main__":
    serve(REGISTRY, Asked(sys.argv[1], {"bank": "odd", "session": None}))
