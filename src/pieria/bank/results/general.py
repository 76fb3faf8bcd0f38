"""What verbs return beyond a memory, lineages and quarantines included."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from pieria.record.link import Link
from pieria.record.memory import Memory
from pieria.record.reply import Listed, Reply
from pieria.record.time import iso
from pieria.store.protocol import WHERE, Finding


@dataclass(frozen=True, slots=True)
class Page(Listed[Memory]):
    """Memories in order. `cursor` continues after the last one, and is None at the end."""

    memories: tuple[Memory, ...]
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class Around(Reply):
    """A memory, and what was said before and after it, in order of time."""

    before: tuple[Memory, ...]
    memory: Memory
    after: tuple[Memory, ...]


@dataclass(frozen=True, slots=True)
class SessionSeen(Reply):
    """A session with its visible memories. `id` is None for memories outside any session."""

    id: str | None
    first: datetime
    last: datetime
    memories: int
    active: bool
    """Whether something was said in it lately."""


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
class Receipt(Reply):
    """What a purge erased, and what it could not reach."""

    ids: tuple[str, ...]
    also: tuple[str, ...]
    """Memories under other ids with the same words: revisions, and memories derived from the purged ones."""
    erased: Mapping[str, int]
    unreached: tuple[str, ...]
    digest: str
    """Identifies everything to be erased in its current state: a purge with `as_told` erases exactly that."""


@dataclass(frozen=True, slots=True)
class Forgotten(Reply):
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
class ScratchpadEntry(Reply):
    id: str
    content: str
    created_at: str
    updated_at: str


@dataclass(frozen=True, slots=True)
class Stats(Reply):
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
        return replace(self, findings=findings, settings=settings, folders={})

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


@dataclass(frozen=True, slots=True)
class Drawn(Reply):
    """A memory or fact of a lineage: `what` is `memory` or `fact`, and `how` says how it came from `of`."""

    what: str
    id: str
    kind: str
    excerpt: str
    how: str
    of: str | None
    at: datetime | None = None
    source: str | None = None
    session: str | None = None
    author: str | None = None
    ended: str = ""
    quarantines: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Telling(Reply):
    """A session that was shown memories of a lineage: which, how often, and when first and last."""

    session: str
    ids: tuple[str, ...]
    times: int
    first: datetime
    last: datetime
    in_context: bool = False
    """Whether the kept context of the session names one of them."""


@dataclass(frozen=True, slots=True)
class Trace(Reply):
    """What was derived from a memory, source or session, nearest first, and where it was shown."""

    items: tuple[Drawn, ...]
    counts: Mapping[str, int]
    """The whole lineage by kind, facts and `windows` included, also beyond what is listed."""
    told: tuple[Telling, ...]
    notes: tuple[str, ...]
    """Vault notes that contain its words."""
    hidden: int = 0
    """Memories of the lineage that are private to other sessions: counted here, but not listed."""
    truncated: bool = False
    """Whether there is more than is listed."""


@dataclass(frozen=True, slots=True)
class Quarantine:
    """The selectors and content of a quarantine. `number` is that of its change, and None for a dry run."""

    number: int | None
    at: datetime
    who: str
    reason: str | None
    selectors: Mapping[str, Any]
    counts: Mapping[str, int]
    """What it holds by kind, facts included."""
    digest: str
    """Identifies the ids that it holds."""
    ids: tuple[str, ...] = ()
    """The memories that this session may see, at most a thousand."""
    unreached: tuple[str, ...] = field(default=())
    """Places with its words that were not reached: notes of the vault, and copies of the bank."""
    dry_run: bool = False

    @property
    def memories(self) -> int:
        return sum(number for kind, number in self.counts.items() if kind != "fact")

    @property
    def facts(self) -> int:
        return self.counts.get("fact", 0)

    def as_dict(self) -> dict[str, Any]:
        return {
            "number": self.number,
            "at": iso(self.at),
            "who": self.who,
            "reason": self.reason,
            "selectors": dict(self.selectors),
            "counts": dict(self.counts),
            "memories": self.memories,
            "facts": self.facts,
            "digest": self.digest,
            "ids": list(self.ids),
            "unreached": list(self.unreached),
            "dry_run": self.dry_run,
        }


@dataclass(frozen=True, slots=True)
class Lifted(Reply):
    """A quarantine that change `seq` lifted. What other quarantines hold too stays hidden."""

    number: int
    seq: int
    memories: int
    facts: int
    still_held: int
