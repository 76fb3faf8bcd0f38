"""`pieria get`, `list` and `count`: reading without a query."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.commands.filters import choosing
from pieria.doors.cli.parser import Command, speaking
from pieria.doors.cli.shown.words import age, stamp
from pieria.doors.cli.values import TIME, WHOLE, OneOf, given
from pieria.errors import NotFoundError
from pieria.record.ids import parse_reference
from pieria.record.time import iso, system_clock

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pieria import Bank, Memory

COUNTED = (
    "kind", "type", "place", "scope", "session", "channel", "author", "author_type", "source", "status", "tier",
    "tags", "entities", "files",
)  # fmt: skip


@click.command(cls=Command)
@click.argument("reference", metavar="ID[@VERSION]")
@click.option("--known-at", type=TIME, help="Show the version that the bank knew at this time.")
@click.option("--removed", is_flag=True, help="Show it even if it was removed.")
@speaking
@click.pass_obj
def get(call: Call, /, reference: str, known_at: Any, removed: bool) -> None:
    """Show the current version of a memory, or another one."""
    with call.opened(reading=True) as bank:
        memory = bank.get(reference, known_at=known_at, include_removed=removed)
        if memory is None:
            raise _missing(bank, reference, known_at)
        usage = bank.usage(memory.id)[memory.id]

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.memories import opened

        yield from opened(memory, usage)

    call.reply({**memory.as_dict(), "usage": usage.as_dict()}, people, [memory.id])


def _missing(bank: Bank, reference: str, known_at: Any) -> NotFoundError:
    """Return the error for a missing reference: it was removed, was not yet known, or never existed."""
    hidden = bank.get(reference, known_at=known_at, include_removed=True)
    if hidden is not None:
        return _removed(hidden, reference)
    id, version = parse_reference(reference)
    stretches = bank.history(reference if version is None else id)
    last = max(memory.version for memory in stretches)
    if version is not None and version > last:
        return NotFoundError("version", reference, hint=f"The last version of {id} is {last}.")
    return NotFoundError("memory", reference, hint=f"The bank has known it since {iso(stretches[0].known_from)}.")


def _removed(memory: Memory, reference: str) -> NotFoundError:
    hint = f"`pieria unforget {memory.id}` restores it; `pieria get --removed {reference}` shows it."
    told = NotFoundError("memory", reference, hint=hint)
    why = f", because: {memory.standing.reason}" if memory.standing.reason else ""
    when = f"{stamp(memory.known_from)} ({age(memory.known_from, system_clock())})"
    told.args = (f"memory {memory.id} was removed on {when}{why}",)
    return told


@click.command("list", cls=Command)
@click.option(
    "--order",
    type=OneOf("newest", "oldest", "changed", "important"),
    metavar="ORDER",
    help="What comes first: newest (the default), oldest, changed or important.",
)
@click.option("-n", "--limit", type=WHOLE, help="At most this many; 50 by default.")
@click.option("--cursor", help="Continue after an earlier list.")
@click.option("--jsonl", is_flag=True, help="Print one JSON object a line for each memory.")
@choosing
@click.pass_obj
def list_memories(call: Call, /, jsonl: bool, **values: Any) -> None:
    """List memories, newest first or in another order."""
    with call.opened(reading=True) as bank:
        page = bank.list(**given(values))
    if jsonl:
        call.lines(memory.as_dict() for memory in page)
        call.note_more(page.cursor)
        return

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.memories import listed

        yield from listed(page)

    call.reply(page.as_dict(), people, [memory.id for memory in page])


@click.command(cls=Command)
@click.option(
    "--by",
    type=OneOf(*COUNTED),
    metavar="NAME",
    help="Count by kind, type, place, scope, session, author, source, status, tier, tags, entities, files, …",
)
@choosing
@click.pass_obj
def count(call: Call, /, by: str | None, **values: Any) -> None:
    """Count memories: all of them, or by kind, tag and so on."""
    with call.opened(reading=True) as bank:
        found = bank.count(by=by, **given(values))
    if by is None:
        call.reply({"count": found}, lambda: _number(found), [str(found)])
        return

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.health import tallied

        yield from tallied(found)

    call.reply({"by": by, "counts": found}, people, map(str, found.values()))


def _number(of: int) -> Iterator[RenderableType]:
    from pieria.doors.cli.shown.console import line
    from pieria.doors.cli.shown.words import counted

    yield line(counted(of, "memory", "memories"))
