"""Changesets: the rows that a verb wants written, and the only input a store applies.

A change of content adds a `Content` and a `State` that points to it; any other change adds only a `State`. Opening a
state closes the previous state of the same id, so the states of an id are its full history. Removal is an open state
that says so. Links and facts follow the same rule.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from pieria.record.fact import FactRow
from pieria.record.job import NewJob
from pieria.record.link import LinkRow
from pieria.record.reply import Reply
from pieria.record.usage import Use

FOREVER = 2**63 - 1
"""The known end of a current row, in microseconds. Later than any real instant."""
PASSING = ("sessions.held", "sessions.holders")
"""Collections with the state of running processes. Exports leave them out."""
FACTS_STATED = "facts.stated"
"""The collection that tells how far the facts of older versions have statements. Exports leave it out."""


@dataclass(frozen=True, slots=True)
class Change(Reply):
    """One transaction. `at` is its known time, which strictly increases within a bank."""

    seq: int
    at: datetime
    who: str
    what: str
    ids: tuple[str, ...]


class Content(NamedTuple):
    """The immutable text of a version. Lists and mappings are JSON text, None if empty."""

    id: str
    version: int
    title: str | None
    text: str
    body: str | None
    tags: str | None
    entities: str | None
    files: str | None
    flags: str | None
    context: str | None
    meta: str | None


class State(NamedTuple):
    """The small fields of a memory over one interval of known time. Instants are in microseconds."""

    row: int
    id: str
    version: int
    kind: str
    type: str | None
    place: str
    scope: str
    session: str | None
    sequence: int | None
    channel: str | None
    author: str | None
    author_type: str | None
    source: str | None
    at: int
    valid_from: int | None
    valid_until: int | None
    status: str
    tier: str
    importance: float
    confidence: float | None
    strength: float
    trust: float
    pinned: int
    ended: str
    reason: str | None
    superseded_by: str | None
    via: str
    """How the text came in; see the table in `record.trust`."""


class Mark(NamedTuple):
    """A label that finds a version. `what` is `tag`, `entity`, `file` or `standing`; `value` is the key, `spelt` the
    original.
    """

    what: str
    value: str
    spelt: str


class NewVector(NamedTuple):
    """The vector of a passage: its slice of the embedded text and its numbers, of any length."""

    start: int
    stop: int
    vector: Collection[float]


class Write(NamedTuple):
    """A new state, with its new content if there is any. The store fills in the state's row.

    With vectors of all its passages, in order, the content needs no embedding.
    """

    state: State
    content: Content | None = None
    terms: Sequence[str] = ()
    labels: Sequence[Mark] = ()
    fresh: bool = False
    """The id has no state yet, so no state needs closing."""
    vectors: Sequence[NewVector] = ()


class Cut(NamedTuple):
    """A version, by its row, with a shortened body: the erased text was quoted in it."""

    row: int
    body: str | None
    terms: Sequence[str]


class Stored(NamedTuple):
    """A state as stored, with its known interval."""

    state: State
    known_from: int
    known_until: int


class Applied(NamedTuple):
    """The result of a changeset: its journal entry and the row of each write."""

    change: Change
    rows: list[int]


class Record(NamedTuple):
    """A record of the bank itself: a setting, a scratchpad entry, an alias of a name. A `value` of None deletes it."""

    collection: str
    key: str
    value: Any


@dataclass(slots=True)
class Changeset:
    """The rows of one transaction. `what` names the verb; `ids` are for the journal, by default all ids written."""

    what: str
    who: str = ""
    writes: list[Write] = field(default_factory=list)
    links: list[LinkRow] = field(default_factory=list)
    facts: list[FactRow] = field(default_factory=list)
    unuse: list[str] = field(default_factory=list)
    """Ids whose usage is reset before `usage` is added."""
    usage: list[Use] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    erase: list[str] = field(default_factory=list)
    """Memory ids to erase everywhere, with their links, usage and the facts that name them."""
    erase_facts: list[str] = field(default_factory=list)
    """Facts to erase in every version."""
    cuts: list[Cut] = field(default_factory=list)
    """Bodies to shorten because of an erasure. Cuts leave no other trace."""
    purged: list[str] = field(default_factory=list)
    """Ids to record as purged, so that nothing restores them unasked."""
    jobs: list[NewJob] = field(default_factory=list)
    """Jobs to queue in the same transaction. A changeset with only jobs counts as empty."""
    ids: tuple[str, ...] = ()
    said_at: int | None = None
    """When its facts were stated; now if None. Other facts may end at the same instant."""
    space: int | None = None
    """The number of the vector space of `writes`."""
    replay: Change | None = None
    """Write this journal entry with its time and number. An import uses it to restore a bank."""

    @property
    def empty(self) -> bool:
        kept = self.writes or self.links or self.facts or self.unuse or self.usage
        return not (kept or self.records or self.erase or self.erase_facts or self.purged)

    def written_ids(self) -> tuple[str, ...]:
        found = [w.state.id for w in self.writes] + [row.id for row in self.links] + [row.id for row in self.facts]
        found += [*self.unuse, *(use.id for use in self.usage), *self.erase, *self.erase_facts, *self.purged]
        found += [f"{record.collection}:{record.key}" for record in self.records]
        return tuple(dict.fromkeys(found))
