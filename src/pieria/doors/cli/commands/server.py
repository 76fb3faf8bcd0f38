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
              help="The address to serve on. One that others can reach needs a token.")  # fmt: skip
@click.option("--port", type=WHOLE, default=PORT, show_default=True, metavar="N",
              help="The port; 0 takes a free one.")  # fmt: skip
@click.option("--allow-host", "allowed", multiple=True, metavar="NAME",
              help="A further name under which it may be asked, such as a proxy's; may be repeated.")  # fmt: skip
@click.option("--rate", type=NUMBER, default=A_SECOND, show_default=True, metavar="N",
              help="Requests a second that one caller may make; 0 for any number.")  # fmt: skip
@click.pass_obj
def serve(call: Call, /, host: str, port: int, allowed: tuple[str, ...], rate: float) -> None:
    """Serve all banks of a folder or a server: a page for the browser; tools, MCP, memories and events over HTTP.

    On this machine alone nobody needs a token until you make one with `pieria token create`; banks on a server always
    need one. Ctrl-C, or a signal to terminate, ends it when the calls under way are done.
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

    who = "whoever has a token" if document["needs_token"] else "whoever is on this machine"
    yield line(("serving ", "green"), (document["data"], "bold"), (" at ", ""), (document["url"], "bold cyan"),
               (f" for {who}; open it in a browser, Ctrl-C ends it", "dim"))  # fmt: skip
