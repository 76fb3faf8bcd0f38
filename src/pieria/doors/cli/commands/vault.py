"""`pieria vault`: memories that last as Markdown notes, and Markdown notes as memories."""

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
    """Share a folder of Markdown notes, such as an Obsidian vault.

    The setting vault names the folder: PIERIA_VAULT=~/notes. What is promoted gets a note there; notes that you write
    become memories.
    """


@vault.command()
@DRY_RUN
@click.option("--force", is_flag=True, help="Even if all notes are gone: they were meant to go.")
@click.pass_context
def sync(ctx: click.Context, /, dry_run: bool, force: bool) -> None:
    """Bring notes and memories to say the same.

    Notes that you wrote are never written to. Ends with exit code 1 where something is wrong with a note: all others
    are done.
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
    """Show where the vault is, and what has changed there since the last sync."""
    with call.opened(reading=True) as bank:
        found = bank.vault.status()

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.vault import status as shown

        yield from shown(found)

    call.reply(found.as_dict(), people, [f"{number} {what}" for what, number in found.waiting.items()])


@vault.command()
@click.argument("ids", nargs=-1)
@click.option("--target", type=OneOf("obsidian", "markdown"), help="How links are written; obsidian otherwise.")
@DRY_RUN
@click.pass_obj
def promote(call: Call, /, ids: tuple[str, ...], target: str | None, dry_run: bool) -> None:
    """Make memories lasting and write a note of each: those named or, without IDS, all that were used enough."""
    with call.opened(reading=True) as bank:
        promoted = bank.vault.promote(ids or None, target=target or "obsidian", dry_run=dry_run)

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.vault import promoted as shown

        yield from shown(promoted)

    call.reply(promoted.as_dict(), people, [note.path for note in promoted.notes])
