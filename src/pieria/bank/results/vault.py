"""What the verbs of the vault return."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from pieria.record.time import iso
from pieria.upkeep.promotion import Promotion


@dataclass(frozen=True, slots=True)
class Noted:
    """A promoted memory and its note.

    `what` is `written`, `there` for an existing note, or `by hand` for a handwritten source.
    """

    promotion: Promotion
    title: str
    path: str
    what: str

    @property
    def id(self) -> str:
        return self.promotion.memory.id

    def as_dict(self) -> dict[str, Any]:
        return {**self.promotion.as_dict(), "title": self.title, "path": self.path, "what": self.what}


@dataclass(frozen=True, slots=True)
class VaultPromoted:
    dry_run: bool
    target: str
    vault: Path
    notes: tuple[Noted, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {
            "dry_run": self.dry_run,
            "target": self.target,
            "vault": str(self.vault),
            "promoted": [note.as_dict() for note in self.notes],
        }


@dataclass(frozen=True, slots=True)
class VaultEvent:
    """What happened to one note, with a detail if needed."""

    path: str
    what: str
    id: str | None = None
    detail: str | None = None

    def as_dict(self) -> dict[str, Any]:
        return {"path": self.path, "what": self.what, "id": self.id, "detail": self.detail}


@dataclass(frozen=True, slots=True)
class BadNote:
    """A note with a problem. `taken` says whether its readable text is in the bank anyway."""

    path: str
    reason: str
    taken: bool = False

    def as_dict(self) -> dict[str, Any]:
        return {"path": self.path, "reason": self.reason, "taken": self.taken}

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}" + ("; its text is imported unchanged" if self.taken else "")


@dataclass(slots=True)
class Synced:
    """The result of a sync.

    Handwritten `notes` are counted as new, changed, moved, unchanged, vanished, back, purged, removed and refused.
    Notes of `memories` are counted as written, rewritten, unchanged, edited, conflict, moved, found, archived, deleted
    and kept.
    """

    vault: Path
    folder: str
    dry_run: bool
    notes: Counter[str] = field(default_factory=Counter)
    memories: Counter[str] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)
    """Ignored files, by reason."""
    tied: int = 0
    untied: int = 0
    events: list[VaultEvent] = field(default_factory=list)
    """All notes that were not unchanged."""
    problems: list[BadNote] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def well(self) -> bool:
        return not self.problems

    def as_dict(self) -> dict[str, Any]:
        return {
            "vault": str(self.vault),
            "folder": self.folder,
            "dry_run": self.dry_run,
            "notes": counted(self.notes),
            "memories": counted(self.memories),
            "left": counted(self.left),
            "tied": self.tied,
            "untied": self.untied,
            "events": [event.as_dict() for event in self.events],
            "problems": [problem.as_dict() for problem in self.problems],
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True, slots=True)
class VaultStatus:
    """The state of the vault. `waiting` counts the files for the next sync, judged by size and time."""

    vault: Path
    folder: str
    notes: int
    memories: int
    without_note: int
    """Promoted memories without a note."""
    waiting: Mapping[str, int]
    last_sync: datetime | None

    def as_dict(self) -> dict[str, Any]:
        return {
            "vault": str(self.vault),
            "folder": self.folder,
            "notes": self.notes,
            "memories": self.memories,
            "without_note": self.without_note,
            "waiting": dict(self.waiting),
            "last_sync": iso(self.last_sync) if self.last_sync else None,
        }


def counted(counts: Mapping[str, int]) -> dict[str, int]:
    return {what: number for what, number in sorted(counts.items()) if number}
