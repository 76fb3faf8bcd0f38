"""The files of a vault and what a sync knows of them."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pieria.bank.results.vault import BadNote, Synced, VaultEvent
from pieria.vault.folder import Folder, Scan, Seen, digest_of
from pieria.vault.note_import import NOT_TEXT, decoded

if TYPE_CHECKING:
    from pieria.bank import Bank

SETTLED = 2_000_000_000
"""Nanoseconds after which another change of a file gets a different time on every file system."""


@dataclass(frozen=True, slots=True)
class File:
    """A note file. `text` is None if the file was not read because it is unchanged."""

    path: str
    seen: Seen
    digest: str
    text: str | None = None
    problem: str | None = None

    @property
    def unsettled(self) -> dict[str, bool]:
        """Mark a file changed so recently that another change could have the same time."""
        return {"unsettled": True} if time.time_ns() - self.seen.changed < SETTLED else {}


@dataclass(slots=True)
class Vaulted:
    """What the bank and the folder hold during a sync."""

    bank: Bank
    folder: Folder
    scan: Scan
    report: Synced
    marks: dict[str, dict[str, Any]]
    """Marks of the notes of memories, by id."""
    others: dict[str, dict[str, Any]]
    """Marks of all other notes, by path."""
    claims: dict[str, list[File]] = field(default_factory=dict)
    """Notes that name a memory in their front matter, by its id."""

    def read(self, path: str) -> File | None:
        """Return the file, or None if it has disappeared or cannot be read. A read error is reported."""
        seen = self.scan.notes[path]
        try:
            written = self.folder.read(path)
        except FileNotFoundError:
            del self.scan.notes[path]
            return None
        except OSError as problem:
            self.bad(path, f"it cannot be read ({problem.strerror or problem})")
            self.scan.unseen[path] = "unread"
            return None
        text, odd = decoded(written)
        return File(path, seen, digest_of(written), text, NOT_TEXT if text is None else odd)

    def tell(self, path: str, what: str, id: str | None = None, detail: str | None = None) -> None:
        self.report.events.append(VaultEvent(path, what, id, detail))

    def bad(self, path: str, reason: str, *, taken: bool = False) -> None:
        self.report.problems.append(BadNote(path, reason, taken))
