"""`pieria upkeep proposals`, `propose`, `accept` and `decline`: lessons from sessions, and the decision on each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.parser import Command
from pieria.record.lesson import STATES, TYPES

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pieria.bank.results.lessons import Decided

REASON = click.option("--reason", help="The reason, stored with the decision.")


@click.command(cls=Command)
@click.option("--state", "states", type=click.Choice(STATES), multiple=True, default=STATES[:1], show_default=True,
              help="Only this state; may be repeated.")  # fmt: skip
@click.option("--type", "types", type=click.Choice(TYPES), multiple=True, help="Only this type; may be repeated.")
@click.option("--limit", type=click.IntRange(1, 2_000), default=100, show_default=True, help="At most this many.")
@click.pass_obj
def proposals(call: Call, /, states: tuple[str, ...], types: tuple[str, ...], limit: int) -> None:
    """Show lessons that wait for a decision, with their evidence, highest confidence first."""
    with call.opened(reading=True) as bank:
        found = bank.upkeep.proposals(states, type=types or None, limit=limit)

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.lessons import proposals as shown

        yield from shown(found)

    call.reply(found.as_dict(), people, [each.id for each in found])


@click.command(cls=Command)
@click.option("--dry-run", is_flag=True, help="Show what would be proposed, and do nothing.")
@click.option("--of", "session", metavar="SESSION", help="Only lessons from this session.")
@click.pass_obj
def propose(call: Call, /, dry_run: bool, session: str | None) -> None:
    """Draw lessons from captured sessions now. This also happens in the background."""
    with call.opened(reading=True) as bank:
        learnt = bank.upkeep.propose(session, dry_run=dry_run)

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.lessons import learnt as shown

        yield from shown(learnt)

    call.reply(learnt.as_dict(), people, [each.id for each in learnt.proposals])


@click.command(cls=Command)
@click.argument("ids", nargs=-1, required=True)
@REASON
@click.pass_obj
def accept(call: Call, /, ids: tuple[str, ...], reason: str | None) -> None:
    """Accept proposals as normal memories: agents then get the rules, and find the procedures."""
    with call.opened(reading=True) as bank:
        _reply(call, bank.upkeep.accept(ids, reason=reason))


@click.command(cls=Command)
@click.argument("ids", nargs=-1, required=True)
@REASON
@click.pass_obj
def decline(call: Call, /, ids: tuple[str, ...], reason: str | None) -> None:
    """Decline proposals, or revoke accepted ones."""
    with call.opened(reading=True) as bank:
        _reply(call, bank.upkeep.decline(ids, reason=reason))


def _reply(call: Call, decided: Decided) -> None:
    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.lessons import decided as shown

        yield from shown(decided)

    call.reply(decided.as_dict(), people, [each.id for each in decided.proposals])
