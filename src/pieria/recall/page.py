"""One page of results in progress: looks up terms, gathers and scores candidates, and keeps the evidence of each.

The reasons of a hit and the plan of the page are made here.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter
from typing import Any

from pieria.recall.answer import Hit
from pieria.recall.arms import ARMS, QUOTA
from pieria.recall.bm25 import Corpus, Ranked, ranked
from pieria.recall.candidates import Gathered, Gathering, Wanted
from pieria.recall.features import Columns, features, of_use
from pieria.recall.part import Source
from pieria.recall.pool import Candidate, Floats, Pool
from pieria.recall.query import TERMS_LIMIT, Key, Reading, rarest, truncated
from pieria.recall.scores import FEATURES, OF_USE, Arranged, Policy, arranged, confidence, relevance, spread
from pieria.recall.snippet import snippet
from pieria.recall.walk import Walk
from pieria.record.decay import Fading, Wear
from pieria.record.memory import Memory
from pieria.record.usage import UNUSED
from pieria.runtime import effort
from pieria.store.protocol import TextMatch

EVERYTHING = 1 << 40
WIDER = 8
"""Factor on the number of candidates where too many have faded."""
DUE_WANT = 400
"""Least number of text matches to search for memories due for review."""
TEXT_WANT = 40
"""Least number of text matches that a first page chooses from."""
LEAST_BUDGET, ROWS_A_SECOND = 200, 500_000
"""Least rows to read from the text index, and rows to read per second of time left."""
SHORT = 400
"""Longest text, in characters, that is searched for the expected answer."""
BESIDE = 0.5
"""A candidate below this share of the best score is beside the point."""
NEAR = 0.3
"""Two texts below this similarity hardly share a meaning."""


@dataclass(frozen=True, slots=True)
class Question:
    """One query with its settings. `mark` identifies its cursors. `deadline` is a reading of `perf_counter`."""

    text: str
    reading: Reading
    policy: Policy
    min_score: float
    budget: int
    mark: str
    fading: Fading
    deadline: float = math.inf
    tokens: int | None = None
    by_meaning: bool = True
    matching: bool = False
    """Keep only candidates that match the query themselves, without those that only have a matching neighbour."""
    min_confidence: float = 0.0
    """Return no hits if the confidence is lower, and drop candidates that score much less than the best."""
    least_left: float = 0.0
    """The least retention of a hit."""
    review: float = 0.0
    """Memories due for review to add, as a share of the hits."""
    fades: tuple[str, ...] = ()
    """Kinds that may fade: no other is ever due."""

    @property
    def by_relevance(self) -> bool:
        """Return whether a page may have fewer hits than asked for, because too few score enough."""
        return self.min_score > 0 or self.min_confidence > 0

    @property
    def by_fading(self) -> bool:
        return self.least_left > 0 or self.review > 0


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with its score before scaling (`worth`) and the feature columns."""

    evidence: Candidate
    worth: float
    columns: Columns
    number: int
    """Its line in the columns."""


class Ranking(Mapping[int, Scored]):
    """Every scored candidate, by the code of its row. Objects are made on access."""

    def __init__(self, pool: Pool, worth: Floats, columns: Columns, codes: Sequence[int]) -> None:
        self._pool, self._worth, self._columns = pool, worth, columns
        self._numbers = {code: number for number, code in enumerate(codes)}

    def __getitem__(self, code: int) -> Scored:
        number = self._numbers[code]
        return Scored(self._pool.candidate(number), float(self._worth[number]), self._columns, number)

    def __contains__(self, code: object) -> bool:
        return code in self._numbers

    def __iter__(self) -> Iterator[int]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)


@dataclass(slots=True)
class Page:
    """The state of one page. Look-ups leave notes here for the plan."""

    sources: Sequence[Source]
    question: Question
    walk: Walk
    policy: Policy = field(init=False)
    reasons: list[str] = field(init=False)
    """The features that may matter under this policy."""
    is_picky: bool = field(init=False)
    """Whether ranked candidates may be rejected."""
    terms: list[str] = field(default_factory=list)
    telling: Mapping[str, float] = field(default_factory=dict)
    """The weight of each of these terms."""
    known: Corpus | None = None
    matches: list[TextMatch] = field(default_factory=list)
    gathered: Gathered | None = None
    arranged: Arranged | None = None
    """From the first ranking. Later rankings only add candidates found by terms."""
    scored: Mapping[int, Scored] = field(default_factory=dict)
    """Every candidate scored for this page, by the code of its row."""
    keys: Set[Key] = frozenset()
    """The keys of these candidates."""
    order: list[int] = field(default_factory=list)
    """The codes of the first ranking, best first and copies folded."""
    best: float = 0.0
    """The best `worth` among the candidates."""
    passed_over: dict[str, list[str]] = field(default_factory=dict)
    """Copies that came after the memory they repeat: from the id on the page to the ids left out."""
    told: dict[str, Any] = field(default_factory=dict)
    """The look-up of terms, for the plan: its time and, by bank, its results."""

    def __post_init__(self) -> None:
        has_vector = any(source.vector is not None for source in self.sources)
        self.policy = self.question.policy if has_vector else self.question.policy.by_words()
        needed = self.policy.needed
        self.reasons = [name for name in FEATURES if needed is None or name in needed]
        question = self.question
        self.is_picky = question.by_relevance or question.matching or question.least_left > 0

    # --- words

    def look_up(self, want: int, budget: int) -> None:
        """Search the text index for the terms of the query. The first search also sets the weights of the terms."""
        effort.pause()
        begun = perf_counter()
        self.matches = [source.reader.text(self.terms, source.filter, want, budget) for source in self.sources]
        self.told["ms"] = self.told.get("ms", 0.0) + 1000 * (perf_counter() - begun)
        self.told["banks"] = {
            source.name: {
                "looked_up": list(match.looked_up),
                "cut": list(match.cut),
                "candidates": len(match.candidates),
                "exact": match.exact,
            }
            for source, match in zip(self.sources, self.matches, strict=True)
        }
        if self.known is None:
            counted = _summed([match.frequencies for match in self.matches], self.question.reading.considered)
            self._pin(counted)

    def count_terms(self) -> None:
        """Count each considered term without a search. Keep the rarest terms of a long query."""
        self.terms = list(self.question.reading.considered)
        counted = _summed([source.reader.frequencies(self.terms) for source in self.sources], self.terms)
        self._pin(rarest(self.terms, dict(zip(self.terms, counted, strict=True))))

    def _pin(self, frequencies: Sequence[int]) -> None:
        heads = [source.reader.head() for source in self.sources]
        pins = replace(
            self.walk.pins,
            documents=sum(head.documents for head in heads),
            length=sum(head.terms for head in heads),
            frequencies=tuple(frequencies),
        )
        self.walk = replace(self.walk, pins=pins)
        self.settle()

    def settle(self) -> None:
        """Take the terms and their counts from the pins."""
        self.terms = list(self.walk.pins.asked(self.question.reading.considered))
        self.known = self.walk.pins.corpus(self.question.reading.considered)
        self.telling = {term: self.known.weights.get(term, 0.0) for term in self.terms}

    def choose(self, k: int) -> list[int]:
        """Return the codes of all first candidates that score enough, in display order."""
        if not self.policy.needs(ARMS["text"].features):
            self.count_terms()
            self.terms, self.telling = [], {}
            return self.rank(max(QUOTA, k))
        self.terms = list(self.question.reading.considered)
        if len(self.terms) > TERMS_LIMIT:
            self.count_terms()
        # One more than shown, to know whether there is more.
        want = max(TEXT_WANT, k + 1) if self.question.review <= 0 else max(DUE_WANT, k + 1)
        self.look_up(want, self._budget())
        order = self.rank(max(QUOTA, k))
        return order if self.question.least_left <= 0 else self._widened(order, k)

    def _widened(self, order: list[int], k: int) -> list[int]:
        """Gather more until `k` candidates are not faded, or nothing more is found."""
        want, before = max(QUOTA, k), 0
        while len(order) < k and len(self.scored) > before and not self.is_late:
            want, before = WIDER * want, len(self.scored)
            self.look_up(want, EVERYTHING)
            self.gathered, self.order = None, []
            order = self.rank(want)
        return order

    def _budget(self) -> int:
        budget = self.question.budget * self.policy.depth
        if self.question.deadline == math.inf:
            return budget
        left = self.question.deadline - perf_counter()
        return max(LEAST_BUDGET, min(budget, int(left * ROWS_A_SECOND)))

    def by_words(self) -> list[Ranked]:
        """Return all text matches, best first."""
        assert self.known is not None
        return ranked(self.matches, self.known)

    # --- everything else

    def rank(self, want: int, codes: Sequence[int] = ()) -> list[int]:
        """Gather and score candidates. Return the codes that score enough, in display order.

        With `codes`, these are the candidates and no others are chosen.
        """
        assert self.known is not None
        further: dict[int, list[int]] = {}
        for which, row in map(self.walk.place, codes):
            further.setdefault(which, []).append(row)
        gathering = Gathering(self.sources, self.question.reading, self.known, [] if codes else self.matches)
        gathered = gathering.gathered(
            Wanted(
                needs=self.policy.needs,
                want=want,
                budget=self.question.budget,
                deadline=self.question.deadline,
                by_use=self.question.by_fading or self.policy.needs(("usage", *OF_USE)),
                by_fading=self.question.by_fading or self.policy.needs(("retention",)),
                further=further,
            )
        )
        worth, columns = self._worths(gathered)
        pool = gathered.pool
        shown = arranged(gathered.asked, pool, worth)
        if self.gathered is None:
            self.gathered, self.arranged = gathered, shown
        self.gathered.left_out |= gathered.left_out
        banks = len(self.walk.pins.known)
        codes_of = [row * banks + which for which, row in pool.keys]
        self.keys = set(pool.keys)
        self.scored = Ranking(pool, worth, columns, codes_of)
        self.best = float(worth.max(initial=0.0))
        if not codes:
            sure = confidence(gathered.asked, columns, pool, partial(self._texts, pool))
            self.walk = replace(self.walk, pins=replace(self.walk.pins, confidence=sure))
        order = [codes_of[number] for number in shown.order]
        self.order = self.order or order
        if not self.is_picky:
            return order
        return [code for code in order if self.passes(self.scored[code])]

    def _texts(self, pool: Pool, numbers: Sequence[int]) -> list[str | None]:
        """Return the texts of these candidates; None for long ones."""
        found: dict[Key, str] = {}
        for which, source in enumerate(self.sources):
            rows = [row for of, row in (pool.keys[number] for number in numbers) if of == which]
            held = source.reader.contents(rows) if rows else {}
            found |= {(which, row): content.text for row, content in held.items() if len(content.text) <= SHORT}
        return [found.get(pool.keys[number]) for number in numbers]

    @property
    def is_late(self) -> bool:
        return perf_counter() >= self.question.deadline or effort.is_late()

    def leave_further(self, reason: str) -> None:
        """Record in the plan why the page does not go on to all text matches."""
        assert self.gathered is not None
        self.gathered.left_out["further"] = reason

    def withhold(self) -> None:
        """Drop all hits from this page and later ones: the confidence is too low."""
        assert self.gathered is not None
        self.walk = replace(self.walk, stage="done", listed=())
        self.gathered.left_out["hits"] = f"the confidence is below {self.question.min_confidence:g}"

    def passes(self, scored: Scored) -> bool:
        """Return whether it scores enough, has not faded too far, and matches the query if it must."""
        if self.policy.score(scored.worth) < self.question.min_score:
            return False
        if self.question.min_confidence > 0 and scored.worth < BESIDE * self.best:
            return False
        if self.question.matching and not self._matches(scored):
            return False
        return self.question.least_left <= 0 or self.left(scored.evidence) >= self.question.least_left

    def _matches(self, scored: Scored) -> bool:
        """Return whether it holds terms of the query, or is near in meaning."""
        return bool(scored.columns["cover"][scored.number] or (scored.evidence.dense or 0.0) >= NEAR)

    def left(self, one: Candidate) -> float:
        """Return its retention, independent of the query."""
        return self.question.fading.of(one.wear, self.question.reading.now)

    def left_of(self, entries: Sequence[Ranked]) -> list[tuple[Ranked, float]]:
        """Return each visible entry with its retention, without gathering anything else."""
        found: dict[tuple[int, int], float] = {}
        for which, source in enumerate(self.sources):
            rows = [entry.candidate.row for entry in entries if entry.which == which]
            outlines = source.reader.outlines(rows, source.filter)
            used = source.reader.usage([outline.id for outline in outlines.values()])
            written = source.reader.written(list(outlines))
            for row, one in outlines.items():
                wear = Wear(one.at, one.kind, one.strength, used.get(one.id, UNUSED), *written[row])
                found[which, row] = self.question.fading.of(wear, self.question.reading.now)
        keys = [(entry.which, entry.candidate.row) for entry in entries]
        return [(entry, found[key]) for entry, key in zip(entries, keys, strict=True) if key in found]

    def _worths(self, gathered: Gathered) -> tuple[Floats, Columns]:
        columns = features(gathered.asked, gathered.pool)
        if self.policy.needs(OF_USE):
            columns |= of_use(gathered.asked, gathered.pool, self.question.fading)
        if self.policy.counts("relevance"):
            columns["relevance"] = relevance(columns)
        worth = self.policy.worths(columns)
        if gathered.asked.is_overview and self.policy.counts("spread"):
            columns["spread"] = spread(gathered.pool, worth)
            worth = self.policy.worths(columns)
        return worth, columns


def _summed(counted: Sequence[Mapping[str, int]], terms: Sequence[str]) -> list[int]:
    return [sum([each.get(term, 0) for each in counted]) for term in terms]


def hit_of(scored: Scored, memory: Memory, page: Page, urgency: float | None = None) -> Hit:
    """Return the hit. An `urgency` marks one that is due for review."""
    columns, number = scored.columns, scored.number
    # The features that its score follows from, without those of 0.
    why = {name: value for name in page.reasons if name in columns and (value := float(columns[name][number]))}
    if urgency is not None:
        why["review"] = urgency
    passage = snippet(memory.text, page.telling, scored.evidence.near)
    return Hit(memory, page.policy.score(scored.worth), why, passage, scored.evidence.overturned)


def plan_of(page: Page, shown: Collection[Key], *, first: bool) -> dict[str, Any]:
    """Return the plan. `shown` are the keys of the candidates on the page."""
    reading, policy, gathered, arranged = page.question.reading, page.policy, page.gathered, page.arranged
    assert gathered is not None
    assert arranged is not None
    pool = gathered.pool
    arms = {name: dict(told) for name, told in gathered.arms.items()}
    if "text" in arms:
        looked_up = round(arms["text"]["ms"] + page.told.get("ms", 0.0), 3)
        arms["text"] |= {"terms": page.terms, "ms": looked_up, "banks": page.told.get("banks", {})}
    return {
        "policy": policy.name,
        "scoring": policy.scoring,
        "weights": dict(policy.weights),
        "arms": arms,
        "left_out": dict(gathered.left_out),
        "truncated": truncated(reading.considered, page.walk.pins.frequencies, reading.beyond) if page.terms else {},
        "kept_for_rules": [pool.ids[number] for number in arranged.forward if pool.keys[number] in shown],
        "folded": _folded(page, shown),
        "page": "first" if first else "next",
    }


def _folded(page: Page, shown: Collection[Key]) -> dict[str, list[str]]:
    """Return the ids of the copies that each shown hit replaces."""
    assert page.gathered is not None
    assert page.arranged is not None
    pool = page.gathered.pool
    folded = {
        pool.ids[number]: [pool.ids[copy] for copy in copies]
        for number, copies in page.arranged.copies.items()
        if pool.keys[number] in shown
    }
    for id, copies in page.passed_over.items():
        folded[id] = list(dict.fromkeys([*folded.get(id, ()), *copies]))
    return folded
