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
    """Sum up, put away, settle, check.

    Nothing of it runs unasked, and nothing that was said is changed by it.
    """


for command in (graph, proposals, propose, accept, decline):
    upkeep.add_command(command)


@upkeep.command()
@DRY_RUN
@click.option("--force", is_flag=True, help="Go over what is not a day old as well.")
@click.option("--limit", type=click.IntRange(min=1), default=5_000, show_default=True,
              help="Memories to go over; what is left is due next time.")  # fmt: skip
@click.pass_context
def sleep(ctx: click.Context, /, dry_run: bool, force: bool, limit: int) -> None:
    """Sum up what has come to rest. A dry run shows the texts that would be written.

    Exits with 1 where some group failed, and with 4 where a budget was used up or a model was out of reach: all are
    due again.
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
@click.option("--archive", is_flag=True, help="Put away instead of removing.")
@click.option("--threshold", type=click.FloatRange(0, 1),
              help="What is retained of what goes; otherwise the setting forget_threshold.")  # fmt: skip
@click.option("--limit", type=click.IntRange(min=1), help="No more than so many, the least retained first.")
@click.pass_obj
def gc(call: Call, /, dry_run: bool, archive: bool, threshold: float | None, limit: int | None) -> None:
    """Remove what has faded. `pieria unforget` brings back what was removed."""
    with call.opened(reading=True) as bank, call.progress("collecting") as report:
        collected = bank.upkeep.gc(dry_run=dry_run, archive=archive, threshold=threshold, limit=limit, progress=report)

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.upkeep import collected as shown

        yield from shown(collected)

    call.reply(collected.as_dict(), people, [one.memory.id for one in collected.faded])


@upkeep.command()
@DRY_RUN
@click.option("--threshold", type=click.FloatRange(0, 1),
              help="What is retained of what is put away; otherwise twice the setting forget_threshold.")  # fmt: skip
@click.option("--limit", type=click.IntRange(min=1), help="No more than so many, the least retained first.")
@click.pass_obj
def decay(call: Call, /, dry_run: bool, threshold: float | None, limit: int | None) -> None:
    """Put away what is about to fade. It is found again with `--status archived`."""
    with call.opened(reading=True) as bank, call.progress("putting away") as report:
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
    """Make memories lasting: those named or, without IDS, all that were used enough."""
    with call.opened(reading=True) as bank:
        promoted = bank.upkeep.promote(ids or None, dry_run=dry_run)

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.upkeep import promoted as shown

        yield from shown(promoted)

    call.reply(promoted.as_dict(), people, [promotion.memory.id for promotion in promoted.promoted])


@upkeep.command()
@click.option("--by", type=click.Choice(STRATEGIES), default=STRATEGIES[0], show_default=True,
              help="What they have in common.")  # fmt: skip
@click.option("--least", type=click.FloatRange(0, 1), help="How alike they are; by default as set.")
@click.option("--most", type=click.IntRange(2, 1_000), help="Members of a cluster; by default as set.")
@click.pass_obj
def clusters(call: Call, /, by: str, least: float | None, most: int | None) -> None:
    """Show what says the same, and might be one memory. `pieria upkeep merge` takes the id of a cluster."""
    with call.opened(reading=True) as bank:
        found = bank.upkeep.clusters(by=by, least=least, most=most, keep=True)

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.upkeep import clusters as shown

        yield from shown(found)

    call.reply(found.as_dict(), people, [cluster.id for cluster in found])


@upkeep.command()
@click.option("--least", type=click.FloatRange(0, 1), help="How alike they are; by default as set.")
@click.option("--most", type=click.IntRange(1, 10_000), default=100, show_default=True, help="Pairs to show.")
@click.pass_obj
def duplicates(call: Call, /, least: float | None, most: int) -> None:
    """Show pairs of memories that say nearly the same, the most alike first."""
    with call.opened(reading=True) as bank:
        found = bank.upkeep.duplicates(least=least, most=most)

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.upkeep import duplicates as shown

        yield from shown(found)

    call.reply(found.as_dict(), people, [id for pair in found for id in (pair.one.id, pair.other.id)])


@upkeep.command()
@click.argument("ids", nargs=-1, required=True)
@click.option("--text", help="What the one memory says; otherwise the mind words it.")
@DRY_RUN
@click.pass_obj
def merge(call: Call, /, ids: tuple[str, ...], text: str | None, dry_run: bool) -> None:
    """Make one memory of several, by their IDS or that of a cluster.

    They are put away, and it leads to them; `pieria undo` takes it back.
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
    """Check the store, and whether what hangs together still does. Exits with 1 where something does not."""
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
    """Untie what leads nowhere, put away what has nothing to stand on, and make projections anew.

    Exits with 1 where something is still not well.
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
