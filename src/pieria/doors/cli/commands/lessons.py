"""`pieria upkeep proposals`, `propose`, `accept` and `decline`: what sessions taught, and who decides on it."""

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

REASON = click.option("--reason", help="Why; kept with it.")


@click.command(cls=Command)
@click.option("--state", "states", type=click.Choice(STATES), multiple=True, default=STATES[:1], show_default=True,
              help="May be given several times.")  # fmt: skip
@click.option("--type", "types", type=click.Choice(TYPES), multiple=True, help="Only of this type.")
@click.option("--limit", type=click.IntRange(1, 2_000), default=100, show_default=True, help="How many at most.")
@click.pass_obj
def proposals(call: Call, /, states: tuple[str, ...], types: tuple[str, ...], limit: int) -> None:
    """Show what sessions taught and waits for a decision, with what it rests on, the surest first."""
    with call.opened(reading=True) as bank:
        found = bank.upkeep.proposals(states, type=types or None, limit=limit)

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.lessons import proposals as shown

        yield from shown(found)

    call.reply(found.as_dict(), people, [each.id for each in found])


@click.command(cls=Command)
@click.option("--dry-run", is_flag=True, help="Show what would be proposed, and do nothing.")
@click.option("--of", "session", metavar="SESSION", help="Only what this session teaches.")
@click.pass_obj
def propose(call: Call, /, dry_run: bool, session: str | None) -> None:
    """Draw at once what is to be learnt from what agents' hooks captured. It is done by itself as well."""
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
    """Make proposals memories like any other: agents are told of rules, and find procedures."""
    with call.opened(reading=True) as bank:
        _reply(call, bank.upkeep.accept(ids, reason=reason))


@click.command(cls=Command)
@click.argument("ids", nargs=-1, required=True)
@REASON
@click.pass_obj
def decline(call: Call, /, ids: tuple[str, ...], reason: str | None) -> None:
    """Put proposals aside, or take back what was accepted."""
    with call.opened(reading=True) as bank:
        _reply(call, bank.upkeep.decline(ids, reason=reason))


def _reply(call: Call, decided: Decided) -> None:
    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.lessons import decided as shown

        yield from shown(decided)

    call.reply(decided.as_dict(), people, [each.id for each in decided.proposals])
