"""`pieria serve`: the banks of the data folder over HTTP, until it is stopped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.parser import Command
from pieria.doors.cli.values import NUMBER, WHOLE
from pieria.doors.http.limits import A_SECOND
from pieria.record import check

if TYPE_CHECKING:
    from rich.console import RenderableType

HOST, PORT = "127.0.0.1", 7411


@click.command(cls=Command)
@click.option("--host", default=HOST, show_default=True, metavar="ADDRESS",
              help="The address to listen on. If other machines can reach it, callers need a token.")  # fmt: skip
@click.option("--port", type=WHOLE, default=PORT, show_default=True, metavar="N",
              help="The port; 0 picks a free one.")  # fmt: skip
@click.option("--allow-host", "allowed", multiple=True, metavar="NAME",
              help="Another host name to accept, such as a proxy's; may be repeated.")  # fmt: skip
@click.option("--rate", type=NUMBER, default=A_SECOND, show_default=True, metavar="N",
              help="Requests per second for each caller; 0 for no limit.")  # fmt: skip
@click.pass_obj
def serve(call: Call, /, host: str, port: int, allowed: tuple[str, ...], rate: float) -> None:
    """Serve all banks of a folder or database server over HTTP: a web page, tools, MCP, memories and events.

    On a local address, callers need a token only after the first `pieria token create`. Banks on a database server
    always need one. On Ctrl-C or SIGTERM, the server finishes the calls in progress and stops.
    """
    a_second = check.number(rate, "rate", 0.0, 1_000_000.0)
    from pieria.doors.server import serve as serving

    with call.workspace() as workspace:

        def told(url: str, needs_token: bool) -> None:
            document = {"url": url, "data": str(workspace.place), "needs_token": needs_token}
            call.reply(document, lambda: _started(document), [url])
            _flush()

        serving(workspace, host, port, allowed=allowed, rate=a_second or None, told=told)


def _flush() -> None:
    """Flush stdout: the process that started the server waits for this line."""
    import sys

    sys.stdout.flush()


def _started(document: dict[str, Any]) -> Iterator[RenderableType]:
    from pieria.doors.cli.shown.console import line

    who = "callers with a token" if document["needs_token"] else "everyone on this machine"
    yield line(("serving ", "green"), (document["data"], "bold"), (" at ", ""), (document["url"], "bold cyan"),
               (f" for {who}; open it in a browser, Ctrl-C stops it", "dim"))  # fmt: skip
