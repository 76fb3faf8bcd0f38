"""What export, import, restore, copy, seal, the removal of a bank and the vault return."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from pieria.record.reply import Reply, told
from pieria.transfer.lines import Problem
from pieria.upkeep.promotion import Promotion


@dataclass(frozen=True, slots=True)
class ExportReport(Reply):
    """The result of an export. `counts` are lines by kind."""

    path: Path
    bank: str
    counts: Mapping[str, int]
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class ImportReport(Reply):
    """The result of an import. The counts are by memories, links, facts, usage, records and purged ids."""

    path: Path
    bank: str
    """The name of the exported bank."""
    mode: str
    dry_run: bool
    replayed: bool
    """Whether the bank was empty and is now the exported one, with its history."""
    added: Mapping[str, int]
    changed: Mapping[str, int]
    unchanged: Mapping[str, int]
    left: Mapping[str, Mapping[str, int]]
    """What was skipped, by reason."""
    versions: int
    not_carried: Mapping[str, int]
    """What the file holds but a bank with its own history cannot take over."""
    changes: tuple[int, int] | None
    """The first and last number of the import's changes in the journal, or None if nothing was written."""
    problem_count: int = 0
    problems: tuple[Problem, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class RestoreReport(Reply):
    """The result of a restore. `replaced` is the new path of the old bank; `seq` is the backup's last change.

    `unpurged` are ids that the old bank had purged and that exist again: purge them again. It is None if the old bank
    could not be read.
    """

    file: Path
    path: Path | str
    """The bank's file, or its location on a server."""
    bank: str
    replaced: Path | None
    bytes: int
    seq: int
    counts: Mapping[str, int]
    unpurged: tuple[str, ...] | None = ()


@dataclass(frozen=True, slots=True)
class RemovalReport(Reply):
    """What a removed bank held, and where its content may still be."""

    bank: str
    path: str | None
    """The bank's file, or its location on a server. None in a `placeless` report."""
    dry_run: bool
    seq: int
    """The number of its last change."""
    erased: Mapping[str, int]
    unreached: tuple[str, ...]

    def placeless(self) -> RemovalReport:
        return replace(self, path=None)

    def not_reaching(self, unreached: Iterable[str]) -> RemovalReport:
        return replace(self, unreached=(*self.unreached, *unreached))


@dataclass(frozen=True, slots=True)
class SealReport(Reply):
    """The result of sealing: whether the bank is sealed, its key's path, and whether the key is new.

    `unreached` lists places where text of the bank may still be unencrypted.
    """

    bank: str
    path: str
    sealed: bool
    key: str | None
    key_made: bool
    unreached: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CopyReport:
    """The result of a copy.

    `rows` counts copied rows by table; `sha256` is equal for both banks; `questions` were checked to find the same in
    both.
    """

    bank: str
    source: str
    name: str
    target: str
    seq: int
    rows: Mapping[str, int]
    sha256: Mapping[str, str]
    questions: int

    def as_dict(self) -> dict[str, Any]:
        return {
            "bank": self.bank,
            "from": self.source,
            "name": self.name,
            "to": self.target,
            "seq": self.seq,
            "rows": dict(self.rows),
            "sha256": dict(self.sha256),
            "questions": self.questions,
        }


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
class VaultEvent(Reply):
    """What happened to one note, with a detail if needed."""

    path: str
    what: str
    id: str | None = None
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class BadNote(Reply):
    """A note with a problem. `taken` says whether its readable text is in the bank anyway."""

    path: str
    reason: str
    taken: bool = False

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}" + ("; its text is imported unchanged" if self.taken else "")


@dataclass(slots=True)
class Synced:
    """The result of a sync.

    Handwritten `notes` are counted as new, changed, moved, unchanged, vanished, back, purged, removed, refused and
    adopted: by a memory that another system promoted.
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
    unread: int = 0
    """Changed notes that a look had no time for; a sync reads all."""

    @property
    def well(self) -> bool:
        return not self.problems

    def as_dict(self) -> dict[str, Any]:
        return {
            **told(self),
            "notes": counted(self.notes),
            "memories": counted(self.memories),
            "left": counted(self.left),
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True, slots=True)
class VaultStatus(Reply):
    """The state of the vault. `waiting` counts the files for the next sync, judged by size and time."""

    vault: Path
    folder: str
    notes: int
    memories: int
    without_note: int
    """Promoted memories without a note."""
    waiting: Mapping[str, int]
    last_sync: datetime | None


def counted(counts: Mapping[str, int]) -> dict[str, int]:
    return {what: number for what, number in sorted(counts.items()) if number}
