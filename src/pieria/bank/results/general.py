"""What verbs return beyond a memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from pieria.record.link import Link
from pieria.record.memory import Memory
from pieria.record.time import iso
from pieria.store.protocol import WHERE, Finding


@dataclass(frozen=True, slots=True)
class Page(Sequence[Memory]):
    """Memories in order. `cursor` continues after the last one, and is None at the end."""

    memories: tuple[Memory, ...]
    cursor: str | None = None

    def __len__(self) -> int:
        return len(self.memories)

    def __getitem__(self, index: Any) -> Any:
        return self.memories[index]

    def __iter__(self) -> Iterator[Memory]:
        return iter(self.memories)

    def as_dict(self) -> dict[str, Any]:
        return {"memories": [memory.as_dict() for memory in self.memories], "cursor": self.cursor}


@dataclass(frozen=True, slots=True)
class Around:
    """A memory, and what was said before and after it, in order of time."""

    before: tuple[Memory, ...]
    memory: Memory
    after: tuple[Memory, ...]

    def as_dict(self) -> dict[str, Any]:
        return {
            "before": [memory.as_dict() for memory in self.before],
            "memory": self.memory.as_dict(),
            "after": [memory.as_dict() for memory in self.after],
        }


@dataclass(frozen=True, slots=True)
class SessionSeen:
    """A session with its visible memories. `id` is None for memories outside any session."""

    id: str | None
    first: datetime
    last: datetime
    memories: int
    active: bool
    """Whether something was said in it lately."""

    def as_dict(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "first": iso(self.first),
            "last": iso(self.last),
            "memories": self.memories,
            "active": self.active,
        }


class Sessions(list[SessionSeen]):
    """Sessions, latest beginning first. `cursor` continues after the last one, and is None at the end."""

    def __init__(self, sessions: Iterable[SessionSeen] = (), *, cursor: str | None = None) -> None:
        super().__init__(sessions)
        self.cursor = cursor

    def as_dict(self) -> dict[str, Any]:
        return {"sessions": [session.as_dict() for session in self], "cursor": self.cursor}


@dataclass(frozen=True, slots=True)
class Neighbor:
    """The target of a link: a memory, or a place by name."""

    link: Link
    hops: int
    memory: Memory | None = None
    place: str | None = None

    def as_dict(self) -> dict[str, Any]:
        return {
            "hops": self.hops,
            "link": self.link.as_dict(),
            "memory": self.memory.as_dict() if self.memory else None,
            "place": self.place,
        }


class Neighborhood(list[Neighbor]):
    """Neighbors, nearest first. `truncated` says that there are more."""

    def __init__(self, neighbors: Iterable[Neighbor] = (), *, truncated: bool = False) -> None:
        super().__init__(neighbors)
        self.truncated = truncated

    def as_dict(self) -> dict[str, Any]:
        return {"neighbors": [neighbor.as_dict() for neighbor in self], "truncated": self.truncated}


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a purge erased, and what it could not reach."""

    ids: tuple[str, ...]
    also: tuple[str, ...]
    """Memories under other ids with the same words: revisions, and memories derived from the purged ones."""
    erased: Mapping[str, int]
    unreached: tuple[str, ...]
    digest: str
    """Identifies everything to be erased in its current state: a purge with `as_told` erases exactly that."""

    def as_dict(self) -> dict[str, Any]:
        return {
            "ids": list(self.ids),
            "also": list(self.also),
            "erased": dict(self.erased),
            "unreached": list(self.unreached),
            "digest": self.digest,
        }


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What came from a source or session and was forgotten, or with a dry run would be."""

    dry_run: bool
    ids: tuple[str, ...]
    also: tuple[str, ...]
    """Memories derived from `ids`, and names that nothing else uses."""
    facts: tuple[str, ...]
    """Facts that named the source without a memory among the forgotten ones."""
    digest: str
    """Identifies everything to be forgotten in its current state, for `as_told`."""
    seq: int | None = None
    """The number of the change, for `undo`; None if there was none."""
    receipt: Receipt | None = None
    """Only of a purge."""

    def as_dict(self) -> dict[str, Any]:
        return {
            "dry_run": self.dry_run,
            "ids": list(self.ids),
            "also": list(self.also),
            "facts": list(self.facts),
            "digest": self.digest,
            "seq": self.seq,
            "receipt": self.receipt and self.receipt.as_dict(),
        }


@dataclass(frozen=True, slots=True)
class IngestReceipt:
    """The nodes made from an ingested experience, and its time. `is_new`: this call ingested it."""

    source_id: str
    node_ids: tuple[str, ...]
    """Without the purged ones."""
    stored_at: datetime
    purged: tuple[str, ...] = ()
    """If all nodes were purged, the experience is not ingested again, even with another payload."""
    is_new: bool = field(default=True, compare=False)

    def as_dict(self) -> dict[str, Any]:
        return {
            "source_id": self.source_id,
            "node_ids": list(self.node_ids),
            "stored_at": iso(self.stored_at),
            "purged": list(self.purged),
        }


@dataclass(frozen=True, slots=True)
class ScratchpadEntry:
    id: str
    content: str
    created_at: str
    updated_at: str

    def as_dict(self) -> dict[str, str]:
        return {
            "id": self.id,
            "content": self.content,
            "created_at": self.created_at,
            "updated_at": self.updated_at,
        }


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts and sizes; no remembered text."""

    bank: str
    counts: Mapping[str, int]
    by_kind: Mapping[str, int]
    by_status: Mapping[str, int]
    by_tier: Mapping[str, int]
    by_scope: Mapping[str, int]
    facts: Mapping[str, Any]
    store: Mapping[str, Any]
    pending: Mapping[str, int]
    jobs: Mapping[str, int]
    """The number of jobs in each state."""
    sessions: Mapping[str, int]
    """The number of unfinished sessions in each state."""
    models: Mapping[str, Any]
    """Model calls `today` and in `total`, by step and model; and the day's `budgets`."""
    last_change: Mapping[str, Any] | None

    def placeless(self) -> Stats:
        """Return the statistics without paths of the store."""
        return replace(self, store={name: value for name, value in self.store.items() if name not in WHERE})

    def as_dict(self) -> dict[str, Any]:
        return {
            "bank": self.bank,
            "counts": dict(self.counts),
            "by_kind": dict(self.by_kind),
            "by_status": dict(self.by_status),
            "by_tier": dict(self.by_tier),
            "by_scope": dict(self.by_scope),
            "facts": dict(self.facts),
            "store": dict(self.store),
            "pending": dict(self.pending),
            "jobs": dict(self.jobs),
            "sessions": dict(self.sessions),
            "models": dict(self.models),
            "last_change": dict(self.last_change) if self.last_change else None,
        }


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Every check with its result, and every setting with its origin."""

    findings: tuple[Finding, ...]
    settings: Mapping[str, tuple[Any, str]] = field(default_factory=dict)
    repaired: tuple[str, ...] = ()
    thorough: bool = True
    """Whether the whole bank was read."""
    folders: Mapping[str, str] = field(default_factory=dict)
    """Folders of this machine, and the short names that replace them in `placeless`."""

    def placeless(self) -> Diagnosis:
        """Return the diagnosis without paths; of settings only the origins."""
        said = self._without_folders
        findings = tuple(
            replace(each, detail=said(each.detail), remedy=each.remedy and said(each.remedy)) for each in self.findings
        )
        settings = {name: (None, origin) for name, (_, origin) in self.settings.items()}
        return replace(self, findings=findings, settings=settings)

    def _without_folders(self, text: str) -> str:
        for folder, spoken in self.folders.items():
            text = text.replace(folder, spoken)
        return text

    @property
    def well(self) -> bool:
        return all(finding.well for finding in self.findings)

    def as_dict(self) -> dict[str, Any]:
        return {
            "well": self.well,
            "findings": [
                {"check": f.check, "well": f.well, "detail": f.detail, "remedy": f.remedy} for f in self.findings
            ],
            "settings": {name: {"value": value, "from": origin} for name, (value, origin) in self.settings.items()},
            "repaired": list(self.repaired),
            "thorough": self.thorough,
        }
