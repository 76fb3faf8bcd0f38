"""`pieria mcp`: toolsets as an MCP server, over stdin and stdout."""

from __future__ import annotations

import sys

import click
from click.shell_completion import CompletionItem

from pieria.doors.cli.call import Call
from pieria.doors.cli.parser import Command, speaking


def _toolsets(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the last name of a list separated by commas."""
    from pieria.toolsets import registry
    from pieria.toolsets.registry import ALL

    said, comma, begun = incomplete.rpartition(",")
    names = [name for name in (*registry().toolsets, ALL) if name.startswith(begun)]
    return [CompletionItem(f"{said}{comma}{name}") for name in names]


@click.command(cls=Command)
@click.option("--toolset", default="all", show_default=True, metavar="NAME[,NAME…]", shell_complete=_toolsets,
              help="The toolsets to serve, by name, or all.")  # fmt: skip
@click.option("--read-only", is_flag=True, help="List and allow only tools that change nothing.")
@speaking
@click.pass_obj
def mcp(call: Call, /, toolset: str, read_only: bool) -> None:
    """Serve tools to an agent over stdin and stdout, with the Model Context Protocol.

    An MCP client starts this command; docs/mcp.md shows how to configure one. It ends with the client. Without
    --session, a request may name the session; otherwise the process is the session. Logs go to stderr.
    """
    from pieria.doors.mcp.engine import Asked
    from pieria.doors.mcp.stdio import serve
    from pieria.record import check
    from pieria.record.banks import check_bank_name
    from pieria.toolsets import registry

    chosen = registry().only(toolset)
    settings = {"bank": None if call.bank is None else check_bank_name(call.bank), **call.speaker}
    for name, given in call.speaker.items():
        check.name(given, name)
    if sys.stdin.isatty():
        call.note("waiting for an MCP client on stdin; Ctrl-C stops the server.")
    serve(chosen, Asked(call.data, settings, read_only), debug=call.debug)
