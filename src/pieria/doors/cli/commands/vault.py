"""`pieria vault`: lasting memories as Markdown notes, and Markdown notes as memories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.console import Parts, line, pairs, row, table
from pieria.doors.cli.parser import Group
from pieria.doors.cli.run import REFUSED
from pieria.doors.cli.values import OneOf
from pieria.record.time import iso

if TYPE_CHECKING:
    from pieria.bank.results.transfer import Synced, VaultPromoted, VaultStatus


DRY_RUN = click.option("--dry-run", is_flag=True, help="Show what would be done, and do nothing.")
SHOWN = 40
"""Most notes and problems that are listed one by one."""


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
    call.reply(synced.as_dict(), show_synced(synced), [f"{event.what} {event.path}" for event in synced.events])
    if not synced.well:
        ctx.exit(REFUSED)


@vault.command()
@click.pass_obj
def status(call: Call, /) -> None:
    """Show the vault's folder, and what has changed there since the last sync."""
    with call.opened(reading=True) as bank:
        found = bank.vault.status()
    call.reply(found.as_dict(), show_vault(found), [f"{number} {what}" for what, number in found.waiting.items()])


@vault.command()
@click.argument("ids", nargs=-1)
@click.option("--target", type=OneOf("obsidian", "markdown"), help="The style of links; obsidian by default.")
@DRY_RUN
@click.pass_obj
def promote(call: Call, /, ids: tuple[str, ...], target: str | None, dry_run: bool) -> None:
    """Promote memories and write a note for each: the given ones or, without IDS, all that were used enough."""
    with call.opened(reading=True) as bank:
        promoted = bank.vault.promote(ids or None, target=target or "obsidian", dry_run=dry_run)
    call.reply(promoted.as_dict(), show_notes(promoted), [note.path for note in promoted.notes])


def show_synced(done: Synced) -> Parts:
    yield line(("would sync " if done.dry_run else "synced ", "green"), (str(done.vault), "bold"))
    yield pairs(
        [
            ("notes by hand", _tally(done.notes)),
            ("notes of memories", _tally(done.memories)),
            ("links", _tally({"added": done.tied, "removed": done.untied})),
            ("left out", _tally(done.left)),
            ("took", f"{done.seconds:,.1f} s"),
        ]
    )
    if done.events:
        shown = table("note", "what", "why", wide=("note",))
        for event in done.events[:SHOWN]:
            row(shown, event.path, event.what, event.detail)
        yield shown
        yield from _more(len(done.events))
    for problem in done.problems[:SHOWN]:
        yield line(("note ", "red"), str(problem))
    yield from _more(len(done.problems))


def show_vault(found: VaultStatus) -> Parts:
    yield line("vault ", (str(found.vault), "bold"))
    yield pairs(
        [
            ("notes of memories", f"{found.memories:,} in or from {found.folder}"),
            ("without a note", f"{found.without_note:,} promoted memories" if found.without_note else None),
            ("notes by hand", f"{found.notes:,}"),
            ("since the last sync", _tally(found.waiting) or "nothing"),
            ("last sync", iso(found.last_sync) if found.last_sync else "none yet"),
        ]
    )


def show_notes(done: VaultPromoted) -> Parts:
    how = "would promote" if done.dry_run else "promoted"
    yield line((f"{how} {len(done.notes):,}", "green"), (f"  into {done.vault}", "dim"))
    if done.notes:
        shown = table("id", "note", "what", "why", wide=("note",))
        for note in done.notes[:SHOWN]:
            row(shown, note.id, note.path, note.what, note.promotion.why)
        yield shown
        yield from _more(len(done.notes))


def _more(number: int) -> Parts:
    if number > SHOWN:
        yield line((f"and {number - SHOWN:,} more; --json shows all", "dim"))


def _tally(counts: Mapping[str, int]) -> str:
    return "  ".join(f"{number:,} {what}" for what, number in counts.items() if number)
