"""What the verbs answer with, where a memory alone does not say enough."""

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
    """Some memories in order; `cursor` continues after the last one, and is None when there is nothing more."""

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
    """A memory and what was said before and after it, each in the order of time."""

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
    """A session by what may be seen of it; `id` None is what was said outside of any."""

    id: str | None
    first: datetime
    last: datetime
    memories: int
    active: bool
    """Something was said in it lately."""

    def as_dict(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "first": iso(self.first),
            "last": iso(self.last),
            "memories": self.memories,
            "active": self.active,
        }


class Sessions(list[SessionSeen]):
    """Sessions, that which began last first; `cursor` continues, and is None when there is nothing more."""

    def __init__(self, sessions: Iterable[SessionSeen] = (), *, cursor: str | None = None) -> None:
        super().__init__(sessions)
        self.cursor = cursor

    def as_dict(self) -> dict[str, Any]:
        return {"sessions": [session.as_dict() for session in self], "cursor": self.cursor}


@dataclass(frozen=True, slots=True)
class Neighbor:
    """What a link leads to: a memory, or a place by its name."""

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
    """Neighbors, nearest first; `truncated` when there were more than were asked for."""

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
    """Memories under other ids that held the same words: revisions, and what was drawn from the purged ones."""
    erased: Mapping[str, int]
    unreached: tuple[str, ...]
    digest: str
    """Of all that goes, as it stood: a purge `as_told` erases that and nothing else."""

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
    """What came from a place and was forgotten, or with a dry run would be."""

    dry_run: bool
    ids: tuple[str, ...]
    also: tuple[str, ...]
    """What was drawn from these, and what named nothing else."""
    facts: tuple[str, ...]
    """Those that named the source, and no memory that goes."""
    digest: str
    """Of all that goes, as it stood: to forget it `as_told` takes that and nothing else."""
    seq: int | None = None
    """The change that `undo` takes back; None where there was none."""
    receipt: Receipt | None = None
    """Of a purge."""

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
    """What was taken in under a name is kept: which nodes it came to, and since when. `is_new`: by this very call."""

    source_id: str
    node_ids: tuple[str, ...]
    """As far as they were not erased since."""
    stored_at: datetime
    purged: tuple[str, ...] = ()
    """Those that were. Where all were, it is taken in no more, whatever its payload."""
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
    """Counts and sizes, and never a word of what is remembered."""

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
    """How many there are in each state."""
    sessions: Mapping[str, int]
    """How many go on, in each state."""
    models: Mapping[str, Any]
    """What models were asked, `today` and in `total`, a line for each step and model; and the day's `budgets`."""
    last_change: Mapping[str, Any] | None

    def placeless(self) -> Stats:
        """The same for whoever is not to know where banks are kept."""
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
    """Every check with its result, and every setting with where it came from."""

    findings: tuple[Finding, ...]
    settings: Mapping[str, tuple[Any, str]] = field(default_factory=dict)
    repaired: tuple[str, ...] = ()
    thorough: bool = True
    """Whether all of the bank was read for it."""
    folders: Mapping[str, str] = field(default_factory=dict)
    """Where this machine keeps things, and what is said in place of that to whoever is not to know."""

    def placeless(self) -> Diagnosis:
        """The same for whoever is not to know where banks are kept: settings have their origins alone."""
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
