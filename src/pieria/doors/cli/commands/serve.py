"""`pieria mcp`: toolsets as an MCP server, over stdin and stdout."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from pieria.doors.cli.call import Call, replied
from pieria.doors.cli.console import Parts, line, row, table
from pieria.doors.cli.parser import Command, speaking
from pieria.doors.cli.run import REFUSED
from pieria.doors.cli.values import NUMBER, WHOLE, decoded
from pieria.doors.http.limits import A_SECOND
from pieria.errors import InputError
from pieria.record import check
from pieria.record.json_text import parsed

if TYPE_CHECKING:
    from pieria.toolsets import Registry, Tool

HOST, PORT = "127.0.0.1", 7411


def _toolsets(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the last name of a list separated by commas."""
    from pieria.toolsets import registry
    from pieria.toolsets.registry import ALL

    said, comma, begun = incomplete.rpartition(",")
    names = [name for name in (*registry().toolsets, ALL) if name.startswith(begun)]
    return [CompletionItem(f"{said}{comma}{name}") for name in names]


@click.command(cls=Command)
@click.option("--toolset", metavar="NAME[,NAME…]", shell_complete=_toolsets,
              help="The toolsets to serve, by name, or all. [default: pieria]")  # fmt: skip
@click.option("--tools", metavar="NAME[,NAME…]", help="Only these tools, of any toolset or of those named.")
@click.option("--read-only", is_flag=True, help="List and allow only tools that change nothing.")
@speaking
@click.pass_obj
def mcp(call: Call, /, toolset: str | None, tools: str | None, read_only: bool) -> None:
    """Serve tools to an agent over stdin and stdout, with the Model Context Protocol.

    An MCP client starts this command; docs/mcp.md shows how to configure one. It ends with the client. Without
    --session, a request may name the session; otherwise the process is the session. Logs go to stderr.
    """
    from pieria.doors.mcp.stdio import Asked, serve
    from pieria.record import check
    from pieria.record.banks import check_bank_name
    from pieria.toolsets import registry
    from pieria.toolsets.registry import ALL, OWN

    chosen = registry().only(toolset or (OWN if tools is None else ALL))
    chosen = chosen if tools is None else chosen.with_tools(tools)
    settings = {"bank": None if call.bank is None else check_bank_name(call.bank), **call.speaker}
    for name, given in call.speaker.items():
        check.name(given, name)
    if sys.stdin.isatty():
        call.note("waiting for an MCP client on stdin; Ctrl-C stops the server.")
    serve(chosen, Asked(call.data, settings, read_only), debug=call.debug)


def _tools(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from pieria.toolsets import registry

    return [CompletionItem(tool.name, help=tool.title) for _, tool in registry() if tool.name.startswith(incomplete)]


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
        people = show_tools(chosen) if tool is None else show_tool(chosen[0])
        call.reply(documents, people, [one.name for one in chosen])
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


def show_tools(tools: Iterable[Tool]) -> Parts:
    """Yield a line for each tool: its name, the access it needs, and its purpose."""
    made = table("tool", "access", "does", wide=("does",), wraps=True)
    for tool in tools:
        row(made, (tool.name, "bold"), tool.access.name, (tool.description, "dim"))
    yield made


def show_tool(tool: Tool) -> Parts:
    """Yield a tool with its parameters; required ones are marked."""
    yield line((tool.name, "bold"), (f"  {tool.access.name}", "dim"))
    yield line(tool.description)
    required = tool.input_schema.get("required", ())
    made = table("parameter", "type", "meaning", wide=("type", "meaning"), wraps=True)
    for name, schema in tool.parameters.items():
        row(made, (f"{name}{'*' if name in required else ''}", "bold"), _taken(schema), schema.get("description"))
    yield made if made.row_count else line("This tool takes no parameters.")
    if required:
        yield line(("* required", "dim"))


def _taken(schema: Mapping[str, Any]) -> str:
    from pieria.toolsets.validation import in_words

    default = f"; {json.dumps(schema['default'], ensure_ascii=False)} by default" if "default" in schema else ""
    return in_words(schema) + default


@click.command(cls=Command)
@click.option("--host", default=HOST, show_default=True, metavar="ADDRESS",
              help="The address to listen on. If other machines can reach it, callers need a token.")  # fmt: skip
@click.option("--port", type=WHOLE, default=PORT, show_default=True, metavar="N",
              help="The port; 0 picks a free one.")  # fmt: skip
@click.option("--allow-host", "allowed", multiple=True, metavar="NAME",
              help="Another host name to accept, such as a proxy's; may be repeated.")  # fmt: skip
@click.option("--rate", type=NUMBER, default=A_SECOND, show_default=True, metavar="N",
              help="Requests per second for each caller; 0 for no limit.")  # fmt: skip
@click.option("--open", "opens", is_flag=True,
              help="Open the page in a browser. If a server of this folder runs, open its page instead.")  # fmt: skip
@click.pass_obj
def serve(call: Call, /, host: str, port: int, allowed: tuple[str, ...], rate: float, opens: bool) -> None:
    """Serve all banks of a folder or database server over HTTP: a web page, tools, MCP, memories and events.

    `pieria ui` is `pieria serve --open`.

    On a local address, callers need a token only after the first `pieria token create`. Banks on a database server
    always need one. On Ctrl-C or SIGTERM, the server finishes the calls in progress and stops.
    """
    a_second = check.number(rate, "rate", 0.0, 1_000_000.0)
    from pieria.doors import serve_address

    with call.workspace() as workspace:
        running = serve_address.address(workspace.data)
        if running is not None and opens:
            people = ("already serving ", "green"), (str(workspace.place), "bold"), " at ", (running, "bold cyan")
            call.reply({"url": running, "data": str(workspace.place), "running": True}, [people], [running])
            _open_page(call, running)
            return
        from pieria.doors.http.log import log, written
        from pieria.doors.server import serve as serving

        def told(url: str, needs_token: bool) -> None:
            document: dict[str, Any] = {"url": url, "data": str(workspace.place), "needs_token": needs_token}
            who = "callers with a token" if needs_token else "everyone on this machine"
            people = (
                *(("serving ", "green"), (document["data"], "bold"), " at ", (url, "bold cyan")),
                (f" for {who}; open it in a browser, Ctrl-C stops it", "dim"),
            )
            call.reply(document, [people], [url])
            if running is not None:
                log.warning("another server of this folder runs at %s; `pieria` and `pieria ui` use that one", running)
            # The process that started the server waits for this line.
            sys.stdout.flush()
            if opens:
                # A browser that runs in the terminal would wait for the page, and the page for this thread.
                threading.Thread(target=_open_page, args=(call, url), daemon=True).start()

        with written(workspace.resolved.settings, debug=call.debug):
            serving(workspace, host, port, allowed=allowed, rate=a_second or None, told=told)


def _open_page(call: Call, url: str) -> None:
    """Open the page in the person's browser, if there is a screen for it."""
    import webbrowser

    if sys.platform != "darwin" and not any(map(os.environ.get, ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"))):
        call.note(f"there is no screen for a browser here; open {url} yourself")
    elif not webbrowser.open(url):
        call.note(f"no browser could be started; open {url} yourself")
