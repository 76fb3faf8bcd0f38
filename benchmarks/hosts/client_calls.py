"""Call an MCP server by a Python client, and print what came as JSON: `python client_calls.py CLIENT STEP SERVER`.

CLIENT is `official` or `fastmcp`, and SERVER is an address or a command as JSON. It imports nothing of Pieria, so that
the Python of any environment runs it.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import anyio

PATIENCE = 240.0


async def remember(client: Any, keyword: str, text: str) -> dict[str, Any]:
    tools = await client.list_tools()
    reply = await client.call_tool("remember", {"text": text})
    return {"tools": len(getattr(tools, "tools", tools)), "id": reply.structured_content["id"]}


async def recall(client: Any, keyword: str, query: str) -> dict[str, Any]:
    reply = await client.call_tool("recall", {"query": query})
    return {"texts": [memory["text"] for memory in reply.structured_content["memories"]]}


async def progress(client: Any, keyword: str, file: str) -> dict[str, Any]:
    notices: list[float] = []

    async def notice(done: float, whole: float | None, message: str | None) -> None:
        notices.append(done)

    reply = await client.call_tool("mnemosyne_import", {"input_path": file}, **{keyword: notice})
    return {"notices": len(notices), "rising": notices == sorted(notices), "status": reply.structured_content["status"]}


async def cancel(client: Any, keyword: str, file: str) -> dict[str, Any]:
    """Cancel at the first notice, and call again in the same session."""
    with anyio.CancelScope() as scope:

        async def notice(done: float, whole: float | None, message: str | None) -> None:
            scope.cancel()

        await client.call_tool("mnemosyne_import", {"input_path": file}, **{keyword: notice})
    reply = await client.call_tool("mnemosyne_get_stats", {})
    memories = reply.structured_content["stats"]["total_memories"]
    return {"cancelled": scope.cancelled_caught, "memories": memories}


def client_of(name: str, server: Any) -> tuple[Any, str]:
    """Return a client, and the name of its parameter for progress."""
    if name == "fastmcp":
        from fastmcp import Client  # type: ignore[import-not-found]
        from fastmcp.client.transports import StdioTransport  # type: ignore[import-not-found]

        there = server if isinstance(server, str) else StdioTransport(server[0], server[1:], env=dict(os.environ))
        return Client(there), "progress_handler"
    from mcp import Client, StdioServerParameters

    if not isinstance(server, str):
        server = StdioServerParameters(command=server[0], args=server[1:], env=dict(os.environ))
    return Client(server), "progress_callback"


STEPS = {step.__name__: step for step in (remember, recall, progress, cancel)}


async def main(*arguments: str) -> None:
    name, step, server, given = arguments
    client, keyword = client_of(name, json.loads(server))
    with anyio.fail_after(PATIENCE):
        async with client:
            result = await STEPS[step](client, keyword, given)
    sys.stdout.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    anyio.run(main, *sys.argv[1:])
