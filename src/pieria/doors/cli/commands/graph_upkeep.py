"""`pieria upkeep graph`: keeps the knowledge graph in order."""

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
    """Maintain the graph of what sessions learned: facts, procedures, tags and their links.

    These commands archive, and never erase: `pieria list --status archived` shows the result, and `pieria undo`
    reverts it.
    """


@graph.command()
@DRY_RUN
@click.option("--threshold", type=click.FloatRange(0, 1), default=0.85, show_default=True,
              help="Merge facts that are more similar than this.")  # fmt: skip
@click.pass_obj
def consolidate(call: Call, /, dry_run: bool, threshold: float) -> None:
    """Merge facts that share a tag and say nearly the same: keep the best, archive the others."""
    with call.opened(reading=True) as bank, call.progress("consolidating") as report:
        done = bank.graph.consolidate(threshold, dry_run=dry_run, progress=report)
    _shown(call, done, "deleted_ids", dry_run, f"{done['deleted']:,} of {done['checked']:,} archived")


@graph.command()
@DRY_RUN
@click.option("--threshold", type=click.FloatRange(0, 1), default=0.1, show_default=True,
              help="Archive nodes of less value than this.")  # fmt: skip
@click.option("--type", "types", type=click.Choice(TYPES), multiple=True, default=TYPES[:2], show_default=True,
              help="The types of nodes to check; may be repeated.")  # fmt: skip
@click.pass_obj
def decay(call: Call, /, dry_run: bool, threshold: float, types: Sequence[str]) -> None:
    """Archive nodes of little value: old, unused, or with bad results."""
    with call.opened(reading=True) as bank, call.progress("archiving") as report:
        done = bank.graph.decay(threshold, types, dry_run=dry_run, progress=report)
    _shown(call, done, "deleted_ids", dry_run, f"{done['deleted']:,} archived, {done['checked']:,} checked")


@graph.command()
@DRY_RUN
@click.pass_obj
def validate(call: Call, /, dry_run: bool) -> None:
    """Lower the rewards of knowledge that has no sources or is far from them, and restore them when this is over."""
    with call.opened(reading=True) as bank, call.progress("validating") as report:
        done = bank.graph.validate(dry_run=dry_run, progress=report)
    told = f"{done['grounded']:,} grounded, {done['penalized']:,} weakly grounded, {done['orphaned']:,} without sources"
    _shown(call, done, None, dry_run, f"{told}; {done['changed']:,} rewards changed")


@graph.command()
@DRY_RUN
@click.pass_obj
def repair(call: Call, /, dry_run: bool) -> None:
    """Remove links to missing nodes, and archive tags and intents without links."""
    with call.opened(reading=True) as bank, call.progress("repairing") as report:
        done = bank.graph.repair(dry_run=dry_run, progress=report)
    told = f"{done['dangling_refs']:,} links removed, {done['orphans_deleted']:,} archived"
    _shown(call, done, "orphan_ids", dry_run, f"{told}, {done['checked']:,} checked")


def _shown(call: Call, done: dict[str, Any], ids: str | None, dry_run: bool, told: str) -> None:
    listed: list[str] = [] if ids is None else done[ids]

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.console import line

        for id in listed:
            yield line((id, "dim"))
        yield line("dry run, nothing was changed: " if dry_run else "", told)

    call.reply({"dry_run": dry_run, **done}, people, listed)
