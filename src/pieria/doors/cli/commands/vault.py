"""`pieria vault`: lasting memories as Markdown notes, and Markdown notes as memories."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.parser import Group
from pieria.doors.cli.run import REFUSED
from pieria.doors.cli.values import OneOf

if TYPE_CHECKING:
    from rich.console import RenderableType

DRY_RUN = click.option("--dry-run", is_flag=True, help="Show what would be done, and do nothing.")


@click.group(cls=Group)
def vault() -> None:
    """Sync memories with a folder of Markdown notes, such as an Obsidian vault.

    The setting vault names the folder: PIERIA_VAULT=~/notes. Each promoted memory gets a note there; notes that you
    write become memories.
    """


@vault.command()
@DRY_RUN
@click.option("--force", is_flag=True, help="Accept that all notes were deleted on purpose.")
@click.pass_context
def sync(ctx: click.Context, /, dry_run: bool, force: bool) -> None:
    """Sync notes and memories, in both directions.

    Handwritten notes are never changed. Exits with 1 if a note has a problem; the others are synced.
    """
    call: Call = ctx.obj
    with call.opened(reading=dry_run) as bank, call.progress("reading notes") as progress:
        synced = bank.vault.sync(dry_run=dry_run, force=force, progress=progress)

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.vault import synced as shown

        yield from shown(synced)

    call.reply(synced.as_dict(), people, [f"{event.what} {event.path}" for event in synced.events])
    if not synced.well:
        ctx.exit(REFUSED)


@vault.command()
@click.pass_obj
def status(call: Call, /) -> None:
    """Show the vault's folder, and what has changed there since the last sync."""
    with call.opened(reading=True) as bank:
        found = bank.vault.status()

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.vault import status as shown

        yield from shown(found)

    call.reply(found.as_dict(), people, [f"{number} {what}" for what, number in found.waiting.items()])


@vault.command()
@click.argument("ids", nargs=-1)
@click.option("--target", type=OneOf("obsidian", "markdown"), help="The style of links; obsidian by default.")
@DRY_RUN
@click.pass_obj
def promote(call: Call, /, ids: tuple[str, ...], target: str | None, dry_run: bool) -> None:
    """Promote memories and write a note for each: the given ones or, without IDS, all that were used enough."""
    with call.opened(reading=True) as bank:
        promoted = bank.vault.promote(ids or None, target=target or "obsidian", dry_run=dry_run)

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.vault import promoted as shown

        yield from shown(promoted)

    call.reply(promoted.as_dict(), people, [note.path for note in promoted.notes])
