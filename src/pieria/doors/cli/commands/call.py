"""`pieria call`: runs any tool of any toolset, with the answer that an agent would get."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from pieria.doors.cli.call import Call
from pieria.doors.cli.parser import Command, speaking
from pieria.doors.cli.run import REFUSED
from pieria.doors.cli.tool_call import replied
from pieria.doors.cli.values import decoded
from pieria.errors import InputError
from pieria.record.json_text import parsed

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pieria.toolsets import Registry, Tool


def _tools(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from pieria.toolsets import registry

    return [
        CompletionItem(tool.name, help=tool.annotations["title"])
        for _, tool in registry()
        if tool.name.startswith(incomplete)
    ]


@click.command(name="call", cls=Command)
@click.argument("tool", required=False, shell_complete=_tools)
@click.argument("arguments", required=False)
@click.option("--list", "listed", is_flag=True, help="List all tools; with TOOL, show its parameters.")
@speaking
@click.pass_context
def call_tool(ctx: click.Context, /, tool: str | None, arguments: str | None, listed: bool) -> None:
    """Call one tool, as an agent would, and print its reply as JSON.

    ARGUMENTS is a JSON object, empty by default; - reads it from standard input. Exits with 1 if the tool returns an
    error.
    """
    from pieria.toolsets import registry

    call = ctx.ensure_object(Call)
    tools = registry()
    if listed:
        chosen = [one for _, one in tools] if tool is None else [tools.found(tool)[1]]
        documents = {"tools": [_as_dict(tools, one) for one in chosen]}
        call.reply(documents, lambda: _shown(chosen, tool is not None), [one.name for one in chosen])
    elif tool is None:
        raise click.UsageError("the TOOL is missing; `pieria call --list` shows all tools", ctx)
    else:
        reply = replied(call, tool, _read(arguments))
        call.print_json(reply.value)
        ctx.exit(REFUSED if reply.is_error else 0)


def _read(arguments: str | None) -> Any:
    """Return the parsed value, an object or not: the tool reports a wrong type together with its other violations."""
    if arguments is None:
        return {}
    written = decoded(sys.stdin.buffer.read(), "standard input") if arguments == "-" else arguments
    try:
        return parsed(written)
    except ValueError as problem:
        hint = f'{problem}. Quote it for the shell: \'{{"query": "tea"}}\'.'
        raise InputError("arguments", "a JSON object", written, hint=hint) from None


def _as_dict(tools: Registry, tool: Tool) -> dict[str, Any]:
    toolset, _ = tools.found(tool.name)
    return {
        "name": tool.name,
        "toolset": toolset.name,
        "access": tool.access.name,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "annotations": tool.annotations,
    }


def _shown(chosen: list[Tool], in_full: bool) -> Iterator[RenderableType]:
    from pieria.doors.cli.shown.tools import listed, told

    yield from told(chosen[0]) if in_full else listed(chosen)
