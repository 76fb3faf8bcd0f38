"""`pieria context`, also `pieria wake-up`: what an agent is told unasked, for a person, a program, or a host's hook."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import TYPE_CHECKING, Any

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.parser import Command
from pieria.doors.cli.values import NUMBER, TIME, WHOLE, OneOf, given

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pieria import Context

HOSTS = ("claude-code", "codex", "gemini", "generic")


@click.command(cls=Command)
@click.option("--query", metavar="TEXT", help="What it shall be about, such as a prompt.")
@click.option("--file", "--files", "files", metavar="PATH", multiple=True, help="A file that it shall be about.")
@click.option("--place", metavar="WING[/ROOM]", help="Only what is kept there; standing rules as ever.")
@click.option(
    "--budget", "budget_tokens", type=WHOLE, metavar="TOKENS", help="As many tokens at most; 2,000 otherwise."
)
@click.option("--session", metavar="ID", help="The session that it is for; as of its moment, where one is kept.")
@click.option("--keep", is_flag=True, help="Keep the moment for the session: it is told the same from now on.")
@click.option("--anew", is_flag=True, help="Do not look at the moment that is kept.")
@click.option("--known-at", type=TIME, help="As the bank knew it then.")
@click.option(
    "--hook", type=OneOf(*HOSTS), metavar="HOST", help="Be the hook of a host: claude-code, codex, gemini, or generic."
)
@click.option(
    "--within", type=NUMBER, metavar="SECONDS", help="With --hook: end after so long at the latest, with nothing said."
)
@click.option(
    "--fallback-data",
    metavar="FOLDER",
    help="With --hook: the folder of the banks where neither environment nor project names one.",
)
@click.pass_obj
def context(call: Call, /, hook: str | None, within: float | None, fallback_data: str | None, **values: Any) -> None:
    """Print what an agent is told unasked: standing rules, pins, open threads, an index, details.

    All of it stands behind a fence as data, within a budget of tokens. With --hook the host's payload is read from
    standard input, and what comes out is what that host puts before its model; whatever goes wrong then, the exit
    code is 0. Nothing is written but the moment of a session, where that is to be kept.
    """
    if hook is not None:
        from pieria.doors.cli.hooked import answer

        answer(call, hook, given(values), within, fallback_data)
        return
    if within is not None or fallback_data is not None:
        raise click.UsageError("--within and --fallback-data go with --hook", click.get_current_context())
    with call.opened(reading=True) as bank:
        told = bank.context(**given(values))
    call.reply(told.as_dict(), lambda: _shown(told), [item.id for item in told.items])


NOTHING = (
    "There is nothing to tell: nothing that bears on it is remembered. `pieria hooks install` has agents' work "
    "remembered, `pieria mine` brings in what is there."
)
NO_ROOM = "There is no room for what there is to tell: allow more with --budget."

wake_up = copy(context)
wake_up.name = "wake-up"


def _shown(told: Context) -> Iterator[RenderableType]:
    from pieria.doors.cli.shown.console import line, verbatim

    yield verbatim(told.text) if told.text else line(NO_ROOM if told.left_out else NOTHING)
