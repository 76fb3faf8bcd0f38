"""`pieria history`, `changes` and `undo`: past changes, and their reversal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.parser import Command, speaking
from pieria.doors.cli.values import WHOLE, given

if TYPE_CHECKING:
    from rich.console import RenderableType

LAST = 20


@click.command(cls=Command)
@click.argument("id")
@click.option("--revisions", is_flag=True, help="Also show its earlier and later revisions.")
@click.option("--jsonl", is_flag=True, help="Print one JSON object a line for each entry.")
@speaking
@click.pass_obj
def history(call: Call, /, id: str, revisions: bool, jsonl: bool) -> None:
    """Show every version of a memory, and every change of its status, oldest first."""
    with call.opened(reading=True) as bank:
        stretches = bank.history(id, revisions=revisions)
    if jsonl:
        call.lines(memory.as_dict() for memory in stretches)
        return

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.memories import told

        yield from told(stretches)

    references = dict.fromkeys(memory.reference for memory in stretches)
    call.reply({"id": id, "history": [memory.as_dict() for memory in stretches]}, people, references)


@click.command(cls=Command)
@click.option("--since", metavar="SEQ", type=WHOLE, help="Only changes after this number.")
@click.option("--limit", type=WHOLE, help="At most this many, the first ones.")
@click.option("-n", "--last", type=WHOLE, help=f"At most this many, the last ones; {LAST} if no other option is given.")
@click.option("--jsonl", is_flag=True, help="Print one JSON object a line for each change.")
@click.pass_obj
def changes(call: Call, /, jsonl: bool, **values: Any) -> None:
    """Show the bank's journal of changes, oldest first: when, who, what, and the ids."""
    asked = given(values)
    with call.opened(reading=True) as bank:
        found = bank.changes(**(asked or {"last": LAST + 1}))
    if not asked and len(found) > LAST:
        found = found[1:]
        call.note(f"these are the last {LAST}: --last NUMBER shows more, --since 0 shows all")
    if jsonl:
        call.lines(change.as_dict() for change in found)
        return

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.health import happened

        yield from happened(found)

    call.reply({"changes": [change.as_dict() for change in found]}, people, [str(change.seq) for change in found])


@click.command(cls=Command)
@click.argument("seq", type=WHOLE)
@click.pass_obj
def undo(call: Call, /, seq: Any) -> None:
    """Undo the change with this number. `pieria changes` shows the numbers.

    Later changes that depend on it prevent this. Memories that the change added are removed, not erased. Purges cannot
    be undone.
    """
    with call.opened() as bank:
        change = bank.undo(seq)

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.console import line

        yield line(("undid ", "green"), (f"change {seq}", "bold"), (f"  as change {change.seq}", "dim"))

    call.reply(change.as_dict(), people, [str(change.seq)])
