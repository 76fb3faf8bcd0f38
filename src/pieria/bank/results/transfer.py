"""What export, import, restore, copy, seal and the removal of a bank return."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pieria.transfer.problem import Problem


@dataclass(frozen=True, slots=True)
class ExportReport:
    """The result of an export. `counts` are lines by kind."""

    path: Path
    bank: str
    counts: Mapping[str, int]
    bytes: int
    sha256: str

    def as_dict(self) -> dict[str, Any]:
        return {
            "path": str(self.path),
            "bank": self.bank,
            "counts": dict(self.counts),
            "bytes": self.bytes,
            "sha256": self.sha256,
        }


@dataclass(frozen=True, slots=True)
class ImportReport:
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

    def as_dict(self) -> dict[str, Any]:
        return {
            "path": str(self.path),
            "bank": self.bank,
            "mode": self.mode,
            "dry_run": self.dry_run,
            "replayed": self.replayed,
            "added": dict(self.added),
            "changed": dict(self.changed),
            "unchanged": dict(self.unchanged),
            "left": {what: dict(why) for what, why in self.left.items()},
            "versions": self.versions,
            "not_carried": dict(self.not_carried),
            "changes": list(self.changes) if self.changes else None,
            "problem_count": self.problem_count,
            "problems": [problem.as_dict() for problem in self.problems],
        }


@dataclass(frozen=True, slots=True)
class RestoreReport:
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

    def as_dict(self) -> dict[str, Any]:
        return {
            "file": str(self.file),
            "path": str(self.path),
            "bank": self.bank,
            "replaced": str(self.replaced) if self.replaced else None,
            "bytes": self.bytes,
            "seq": self.seq,
            "counts": dict(self.counts),
            "unpurged": None if self.unpurged is None else list(self.unpurged),
        }


@dataclass(frozen=True, slots=True)
class RemovalReport:
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

    def as_dict(self) -> dict[str, Any]:
        return {
            "bank": self.bank,
            "path": self.path,
            "dry_run": self.dry_run,
            "seq": self.seq,
            "erased": dict(self.erased),
            "unreached": list(self.unreached),
        }


@dataclass(frozen=True, slots=True)
class SealReport:
    """The result of sealing: whether the bank is sealed, its key's path, and whether the key is new.

    `unreached` lists places where text of the bank may still be unencrypted.
    """

    bank: str
    path: str
    sealed: bool
    key: str | None
    key_made: bool
    unreached: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        return {
            "bank": self.bank,
            "path": self.path,
            "sealed": self.sealed,
            "key": self.key,
            "key_made": self.key_made,
            "unreached": list(self.unreached),
        }


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
