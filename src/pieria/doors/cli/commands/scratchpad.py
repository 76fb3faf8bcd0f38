"""`pieria scratchpad`: a session's notes to itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.parser import Group, speaking
from pieria.doors.cli.values import text_of
from pieria.record.time import system_clock

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pieria.bank.results.general import ScratchpadEntry


@click.group(cls=Group)
def scratchpad() -> None:
    """Keep working notes for a session. They are no memories: recall never finds them, and they stay until cleared.

    Each session has its own notes. Without --session, the command uses one shared scratchpad.
    """


@scratchpad.command()
@click.argument("text", nargs=-1)
@speaking
@click.pass_obj
def write(call: Call, /, text: tuple[str, ...]) -> None:
    """Write an entry, from the arguments or a pipe."""
    content = text_of(text, "the text")
    with call.opened() as bank:
        entry = bank.scratchpad.write(content)
    call.reply(entry.as_dict(), lambda: _said("written", entry.id), [entry.id])


@scratchpad.command()
@click.argument("id")
@click.argument("text", nargs=-1)
@speaking
@click.pass_obj
def update(call: Call, /, id: str, text: tuple[str, ...]) -> None:
    """Replace the text of an entry."""
    content = text_of(text, "the text")
    with call.opened() as bank:
        entry = bank.scratchpad.update(id, content)
    call.reply(entry.as_dict(), lambda: _said("updated", entry.id), [entry.id])


@scratchpad.command()
@speaking
@click.pass_obj
def read(call: Call, /) -> None:
    """Show the entries, newest first."""
    with call.opened(reading=True) as bank:
        entries = bank.scratchpad.read()
    document = {"entries": [entry.as_dict() for entry in entries]}
    call.reply(document, lambda: _read(entries), [entry.id for entry in entries])


@scratchpad.command()
@speaking
@click.pass_obj
def clear(call: Call, /) -> None:
    """Delete every entry of the session."""
    with call.opened() as bank:
        count = bank.scratchpad.clear()
    call.reply({"cleared": count}, lambda: _said("cleared", f"{count:,}"), [str(count)])


def _said(what: str, about: str) -> Iterator[RenderableType]:
    from pieria.doors.cli.shown.console import line

    yield line((f"{what} ", "green"), (about, "bold"))


def _read(entries: Iterable[ScratchpadEntry]) -> Iterator[RenderableType]:
    from pieria.doors.cli.shown.console import block, line
    from pieria.doors.cli.shown.words import day_and_age

    now = system_clock()
    none = True
    for entry in entries:
        none = False
        written = day_and_age(datetime.fromisoformat(entry.updated_at), now)
        yield line((f"{entry.id}  {written}", "dim"))
        yield block(entry.content)
    if none:
        yield line("The scratchpad is empty.")
