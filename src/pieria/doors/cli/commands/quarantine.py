"""`pieria trace` and `pieria quarantine`: find the damage, and undo it."""

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
@click.option("--source", metavar="SOURCE", help="What came from there: a file, an address, a run taken in.")
@click.option("--session", metavar="ID", help="What was said or learnt in this session.")
@click.option("--limit", type=WHOLE, default=200, show_default=True, help="List at most so many.")
@click.pass_obj
def trace(call: Call, /, id: str | None, **values: Any) -> None:
    """Show what was drawn from a memory, a source or a session, and which sessions were told of it.

    It lists summaries, lessons, revisions, facts and notes of the vault, what ended and what is in quarantine as well.
    """
    asked = given({"id": id, **values})
    if sum(name in asked for name in ("id", "source", "session")) != 1:
        raise click.UsageError("name an id, --source or --session", click.get_current_context())
    with call.opened(reading=True) as bank:
        found = bank.trace(**asked)

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.quarantine import traced

        yield from traced(found)

    call.reply(found.as_dict(), people, [item.id for item in found.items])


@click.command(cls=Command)
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--source", metavar="SOURCE", help="Everything that came from there: a file, an address.")
@click.option("--session", metavar="ID", help="Everything that was said or learnt in this session.")
@click.option("--author", metavar="NAME", help="Everything that this author said.")
@click.option("--channel", metavar="NAME", help="Everything that came by this channel.")
@click.option("--via", metavar="WAY", help="Everything that came in this way, such as hearsay or outside.")
@click.option("--since", metavar="TIME", type=TIME, help="Only what was said then or later.")
@click.option("--until", metavar="TIME", type=TIME, help="Only what was said before.")
@click.option("--reason", help="Why; whoever asks for one of these memories is shown it.")
@click.option("--dry-run", is_flag=True, help="Say what would be hidden, no more.")
@click.option("--list", "listing", is_flag=True, help="Show the quarantines that last.")
@click.option("--lift", metavar="NUMBER", type=WHOLE, help="End the quarantine of this number.")
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
    """Hide memories and everything that was drawn from them, until the quarantine is lifted.

    What is selected must match every option; ids are taken besides. Nothing that reads shows it, now or with
    --known-at, and what comes in from there joins it. --lift brings back exactly what was there.
    """
    selected = given(values)
    chosen = bool(selected or ids)
    if chosen + listing + (lift is not None) != 1:
        message = "say what to hide, or --list, or --lift NUMBER"
        raise click.UsageError(message, click.get_current_context())
    if not chosen and (reason is not None or dry_run):
        raise click.UsageError("--reason and --dry-run go with what to hide", click.get_current_context())
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
