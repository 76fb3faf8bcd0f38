"""A trial of an MCP server: start it as a host would, remember one text, and recall it."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

PATIENCE = 60.0
"""Seconds for the whole trial. A machine may read the engine and the model for the first time."""
LAST_WORDS = 300


Outcome = tuple[Any, str | None]
"""The reply to the question, or else the reason why there is none."""


def try_out(command: str, args: Sequence[str], env: Mapping[str, str], text: str, question: str) -> Outcome:
    """Remember the text and ask the question, each by a call of the server's tools.

    As with a host, the server gets `env` and only a few variables of this process, such as HOME and PATH.
    """
    return anyio.run(_try_out, command, args, env, {"remember": {"text": text}, "recall": {"query": question}})


async def _try_out(
    command: str, args: Sequence[str], env: Mapping[str, str], calls: Mapping[str, dict[str, Any]]
) -> Outcome:
    said: Any = None
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as errors:
        server = StdioServerParameters(command=command, args=list(args), env=dict(env), cwd=folder)
        try:
            with anyio.fail_after(PATIENCE):
                async with Client(stdio_client(server, errlog=errors)) as client:
                    for tool, arguments in calls.items():
                        reply = await client.call_tool(tool, arguments)
                        said = reply.structured_content or {}
                        if reply.is_error:
                            return None, f"{tool}: {said.get('error', said)}"
        except TimeoutError:
            return None, f"no answer within {PATIENCE:.0f} seconds{_last_line(errors)}"
        except Exception as problem:  # noqa: BLE001 - the client passes on any error of its streams
            reason = _innermost(problem)
            return None, f"{str(reason) or type(reason).__name__}{_last_line(errors)}"
    return said, None


def _innermost(problem: BaseException) -> BaseException:
    while isinstance(problem, BaseExceptionGroup):
        problem = problem.exceptions[0]
    return problem


def _last_line(errors: Any) -> str:
    """Return the last line that the server wrote on stderr, in brackets."""
    errors.seek(0)
    lines = [line.strip() for line in errors.read().splitlines() if line.strip()]
    return f" ({lines[-1][-LAST_WORDS:]})" if lines else ""
