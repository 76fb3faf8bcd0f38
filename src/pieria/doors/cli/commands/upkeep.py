"""`pieria upkeep`: the work that keeps a bank in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.commands.graph_upkeep import graph
from pieria.doors.cli.commands.lessons import accept, decline, proposals, propose
from pieria.doors.cli.parser import Group

if TYPE_CHECKING:
    from rich.console import RenderableType

STRATEGIES = ("similarity", "tags", "entities")
DRY_RUN = click.option("--dry-run", is_flag=True, help="Show what would be done, and do nothing.")


@click.group(cls=Group)
def upkeep() -> None:
    """Summarize, archive, merge and check memories.

    These commands never change original texts.
    """


for command in (graph, proposals, propose, accept, decline):
    upkeep.add_command(command)


@upkeep.command()
@DRY_RUN
@click.option("--force", is_flag=True, help="Also process memories that are less than a day old.")
@click.option("--limit", type=click.IntRange(min=1), default=5_000, show_default=True,
              help="Process at most this many memories; the next run continues.")  # fmt: skip
@click.pass_context
def sleep(ctx: click.Context, /, dry_run: bool, force: bool, limit: int) -> None:
    """Summarize memories that are a day old, settle proven ones, and shorten old summaries.

    A dry run shows the texts that would be written. Exits with 1 if a group failed, and with 4 if a budget was used up
    or a model was unreachable. The next run tries these groups again.
    """
    call: Call = ctx.obj
    with call.opened(reading=True) as bank, call.progress("sleeping") as report:
        slept = bank.upkeep.sleep(dry_run=dry_run, force=force, limit=limit, progress=report)

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.upkeep import slept as shown

        yield from shown(slept)

    call.reply(slept.as_dict(), people, [summary.id for summary in slept.summaries])
    if slept.stopped or slept.failed:
        ctx.exit(4 if slept.stopped else 1)


@upkeep.command()
@click.option("--dry-run/--no-dry-run", default=True, show_default=True, help="Only show what would be done.")
@click.option("--archive", is_flag=True, help="Archive memories instead of removing them.")
@click.option("--threshold", type=click.FloatRange(0, 1),
              help="Remove memories with less retention; by default the setting forget_threshold.")  # fmt: skip
@click.option("--limit", type=click.IntRange(min=1), help="At most this many, those with the least retention first.")
@click.pass_obj
def gc(call: Call, /, dry_run: bool, archive: bool, threshold: float | None, limit: int | None) -> None:
    """Remove faded memories. `pieria unforget` restores them."""
    with call.opened(reading=True) as bank, call.progress("collecting") as report:
        collected = bank.upkeep.gc(dry_run=dry_run, archive=archive, threshold=threshold, limit=limit, progress=report)

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.upkeep import collected as shown

        yield from shown(collected)

    call.reply(collected.as_dict(), people, [one.memory.id for one in collected.faded])


@upkeep.command()
@DRY_RUN
@click.option("--threshold", type=click.FloatRange(0, 1),
              help="Archive memories with less retention; by default twice the setting forget_threshold.")  # fmt: skip
@click.option("--limit", type=click.IntRange(min=1), help="At most this many, those with the least retention first.")
@click.pass_obj
def decay(call: Call, /, dry_run: bool, threshold: float | None, limit: int | None) -> None:
    """Archive memories that are about to fade. `--status archived` finds them."""
    with call.opened(reading=True) as bank, call.progress("archiving") as report:
        collected = bank.upkeep.decay(dry_run=dry_run, threshold=threshold, limit=limit, progress=report)

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.upkeep import collected as shown

        yield from shown(collected)

    call.reply(collected.as_dict(), people, [one.memory.id for one in collected.faded])


@upkeep.command()
@click.argument("ids", nargs=-1)
@DRY_RUN
@click.pass_obj
def promote(call: Call, /, ids: tuple[str, ...], dry_run: bool) -> None:
    """Promote memories to lasting ones: the given ones or, without IDS, all that were used enough."""
    with call.opened(reading=True) as bank:
        promoted = bank.upkeep.promote(ids or None, dry_run=dry_run)

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.upkeep import promoted as shown

        yield from shown(promoted)

    call.reply(promoted.as_dict(), people, [promotion.memory.id for promotion in promoted.promoted])


@upkeep.command()
@click.option("--by", type=click.Choice(STRATEGIES), default=STRATEGIES[0], show_default=True,
              help="What the members have in common.")  # fmt: skip
@click.option("--least", type=click.FloatRange(0, 1), help="The least similarity; by default the setting.")
@click.option("--most", type=click.IntRange(2, 1_000), help="The most members of a cluster; by default the setting.")
@click.pass_obj
def clusters(call: Call, /, by: str, least: float | None, most: int | None) -> None:
    """Show clusters of memories that say the same. `pieria upkeep merge` takes the id of a cluster."""
    with call.opened(reading=True) as bank:
        found = bank.upkeep.clusters(by=by, least=least, most=most, keep=True)

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.upkeep import clusters as shown

        yield from shown(found)

    call.reply(found.as_dict(), people, [cluster.id for cluster in found])


@upkeep.command()
@click.option("--least", type=click.FloatRange(0, 1), help="The least similarity; by default the setting.")
@click.option("--most", type=click.IntRange(1, 10_000), default=100, show_default=True, help="The most pairs to show.")
@click.pass_obj
def duplicates(call: Call, /, least: float | None, most: int) -> None:
    """Show pairs of memories that say nearly the same, most similar first."""
    with call.opened(reading=True) as bank:
        found = bank.upkeep.duplicates(least=least, most=most)

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.upkeep import duplicates as shown

        yield from shown(found)

    call.reply(found.as_dict(), people, [id for pair in found for id in (pair.one.id, pair.other.id)])


@upkeep.command()
@click.argument("ids", nargs=-1, required=True)
@click.option("--text", help="The text of the merged memory; by default the mind writes it.")
@DRY_RUN
@click.pass_obj
def merge(call: Call, /, ids: tuple[str, ...], text: str | None, dry_run: bool) -> None:
    """Merge memories into one, by their IDS or by the id of a cluster.

    The originals are archived, and the new memory links to them. `pieria undo` reverts the merge.
    """
    with call.opened(reading=True) as bank:
        members = bank.upkeep.members(ids[0]) if len(ids) == 1 else ids
        merged = bank.upkeep.merge(members, text=text, dry_run=dry_run)

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.upkeep import merged as shown

        yield from shown(merged)

    call.reply(merged.as_dict(), people, [merged.id])


@upkeep.command()
@click.pass_context
def validate(ctx: click.Context, /) -> None:
    """Check the store, the targets of links, and the sources of derived memories. Exits with 1 if a check fails."""
    call: Call = ctx.obj
    with call.opened(reading=True) as bank:
        validated = bank.upkeep.validate()

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.upkeep import validated as shown

        yield from shown(validated)

    call.reply(validated.as_dict(), people, [problem.id for problem in validated.problems])
    if not validated.ok:
        ctx.exit(1)


@upkeep.command()
@DRY_RUN
@click.pass_context
def repair(ctx: click.Context, /, dry_run: bool) -> None:
    """Remove broken links, archive derived memories without sources, and rebuild projections.

    Exits with 1 if a check still fails.
    """
    call: Call = ctx.obj
    with call.opened(reading=True) as bank:
        validated = bank.upkeep.repair(dry_run=dry_run)

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.upkeep import validated as shown

        yield from shown(validated)

    call.reply(validated.as_dict(), people, list(validated.repaired))
    if not validated.ok:
        ctx.exit(1)
