"""Results of a vault's notes, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from pieria.doors.cli.shown.console import line, pairs, row, table
from pieria.record.time import iso

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pieria.bank.results.transfer import Synced, VaultPromoted, VaultStatus

SHOWN = 40
"""Most notes and problems that are listed one by one."""


def synced(done: Synced) -> Iterator[RenderableType]:
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


def status(found: VaultStatus) -> Iterator[RenderableType]:
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


def promoted(done: VaultPromoted) -> Iterator[RenderableType]:
    how = "would promote" if done.dry_run else "promoted"
    yield line((f"{how} {len(done.notes):,}", "green"), (f"  into {done.vault}", "dim"))
    if done.notes:
        shown = table("id", "note", "what", "why", wide=("note",))
        for note in done.notes[:SHOWN]:
            row(shown, note.id, note.path, note.what, note.promotion.why)
        yield shown
        yield from _more(len(done.notes))


def _more(number: int) -> Iterator[RenderableType]:
    if number > SHOWN:
        yield line((f"and {number - SHOWN:,} more; --json shows all", "dim"))


def _tally(counts: Mapping[str, int]) -> str:
    return "  ".join(f"{number:,} {what}" for what, number in counts.items() if number)
