"""The one thing a store applies: what a verb wants written, as plain rows.

A change of content brings a new `Content` and a `State` that points to it; every other change brings a `State` alone.
Opening a state closes the one before it, so the states of an id tell its whole history and there is no second way to
end anything: what is removed has an open state that says so. Links and facts live by the same rule.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pieria.record.change import Change
from pieria.record.fact import FactRow
from pieria.record.job import NewJob
from pieria.record.link import LinkRow
from pieria.record.usage import Use

FOREVER = 2**63 - 1
"""The known end of what is still known, in microseconds: later than any instant there is."""


class Content(NamedTuple):
    """Evidence: written once, never changed. Lists and mappings are JSON text, None when empty."""

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
    """Everything small about a memory over one stretch of known time. Instants are microseconds."""

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
    """How its text came in; `record.trust` has the table."""


class Mark(NamedTuple):
    """A label by which a version is found: `tag`, `entity`, `file` or `standing`, as it is compared, and as spelt."""

    what: str
    value: str
    spelt: str


class NewVector(NamedTuple):
    """The vector of a passage: which characters of the embedded text it stands for, and its numbers, of any length."""

    start: int
    stop: int
    vector: Collection[float]


class Write(NamedTuple):
    """A new state, with the new content it points to if there is any; then the store sets the state's row.

    With vectors of its passages, in their order, the content has nothing of itself left to embed.
    """

    state: State
    content: Content | None = None
    terms: Sequence[str] = ()
    labels: Sequence[Mark] = ()
    fresh: bool = False
    """The id has no state yet, so there is none to close."""
    vectors: Sequence[NewVector] = ()


class Cut(NamedTuple):
    """A version, by its row, with so much left of its body: words of what is erased were in it."""

    row: int
    body: str | None
    terms: Sequence[str]


class Stored(NamedTuple):
    """A state as the store holds it."""

    state: State
    known_from: int
    known_until: int


class Applied(NamedTuple):
    """What became of a changeset: its journal entry, and the row of each of its writes."""

    change: Change
    rows: list[int]


class Record(NamedTuple):
    """One of the bank's own records: a setting, a scratchpad entry, a name's alias. `value` None deletes it."""

    collection: str
    key: str
    value: Any


PASSING = ("sessions.held", "sessions.holders")
"""Collections that say what processes are at. No export has them: they mean nothing elsewhere."""
FACTS_STATED = "facts.stated"
"""The collection that says up to which entry the facts of older versions got their statements. No export has it."""


@dataclass(slots=True)
class Changeset:
    """`what` names the verb. `ids` are those the journal tells; left empty, the store takes those written."""

    what: str
    who: str = ""
    writes: list[Write] = field(default_factory=list)
    links: list[LinkRow] = field(default_factory=list)
    facts: list[FactRow] = field(default_factory=list)
    unuse: list[str] = field(default_factory=list)
    """Ids whose usage begins anew, before what is in `usage` is added."""
    usage: list[Use] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    erase: list[str] = field(default_factory=list)
    """Memory ids to erase everywhere, with their links, usage and the facts that name them."""
    erase_facts: list[str] = field(default_factory=list)
    """Facts to erase, every version of them."""
    cuts: list[Cut] = field(default_factory=list)
    """Made where something is erased, and without any other trace."""
    purged: list[str] = field(default_factory=list)
    """Ids to remember as purged, so that nothing brings them back unasked."""
    jobs: list[NewJob] = field(default_factory=list)
    """What is to be done because of it. They are queued with it or not at all; by themselves they change no record."""
    ids: tuple[str, ...] = ()
    space: int | None = None
    """The number of the space that the vectors of the writes are of."""
    replay: Change | None = None
    """Write this very journal entry, with its time and number: how an export becomes a bank again."""

    @property
    def empty(self) -> bool:
        kept = self.writes or self.links or self.facts or self.unuse or self.usage
        return not (kept or self.records or self.erase or self.erase_facts or self.purged)

    def written_ids(self) -> tuple[str, ...]:
        found = [w.state.id for w in self.writes] + [row.id for row in self.links] + [row.id for row in self.facts]
        found += [*self.unuse, *(use.id for use in self.usage), *self.erase, *self.erase_facts, *self.purged]
        found += [f"{record.collection}:{record.key}" for record in self.records]
        return tuple(dict.fromkeys(found))
