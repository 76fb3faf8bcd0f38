"""From a question to ranked versions: gather, score, trim. The text arm is the only one there is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, NamedTuple

from pieria.errors import CorruptError
from pieria.recall.answer import Hit
from pieria.recall.asking import TERMS_LIMIT, considered_terms, rarest, truncated
from pieria.recall.ranking import Corpus, Ranked, behind_sources, coverage, ranked
from pieria.recall.snippet import snippet
from pieria.recall.walk import LISTED, Pins, Walk
from pieria.record.filter import Filter
from pieria.record.link import End
from pieria.record.memory import Memory
from pieria.store.protocol import Reader, TextMatch

CANDIDATES = 120
"""The least that a first page chooses from."""
WIDE, WIDER_BUDGET = 1_000, 4
"""What a second page chooses from, and by how much more may be looked up for it."""
EVERYTHING = 1 << 40
DRAWN_FROM = "provenance"
Place = tuple[int, str]
"""Which source, and an id in it: two banks may use the same."""


@dataclass(frozen=True, slots=True)
class Source:
    """One store that takes part, as one read transaction sees it."""

    name: str
    reader: Reader
    filter: Filter


@dataclass(frozen=True, slots=True)
class Question:
    """`considered` are its terms as `considered_terms` gives them; `mark` tells its cursors from others'."""

    text: str
    considered: Sequence[str]
    beyond: Sequence[str]
    min_score: float
    budget: int
    mark: str


@dataclass(slots=True)
class Searched:
    hits: list[Hit]
    confidence: float
    plan: dict[str, Any]
    walk: Walk | None
    """Where the next page begins; None when there is nothing more."""


class Found(NamedTuple):
    """What a look-up gives, best first."""

    entries: list[Ranked]
    exact: bool
    """Every version that holds a looked-up term was ranked: the order follows from scores alone."""
    cut: bool
    """Some scored less than asked: what a bounded look-up left out held less of the question still."""


@dataclass(slots=True)
class Search:
    """One page in the making. Look-ups leave behind what the plan tells of them."""

    sources: Sequence[Source]
    question: Question
    walk: Walk
    terms: list[str] = field(default_factory=list)
    known: Corpus | None = None
    banks: dict[str, dict[str, Any]] = field(default_factory=dict)
    seconds: float = 0.0

    def look_up(self, want: int, budget: int) -> Found:
        matches = self._matches(self.sources, want, budget)
        if self.known is None:
            self._pin(matches)
        assert self.known is not None
        scored = ranked(matches, self.known)
        kept = [entry for entry in scored if entry.score >= self.question.min_score]
        return Found(kept, all(match.exact for match in matches), len(kept) < len(scored))

    def count_terms(self) -> list[int]:
        """How often each considered term occurs, without looking any up."""
        nothing = [replace(source, filter=source.filter.having(ids=())) for source in self.sources]
        self.terms = list(self.question.considered)
        matches = self._matches(nothing, 1, 1)
        frequencies = _summed(matches, self.terms)
        chosen = rarest(self.terms, dict(zip(self.terms, frequencies, strict=True)))
        self._pin(matches, chosen)
        return chosen

    def listed(self, codes: Sequence[int]) -> list[Ranked]:
        """The candidates of listed rows, in that order; what was purged since is not among them."""
        assert self.known is not None
        places = [self.walk.place(code) for code in codes]
        narrowed = []
        for which, source in enumerate(self.sources):
            rows = [row for of, row in places if of == which]
            found = source.reader.memories(rows, source.filter) if rows else {}
            ids = tuple(memory.id for memory in found.values())
            narrowed.append(replace(source, filter=source.filter.having(ids=ids)))
        matches = self._matches(narrowed, LISTED, self.question.budget)
        for told in self.banks.values():
            told.update(looked_up=[], cut=[], exact=False)
        by_place = {(entry.which, entry.candidate.row): entry for entry in ranked(matches, self.known)}
        return [by_place[place] for place in places if place in by_place]

    def _matches(self, sources: Sequence[Source], want: int, budget: int) -> list[TextMatch]:
        begun = perf_counter()
        matches = [source.reader.text(self.terms, source.filter, want, budget) for source in sources]
        self.seconds += perf_counter() - begun
        for source, match in zip(sources, matches, strict=True):
            self.banks[source.name] = {
                "looked_up": list(match.looked_up),
                "cut": list(match.cut),
                "candidates": len(match.candidates),
                "exact": match.exact,
            }
        return matches

    def _pin(self, matches: Sequence[TextMatch], frequencies: Sequence[int] | None = None) -> None:
        considered = self.question.considered
        pins = replace(
            self.walk.pins,
            documents=sum(match.documents for match in matches),
            length=sum(match.terms for match in matches),
            frequencies=tuple(_summed(matches, considered) if frequencies is None else frequencies),
        )
        self.walk = replace(self.walk, pins=pins)
        self.settle()

    def settle(self) -> None:
        """Asks by the terms of the pins, and weighs by their counts."""
        self.terms = list(self.walk.pins.asked(self.question.considered))
        self.known = self.walk.pins.corpus(self.question.considered)


def search(sources: Sequence[Source], question: Question, k: int, walk: Walk | None = None) -> Searched:
    """The best `k`, or the next `k` of a walk; its sources are those that the walk began with, as they were then."""
    begun = perf_counter()
    if walk is None:
        known = tuple((source.name, _known(source)) for source in sources)
        page = Search(sources, question, Walk(question.mark, Pins(sources[0].filter.now, known, 0, 0, ())))
        entries, more = _first(page, k)
        found = coverage(entries[0].candidate, page.known) if entries and page.known else 0.0
        page.walk = replace(page.walk, pins=replace(page.walk.pins, confidence=found))
    else:
        page = Search(sources, question, walk)
        page.settle()
        entries, more = _next(page, k)
    hits, moved = _hits(sources, entries)
    plan = _plan(page, moved, walk)
    plan["ms"] = round(1000 * (perf_counter() - begun), 3)
    return Searched(hits, page.walk.pins.confidence, plan, page.walk if more else None)


def question_of(text: str, min_score: float, budget: int, mark: str) -> Question:
    return Question(text, *considered_terms(text), min_score, budget, mark)


def _known(source: Source) -> int:
    """Up to when this recall knows: not beyond what is written, or later writes would come into its later pages."""
    head, asked = source.reader.head().known, source.filter.known_at
    return head if asked is None else max(0, min(asked, head))


def _first(page: Search, k: int) -> tuple[list[Ranked], bool]:
    considered = page.question.considered
    if not considered:
        return [], False
    page.terms = list(considered)
    if len(considered) > TERMS_LIMIT or k > LISTED:
        page.count_terms()
    if k > LISTED:
        return _next(page, k)
    found = page.look_up(max(CANDIDATES, 4 * k), page.question.budget)
    if found.exact:
        return _by_key(page, [], found.entries, k)
    if len(found.entries) < k and not found.cut:
        return _next(page, k)
    entries = found.entries[:k]
    page.walk = replace(page.walk, stage="wide", passed=tuple(page.walk.code(entry) for entry in entries))
    return entries, len(found.entries) > k or not found.cut


def _next(page: Search, k: int) -> tuple[list[Ranked], bool]:
    """What is listed first, then what a wider look-up lists, then everything else by score."""
    entries, room = _from_list(page, k)
    if room and page.walk.stage == "wide":
        found = page.look_up(WIDE, page.question.budget * WIDER_BUDGET)
        fresh = _fresh(page.walk, found.entries)
        if found.exact:
            return _by_key(page, entries, fresh, room)
        kept = tuple(page.walk.code(entry) for entry in fresh[: LISTED - len(page.walk.passed)])
        stage = "done" if found.cut and len(kept) == len(fresh) else "everything"
        page.walk = replace(page.walk, stage=stage, passed=page.walk.passed + kept, listed=kept)
        more, room = _from_list(page, room)
        entries += more
    if not room or page.walk.stage == "done":
        return entries, bool(page.walk.listed) or page.walk.stage != "done"
    found = page.look_up(EVERYTHING, EVERYTHING)
    return _by_key(page, entries, _fresh(page.walk, found.entries), room)


def _from_list(page: Search, room: int) -> tuple[list[Ranked], int]:
    """The next of what is listed, and how much room is left. What was purged leaves its place empty."""
    codes = page.walk.listed[:room]
    if not codes:
        return [], room
    entries = page.listed(codes)
    page.walk = replace(page.walk, listed=page.walk.listed[len(codes) :])
    return entries, room - len(codes)


def _fresh(walk: Walk, found: Sequence[Ranked]) -> list[Ranked]:
    """What comes after the last one shown and was not shown or listed before."""
    passed = set(walk.passed)
    return [entry for entry in found if (walk.last is None or entry.key > walk.last) and walk.code(entry) not in passed]


def _by_key(page: Search, entries: list[Ranked], fresh: list[Ranked], room: int) -> tuple[list[Ranked], bool]:
    part = fresh[:room]
    last = part[-1].key if part else page.walk.last
    page.walk = replace(page.walk, stage="everything", last=last)
    return entries + part, len(fresh) > room


def _hits(sources: Sequence[Source], page: Sequence[Ranked]) -> tuple[list[Hit], list[str]]:
    """The hits with their memories, and the ids that stand further back than their scores because of their sources."""
    hits: dict[Place, Hit] = {}
    drawn_from: list[tuple[Place, Place]] = []
    memories: dict[tuple[int, int], Memory] = {}
    for which, source in enumerate(sources):
        rows = [entry.candidate.row for entry in page if entry.which == which]
        if rows:
            found = source.reader.memories(rows, source.filter)
            memories.update({(which, row): memory for row, memory in found.items()})
            drawn_from += _drawn_from(which, source, [memory.id for memory in found.values()])
    for score, which, candidate in page:
        memory = memories.get((which, candidate.row))
        if memory is None:
            raise CorruptError("recall", "the index names a version that is not there", hint="Run `pieria doctor`.")
        hits[which, memory.id] = Hit(memory, score, {"lexical": score}, snippet(memory.text, candidate.counts.keys()))
    before = list(hits)
    after = behind_sources(before, drawn_from)
    rank = {place: number for number, place in enumerate(before)}
    late = {one for one, other in drawn_from if one in rank and other in rank and rank[one] < rank[other]}
    return [hits[place] for place in after], [place[1] for place in after if place in late]


def _drawn_from(which: int, source: Source, ids: Sequence[str]) -> list[tuple[Place, Place]]:
    """Pairs (derived, evidence) among whatever these are tied to, all within one bank."""
    ends = [End("memory", id) for id in ids]
    links = source.reader.links(ends=ends, relation=DRAWN_FROM, known_at=source.filter.known_at)
    return [((which, link.source.name), (which, link.target.name)) for link in links]


def _summed(matches: Sequence[TextMatch], terms: Sequence[str]) -> list[int]:
    return [sum(match.frequencies.get(term, 0) for match in matches) for term in terms]


def _plan(page: Search, moved: list[str], walk: Walk | None) -> dict[str, Any]:
    question = page.question
    arm = {"terms": page.terms, "ms": round(1000 * page.seconds, 3), "banks": page.banks}
    return {
        "arms": {"text": arm},
        "left_out": {"dense": "this version ranks by words alone"},
        "weights": {"lexical": 1.0},
        "truncated": truncated(question.considered, page.walk.pins.frequencies, question.beyond) if page.terms else {},
        "behind_sources": moved,
        "page": "first" if walk is None else "next",
    }
