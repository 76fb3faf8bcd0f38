"""`pieria context`, also `pieria wake-up`: an agent's context at the start, for a person, a program, or a host's
hook.
"""

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
@click.option("--query", metavar="TEXT", help="Select memories on this topic, such as a prompt.")
@click.option(
    "--file", "--files", "files", metavar="PATH", multiple=True, help="Select memories on this file; may be repeated."
)
@click.option("--place", metavar="WING[/ROOM]", help="Only memories of this place; standing rules always appear.")
@click.option(
    "--budget", "budget_tokens", type=WHOLE, metavar="TOKENS", help="At most this many tokens; 2,000 by default."
)
@click.option(
    "--session", metavar="ID", help="The session that gets the context, as of its stored moment if --keep stored one."
)
@click.option("--keep", is_flag=True, help="Give this session the same context from now on.")
@click.option("--anew", is_flag=True, help="Ignore the stored moment of the session.")
@click.option("--known-at", type=TIME, help="Use what the bank knew at this time.")
@click.option(
    "--hook",
    type=OneOf(*HOSTS),
    metavar="HOST",
    help="Act as a hook of this host: claude-code, codex, gemini or generic.",
)
@click.option(
    "--within",
    type=NUMBER,
    metavar="SECONDS",
    help="With --hook: end after this time, without context if none is ready.",
)
@click.option(
    "--fallback-data",
    metavar="FOLDER",
    help="With --hook: the folder of the banks, if neither the environment nor the project sets one.",
)
@click.pass_obj
def context(call: Call, /, hook: str | None, within: float | None, fallback_data: str | None, **values: Any) -> None:
    """Print what an agent should know before it asks: rules, pinned memories, open threads, an index, details.

    The text is fenced as data and fits a budget of tokens. With --hook, the command reads the host's payload from
    standard input and prints the text for its model in the host's format. The exit code is then always 0. Only --keep
    writes to the bank.
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
    "There is no context yet: the bank holds no matching memories. `pieria hooks install` records agents' sessions, "
    "`pieria mine` imports files."
)
NO_ROOM = "The budget is too small for any memory: raise it with --budget."

wake_up = copy(context)
wake_up.name = "wake-up"


def _shown(told: Context) -> Iterator[RenderableType]:
    from pieria.doors.cli.shown.console import line, verbatim

    yield verbatim(told.text) if told.text else line(NO_ROOM if told.left_out else NOTHING)
