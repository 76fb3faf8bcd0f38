"""What is known of a question and of its candidates before anything is scored: plain values, gathered from the arms.

Exists so that features are arithmetic over these alone: the same evidence gives the same scores on any store.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from pieria.recall.ranking import Corpus
from pieria.record.fading import Wear
from pieria.record.usage import UNUSED, Usage

Key = tuple[int, int]
"""Which source, and a row in it."""


@dataclass(frozen=True, slots=True)
class Span:
    """A time that the question names, in microseconds; None where it has no end.

    One that is of each year is meant in any year.
    """

    since: int | None
    until: int | None
    yearly: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """The question as it was read.

    `known` is what its terms weigh. `wants_done` is how far it asks for something to be done or advised, 0 to 1, rather
    than for what was.
    """

    known: Corpus
    now: int = 0
    """The moment of asking, in microseconds."""
    spans: Sequence[Span] = ()
    entities: Sequence[frozenset[str]] = ()
    """The terms of each thing that the question names; authors are not among them."""
    wants_done: float = 0.0
    is_overview: bool = False
    is_when: bool = False
    heeds_rules: bool = False
    """Standing rules bind whoever asks for something, in the first person or by a request."""


@dataclass(slots=True)
class Held:
    """The asked terms that a text holds, with how long it is. Not frozen, as `Evidence`: that takes three times as long
    to make, and a question makes a hundred."""

    length: int = 0
    distinct: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    pairs: int = 0
    """How many terms that are neighbours in the question are neighbours in the text."""
    quoted: float = 0.0
    """The share of the passages in quotes that it holds."""


@dataclass(slots=True)
class Evidence:
    """One candidate. Similarities are cosines; None where there is no such vector, or it was not compared."""

    key: Key
    id: str
    held: Held
    around: Sequence[tuple[int, Held]] = ()
    """(distance, what it holds) of its neighbours in the session."""
    beside: Sequence[tuple[int, Key]] = ()
    """(distance, key) of the nearest of them."""
    before: Key | None = None
    """The turn before it in its session."""
    occasion: Hashable = None
    """The session in which it was said and, within that, the channel."""
    at: int = 0
    dense: float | None = None
    near: int | None = None
    """Where in the text the passage begins that is most alike."""
    window: float | None = None
    nearer: float = 0.0
    """By how much it is more like the question without the names of those who speak than like the whole."""
    rule: float | None = None
    wish: float | None = None
    by_named: bool = False
    """Its author is one that the question names, and the question does not name every author."""
    is_turn: bool = False
    """Said in a conversation, where much stands beside it."""
    is_summary: bool = False
    by_agent: bool = False
    """A turn that an agent spoke."""
    asks: bool = False
    """It is itself a question."""
    tells_time: bool = False
    place: int | None = None
    """How many turns of people stand before it in its session, where that matters."""
    importance: float = 0.5
    strength: float = 1.0
    says_when: bool = False
    """It says from when it holds."""
    used: Usage = UNUSED
    kind: str = "note"
    written: int = 0
    """When it was first known, where it matters how it fades; and so with what follows."""
    version: int = 1
    tags: Sequence[str] = ()
    fact: float = 0.0
    """How far a fact that was drawn from it speaks of what the question names: a half, or wholly."""
    tied: Sequence[Key] = ()
    """Candidates that a link ties it to."""
    copy_of: Hashable = None
    """Two that have the same say the same. None: it is like no other."""

    @property
    def wear(self) -> Wear:
        return Wear(self.at, self.kind, self.strength, self.used, self.written, self.version, self.tags)
