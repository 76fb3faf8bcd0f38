"""From a question to its candidates and all that is known of them: every arm is asked, and what it missed filled in.

Exists so that each candidate comes with the evidence of every arm, whichever found it. Only look-ups through an index
are made here; nothing is scored.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

from pieria.recall.evidence import Asked, Evidence, Held
from pieria.recall.ranking import Corpus, ranked
from pieria.recall.reading import Reading
from pieria.record.analyser import terms
from pieria.record.filter import Filter
from pieria.store.protocol import Kind, Outline, Reader, Terms, TextMatch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")

QUOTA = 60
"""Candidates from each arm."""
TEXT_WANT = 120
REACH, LENDING = 2, 3
"""How far from what was found a neighbour is a candidate itself, and how far from a candidate one lends it words."""
RULES_SEEN, RULES = 400, 20
OPENERS, OPENED = 10, 10
"""Of an overview's best sessions so many are opened, so many turns of people in each."""
UNSEEN = 5.0
"""What a word weighs that the bank never saw."""
QUESTION_LENGTH = 80
RULE, WISHES = ("rule",), ("preference", "profile")

_TIME = re.compile(
    r"""\b(?: yesterday | today | tonight | tomorrow | ago | recently | since | (?:last|next|this|every) \s \w+
      | (?:mon|tues|wednes|thurs|fri|satur|sun)day
      | january | february | march | april | june | july | august | september | october | november | december
      | (?:morning|evening|night|week|weekend|month|year|summer|winter|spring|autumn|fall)s?
      | \d{1,2} (?:st|nd|rd|th) | (?:19|20)\d\d )\b""",
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Source:
    """One store that takes part, as one read transaction sees it."""

    name: str
    reader: Reader
    filter: Filter


@dataclass(slots=True)
class Gathered:
    """The pool, and what each arm did, for the plan."""

    asked: Asked
    pool: list[Evidence]
    matches: list[TextMatch]
    arms: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass(slots=True)
class _Part:
    """What one source contributes while the pool is built."""

    which: int
    source: Source
    found: list[int] = field(default_factory=list)
    before: dict[int, int] = field(default_factory=dict)
    after: dict[int, int] = field(default_factory=dict)
    outlines: dict[int, Outline] = field(default_factory=dict)
    held: dict[int, Terms] = field(default_factory=dict)
    places: dict[int, int] = field(default_factory=dict)
    texts: dict[int, str] = field(default_factory=dict)
    alike: dict[str, dict[int, float]] = field(default_factory=dict)
    rules: frozenset[int] = frozenset()
    wishes: frozenset[int] = frozenset()

    def add(self, rows: Iterable[int]) -> None:
        self.found = list(dict.fromkeys([*self.found, *rows]))


class Gathering:
    """One question's look-ups. Each method fills in one kind of evidence; `gathered` puts them together."""

    def __init__(
        self,
        sources: Sequence[Source],
        reading: Reading,
        vector: NDArray[np.float32] | None,
        arms: frozenset[str],
    ) -> None:
        self._parts = [_Part(which, source) for which, source in enumerate(sources)]
        self._reading = reading
        self._vector = vector
        self._arms = arms
        self._told: dict[str, dict[str, Any]] = {}

    def gathered(self, matches: Sequence[TextMatch], known: Corpus, further: Mapping[int, Sequence[int]]) -> Gathered:
        """`further` are rows of each source that must be in the pool."""
        self._told["text"] = {"candidates": sum(len(match.candidates) for match in matches)}
        for entry in ranked(matches, known)[:QUOTA]:
            self._parts[entry.which].add([entry.candidate.row])
        self._near("dense", "passage")
        self._near("window", "window")
        for which, rows in further.items():
            self._parts[which].add(rows)
        self._widen()
        named = self._named()
        asked = self._asked(known, heeds=self._reading.may_heed_rules and not named)
        if asked.heeds_rules:
            self._each("rules", self._rules)
        self._fill()
        if asked.is_overview:
            self._each("openers", self._open)
            self._fill()
        pool = [evidence for part in self._parts for evidence in self._evidence(part, named)]
        return Gathered(asked, pool, list(matches), self._told)

    def _asked(self, known: Corpus, *, heeds: bool) -> Asked:
        read = self._reading
        unseen = sum(1 for term in read.considered if term not in known.weights)
        return Asked(
            weights=known.weights,
            whole=math.fsum(known.weights.values()) + UNSEEN * unseen,
            mean_length=known.mean_length,
            spans=read.spans,
            wants_done=read.wants_done,
            is_overview=read.is_overview,
            is_when=read.is_when,
            heeds_rules=heeds,
        )

    def _each(self, arm: str, look: Callable[[_Part], Sequence[int]]) -> None:
        """Runs one arm on every source and notes what it brought and how long it took."""
        begun = perf_counter()
        brought = 0
        for part in self._parts:
            rows = look(part)
            part.add(rows)
            brought += len(rows)
        self._told[arm] = {"candidates": brought, "ms": round(1000 * (perf_counter() - begun), 3)}

    def _near(self, arm: str, what: Kind) -> None:
        vector = self._vector
        if vector is None or arm not in self._arms:
            return

        def look(part: _Part) -> list[int]:
            match = part.source.reader.near(vector, part.source.filter, QUOTA, what)
            part.alike[what] = {near.row: near.similarity for near in match.candidates}
            return [near.row for near in match.candidates]

        self._each(arm, look)

    def _widen(self) -> None:
        """The neighbours of what was found, and in which order they stand."""
        for part in self._parts:
            around = part.source.reader.around(part.found, part.source.filter, REACH + LENDING)
            near: list[int] = []
            for row, neighbours in around.items():
                line = sorted([(0, row), *neighbours])
                for (_, one), (_, other) in pairwise(line):
                    part.after[one], part.before[other] = other, one
                near += [other for distance, other in neighbours if abs(distance) <= REACH]
            part.add(near)
            part.outlines = part.source.reader.outlines(part.found, part.source.filter)

    def _named(self) -> frozenset[str]:
        """The authors that the question names; nobody where it names all of them."""
        order = set(self._reading.order)
        authors = {
            outline.author
            for part in self._parts
            for outline in part.outlines.values()
            if outline.author is not None and outline.author_type != "agent"
        }
        named = frozenset(author for author in authors if order.intersection(terms(author)))
        return frozenset() if named == authors else named

    def _rules(self, part: _Part) -> list[int]:
        """All standing rules and wishes; where there are many, those nearest to the question."""
        part.rules = frozenset(self._standing(part, RULE))
        part.wishes = frozenset(self._standing(part, WISHES)) - part.rules
        return [*part.rules, *part.wishes]

    def _standing(self, part: _Part, kinds: tuple[str, ...]) -> list[int]:
        rows = part.source.reader.rows(part.source.filter.having(standing=kinds), "newest", RULES_SEEN)
        if self._vector is None or len(rows) <= RULES:
            return rows[:RULES]
        near = part.source.reader.similarities(self._vector, rows, "rule")
        return sorted(near, key=lambda row: (-near[row].similarity, row))[:RULES]

    def _open(self, part: _Part) -> list[int]:
        """The first turns of people in the sessions of which most was found."""
        found: dict[str, int] = {}
        for row in part.found:
            outline = part.outlines.get(row)
            if outline is not None and outline.session is not None:
                found[outline.session] = found.get(outline.session, 0) + 1
        rows: list[int] = []
        for session in sorted(found, key=lambda session: (-found[session], session))[:OPENERS]:
            first = part.source.reader.rows(part.source.filter.having(session=session), "oldest", 2 * OPENED)
            outlines = part.source.reader.outlines(first, part.source.filter)
            spoken = [row for row in first if row in outlines and outlines[row].author_type != "agent"][:OPENED]
            part.places.update({row: place for place, row in enumerate(spoken)})
            rows += spoken
        return rows

    def _fill(self) -> None:
        """What is still missing of every candidate: outline, words, text, similarities."""
        for part in self._parts:
            reader, filter = part.source.reader, part.source.filter
            part.outlines.update(reader.outlines(_missing(part.found, part.outlines), filter))
            lending = {other for row in part.found for _, other in _neighbours(part, row, LENDING)}
            wanted = _missing([*part.found, *lending], part.held)
            part.held.update(reader.counts(wanted, self._reading.considered, self._reading.pairs))
            contents = reader.contents(_missing(part.found, part.texts))
            part.texts.update({row: content.text for row, content in contents.items()})
            self._compare(part)

    def _compare(self, part: _Part) -> None:
        """Exactly, whichever arm found it. In the past a window counts only where it was found as it was then."""
        if self._vector is None:
            return
        kinds: list[tuple[str, Kind]] = [("dense", "passage"), ("rules", "rule")]
        if part.source.filter.known_at is None:
            kinds.append(("window", "window"))
        for arm, what in kinds:
            if arm in self._arms:
                held = part.alike.setdefault(what, {})
                spans = part.source.reader.similarities(self._vector, _missing(part.found, held), what)
                held.update({row: span.similarity for row, span in spans.items()})

    def _evidence(self, part: _Part, named: frozenset[str]) -> Iterable[Evidence]:
        for row in part.found:
            outline = part.outlines.get(row)
            if outline is None:
                continue
            before = part.before.get(row)
            text = part.texts.get(row, "")
            fit = part.alike.get("rule", {}).get(row, 0.0)
            yield Evidence(
                key=(part.which, row),
                id=outline.id,
                held=_held(part.held.get(row)),
                around=[(distance, _held(part.held.get(other))) for distance, other in _neighbours(part, row, LENDING)],
                before=None if before is None else (part.which, before),
                session=outline.session,
                at=outline.at,
                dense=part.alike.get("passage", {}).get(row),
                window=part.alike.get("window", {}).get(row),
                rule=fit if row in part.rules else None,
                wish=fit if row in part.wishes else None,
                by_named=outline.author in named,
                by_agent=outline.author_type == "agent" and outline.kind == "turn",
                asks=_asks(text),
                tells_time=self._reading.is_when and _TIME.search(text) is not None,
                place=part.places.get(row),
                importance=outline.importance,
            )


def _neighbours(part: _Part, row: int, reach: int) -> list[tuple[int, int]]:
    """(distance, row) as far as they are known."""
    found = []
    for way, step in ((part.before, -1), (part.after, 1)):
        at, distance = row, 0
        while abs(distance) < reach and at in way:
            at, distance = way[at], distance + step
            found.append((distance, at))
    return found


def _missing(rows: Iterable[int], held: Mapping[int, Any]) -> list[int]:
    return [row for row in dict.fromkeys(rows) if row not in held]


def _held(found: Terms | None) -> Held:
    if found is None:
        return Held()
    return Held(found.length, found.distinct, found.counts, len(found.pairs))


def _asks(text: str) -> bool:
    stripped = text.rstrip(" \t\n\"'”’)*_")
    return stripped.endswith(("?", "？")) or ("?" in text and len(text) < QUESTION_LENGTH)
