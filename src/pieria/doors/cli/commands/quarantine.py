"""`pieria trace` and `pieria quarantine`: find what a bad source has caused, and undo it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.parser import Command
from pieria.doors.cli.person import must_be_person
from pieria.doors.cli.values import TIME, WHOLE, given

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType


@click.command(cls=Command)
@click.argument("id", required=False)
@click.option("--source", metavar="SOURCE", help="A source: a file, an address, or an ingested experience.")
@click.option("--session", metavar="ID", help="A session: everything said or learned in it.")
@click.option("--limit", type=WHOLE, default=200, show_default=True, help="List at most this many.")
@click.pass_obj
def trace(call: Call, /, id: str | None, **values: Any) -> None:
    """Show everything derived from a memory, source or session, and the sessions that saw any of it.

    The list holds summaries, lessons, revisions, facts and vault notes, ended and quarantined ones included.
    """
    asked = given({"id": id, **values})
    if sum(name in asked for name in ("id", "source", "session")) != 1:
        raise click.UsageError("give an id, --source or --session", click.get_current_context())
    with call.opened(reading=True) as bank:
        found = bank.trace(**asked)

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.quarantine import traced

        yield from traced(found)

    call.reply(found.as_dict(), people, [item.id for item in found.items])


@click.command(cls=Command)
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--source", metavar="SOURCE", help="Everything from this source: a file, an address.")
@click.option("--session", metavar="ID", help="Everything said or learned in this session.")
@click.option("--author", metavar="NAME", help="Everything by this author.")
@click.option("--channel", metavar="NAME", help="Everything from this channel.")
@click.option("--via", metavar="WAY", help="Everything that came in this way, such as hearsay or outside.")
@click.option("--since", metavar="TIME", type=TIME, help="Only what was said at this time or later.")
@click.option("--until", metavar="TIME", type=TIME, help="Only what was said before this time.")
@click.option("--reason", help="The reason, which readers of these memories see.")
@click.option("--dry-run", is_flag=True, help="Only show what would be hidden.")
@click.option("--list", "listing", is_flag=True, help="List the quarantines in force.")
@click.option("--lift", metavar="NUMBER", type=WHOLE, help="End the quarantine with this number.")
@click.pass_obj
def quarantine(
    call: Call,
    /,
    ids: tuple[str, ...],
    reason: str | None,
    dry_run: bool,
    listing: bool,
    lift: Any,
    **values: Any,
) -> None:
    """Hide memories and everything derived from them, until the quarantine is lifted.

    A memory must match every option; IDs add further memories. No command that reads shows them, now or with
    --known-at. New memories that match join the quarantine. --lift restores exactly what was there.
    """
    selected = given(values)
    chosen = bool(selected or ids)
    if chosen + listing + (lift is not None) != 1:
        message = "give the memories to hide, or --list, or --lift NUMBER"
        raise click.UsageError(message, click.get_current_context())
    if not chosen and (reason is not None or dry_run):
        raise click.UsageError("--reason and --dry-run need memories to hide", click.get_current_context())
    if listing:
        _list(call)
    elif lift is not None:
        _lift(call, lift)
    else:
        _hide(call, {**selected, "ids": ids, "reason": reason, "dry_run": dry_run})


def _hide(call: Call, asked: dict[str, Any]) -> None:
    with call.opened(reading=True) as bank:
        done = bank.quarantine(**asked)

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.quarantine import hidden

        yield from hidden(done)

    call.reply(done.as_dict(), people, [] if done.number is None else [str(done.number)])


def _list(call: Call) -> None:
    with call.opened(reading=True) as bank:
        found = bank.quarantines()

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.quarantine import listed

        yield from listed(found)

    call.reply({"quarantines": [each.as_dict() for each in found]}, people, [str(each.number) for each in found])


def _lift(call: Call, number: Any) -> None:
    must_be_person()
    with call.opened(reading=True) as bank:
        done = bank.lift(number)

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.quarantine import lifted

        yield from lifted(done)

    call.reply(done.as_dict(), people, [str(done.seq)])
