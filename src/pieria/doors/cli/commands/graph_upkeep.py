"""`pieria upkeep graph`: keeping what was learnt in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.parser import Group

if TYPE_CHECKING:
    from rich.console import RenderableType

DRY_RUN = click.option("--dry-run", is_flag=True, help="Show what would be done, and do nothing.")
TYPES = ("semantic", "procedural", "episodic")


@click.group(cls=Group)
def graph() -> None:
    """Keep what was learnt in order: facts, procedures, tags and what ties them.

    What is put away is archived; `pieria list --status archived` shows it, and `pieria undo` takes it back.
    """


@graph.command()
@DRY_RUN
@click.option("--threshold", type=click.FloatRange(0, 1), default=0.85, show_default=True,
              help="Facts that are more alike become one.")  # fmt: skip
@click.pass_obj
def consolidate(call: Call, /, dry_run: bool, threshold: float) -> None:
    """Have the best of the facts that share a tag and say nearly the same stand for all."""
    with call.opened(reading=True) as bank, call.progress("consolidating") as report:
        done = bank.graph.consolidate(threshold, dry_run=dry_run, progress=report)
    _shown(call, done, "deleted_ids", dry_run, f"{done['deleted']:,} of {done['checked']:,} put away")


@graph.command()
@DRY_RUN
@click.option("--threshold", type=click.FloatRange(0, 1), default=0.1, show_default=True,
              help="What is worth less by itself is put away.")  # fmt: skip
@click.option("--type", "types", type=click.Choice(TYPES), multiple=True, default=TYPES[:2], show_default=True,
              help="The types of nodes to go over; may be given several times.")  # fmt: skip
@click.pass_obj
def decay(call: Call, /, dry_run: bool, threshold: float, types: Sequence[str]) -> None:
    """Put away what is worth little by itself: old, not used, or of poor service."""
    with call.opened(reading=True) as bank, call.progress("putting away") as report:
        done = bank.graph.decay(threshold, types, dry_run=dry_run, progress=report)
    _shown(call, done, "deleted_ids", dry_run, f"{done['deleted']:,} put away, {done['checked']:,} gone over")


@graph.command()
@DRY_RUN
@click.pass_obj
def validate(call: Call, /, dry_run: bool) -> None:
    """Take of the rewards of knowledge that has no sources, or strays from them; give back where it has some again."""
    with call.opened(reading=True) as bank, call.progress("validating") as report:
        done = bank.graph.validate(dry_run=dry_run, progress=report)
    told = f"{done['grounded']:,} grounded, {done['penalized']:,} weakly, {done['orphaned']:,} not at all"
    _shown(call, done, None, dry_run, f"{told}; the rewards of {done['changed']:,} changed")


@graph.command()
@DRY_RUN
@click.pass_obj
def repair(call: Call, /, dry_run: bool) -> None:
    """Untie what is tied to what is not there, and put away tags and intents that nothing is tied to."""
    with call.opened(reading=True) as bank, call.progress("repairing") as report:
        done = bank.graph.repair(dry_run=dry_run, progress=report)
    told = f"{done['dangling_refs']:,} ties ended, {done['orphans_deleted']:,} put away"
    _shown(call, done, "orphan_ids", dry_run, f"{told}, {done['checked']:,} gone over")


def _shown(call: Call, done: dict[str, Any], ids: str | None, dry_run: bool, told: str) -> None:
    listed: list[str] = [] if ids is None else done[ids]

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.console import line

        for id in listed:
            yield line((id, "dim"))
        yield line("nothing is done yet: " if dry_run else "", told)

    call.reply({"dry_run": dry_run, **done}, people, listed)
