"""One page in the making: looks up, gathers, scores, and knows of every candidate what its score follows from."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter
from typing import Any

from pieria.recall.arms import ARMS, QUOTA
from pieria.recall.bm25 import Corpus, Ranked, ranked
from pieria.recall.candidates import Gathered, Gathering, Wanted
from pieria.recall.certainty import confidence
from pieria.recall.evidence import Key
from pieria.recall.features import Columns, features, of_use
from pieria.recall.order import Arranged, arranged, spread
from pieria.recall.part import Source
from pieria.recall.policies import FEATURES, OF_USE, Policy, relevance
from pieria.recall.pool import Candidate, Floats, Pool
from pieria.recall.query import Reading
from pieria.recall.query_terms import TERMS_LIMIT, rarest
from pieria.recall.walk import Walk
from pieria.record import effort
from pieria.record.decay import Fading, Wear
from pieria.record.usage import UNUSED
from pieria.store.protocol import TextMatch

EVERYTHING = 1 << 40
WIDER = 8
"""How many times as much is gathered where too much has faded."""
DUE_WANT = 400
"""The least of what shares words with the question among which is looked for what is due for a review."""
TEXT_WANT = 40
"""The least of what shares words with the question that a first page chooses from."""
LEAST_BUDGET, ROWS_A_SECOND = 200, 500_000
"""How many rows of the text index are looked through at least, and how many where there is little time."""


SHORT = 400
"""Characters up to which a text is looked through for what an answer has to hold."""
BESIDE = 0.5
"""What is worth less than this share of the best is beside the point."""
NEAR = 0.3
"""Below so much two texts hardly have a meaning in common."""


@dataclass(frozen=True, slots=True)
class Question:
    """`mark` tells its cursors from others'. `deadline` is a reading of `perf_counter`."""

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
    """Only what holds something of the question itself, and not what only stands beside such."""
    min_confidence: float = 0.0
    """Only what answers: nothing where it is less sure than this that the answer is there, and nothing that is worth
    much less than the best."""
    least_left: float = 0.0
    """How much must be left of what is found."""
    review: float = 0.0
    """How many memories that are due for a review come with the answers, as a share of these."""
    fades: tuple[str, ...] = ()
    """Kinds that may be forgotten: nothing else is ever due."""

    @property
    def by_relevance(self) -> bool:
        """Whether only what is worth enough is shown, even if it is less than was asked for."""
        return self.min_score > 0 or self.min_confidence > 0

    @property
    def by_fading(self) -> bool:
        return self.least_left > 0 or self.review > 0


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with what it is worth, and the columns that this follows from."""

    evidence: Candidate
    worth: float
    columns: Columns

    @property
    def number(self) -> int:
        return self.evidence.number


class Ranking(Mapping[int, Scored]):
    """Every candidate that was scored, by the code of its row; an object is made of those that are asked for."""

    def __init__(self, pool: Pool, worth: Floats, columns: Columns, codes: Sequence[int]) -> None:
        self._pool, self._worth, self.columns = pool, worth, columns
        self._numbers = {code: number for number, code in enumerate(codes)}

    def __getitem__(self, code: int) -> Scored:
        number = self._numbers[code]
        return Scored(self._pool.candidate(number), float(self._worth[number]), self.columns)

    def __contains__(self, code: object) -> bool:
        return code in self._numbers

    def __iter__(self) -> Iterator[int]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)


@dataclass(slots=True)
class Page:
    """Look-ups leave behind what the plan tells of them."""

    sources: Sequence[Source]
    question: Question
    walk: Walk
    policy: Policy = field(init=False)
    reasons: list[str] = field(init=False)
    """The features that may decide something by this policy."""
    terms: list[str] = field(default_factory=list)
    known: Corpus | None = None
    matches: list[TextMatch] = field(default_factory=list)
    gathered: Gathered | None = None
    arranged: Arranged | None = None
    """As of the first time that candidates were ranked: further ones come by words alone."""
    scored: Mapping[int, Scored] = field(default_factory=dict)
    """Every candidate that was scored for this page, by the code of its row."""
    order: list[int] = field(default_factory=list)
    """The codes of what was ranked that first time, best first and copies folded."""
    best: float = 0.0
    """What the best of the candidates is worth."""
    passed_over: dict[str, list[str]] = field(default_factory=dict)
    """Copies that came later than what they repeat: by the id that is shown, the ids that are not."""
    told: dict[str, Any] = field(default_factory=dict)
    """What the plan says of looking words up: how long it took and, by bank, what came of it."""

    def __post_init__(self) -> None:
        has_vector = any(source.vector is not None for source in self.sources)
        self.policy = self.question.policy if has_vector else self.question.policy.by_words()
        self.reasons = [name for name in FEATURES if self.policy.needs((name,))]

    # --- words

    def look_up(self, want: int, budget: int) -> None:
        """What the text index holds of the question, which is also how much its terms weigh."""
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
        """How often each considered term occurs, without looking any up; of a long question the rarest are kept."""
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
        """Asks by the terms of the pins, and weighs by their counts."""
        self.terms = list(self.walk.pins.asked(self.question.reading.considered))
        self.known = self.walk.pins.corpus(self.question.reading.considered)

    def choose(self, k: int) -> list[int]:
        """The codes of all that the first look-ups bring and that scores enough, in the order in which it is shown."""
        if not self.policy.needs(ARMS["text"].features):
            self.count_terms()
            self.terms = []
            return self.rank(max(QUOTA, k))
        self.terms = list(self.question.reading.considered)
        if len(self.terms) > TERMS_LIMIT:
            self.count_terms()
        # One more than is shown: so it is known whether there is more.
        want = max(TEXT_WANT, k + 1) if self.question.review <= 0 else max(DUE_WANT, k + 1)
        self.look_up(want, self._budget())
        order = self.rank(max(QUOTA, k))
        return order if self.question.least_left <= 0 else self._widened(order, k)

    def _widened(self, order: list[int], k: int) -> list[int]:
        """More and more is gathered until enough of it is not faded, or there is no more to gather."""
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
        """All that was looked up, best by words first."""
        assert self.known is not None
        return ranked(self.matches, self.known)

    # --- everything else

    def rank(self, want: int, codes: Sequence[int] = ()) -> list[int]:
        """Gathers and scores. Returns the codes of what scores enough, in the order in which it is shown.

        With codes these are the candidates, and none are chosen.
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
        codes_of = [self.walk.code(*key) for key in pool.keys]
        self.scored = Ranking(pool, worth, columns, codes_of)
        self.best = float(worth.max(initial=0.0))
        if not codes:
            sure = confidence(gathered.asked, columns, pool, partial(self._texts, pool))
            self.walk = replace(self.walk, pins=replace(self.walk.pins, confidence=sure))
        order = [codes_of[number] for number in shown.order]
        self.order = self.order or order
        if not self._is_picky:
            return order
        return [code for code in order if self.passes(self.scored[code])]

    def _texts(self, pool: Pool, numbers: Sequence[int]) -> list[str | None]:
        """Of the candidates with these numbers, those that are short."""
        found: dict[Key, str] = {}
        for which, source in enumerate(self.sources):
            rows = [row for of, row in (pool.keys[number] for number in numbers) if of == which]
            held = source.reader.contents(rows) if rows else {}
            found |= {(which, row): content.text for row, content in held.items() if len(content.text) <= SHORT}
        return [found.get(pool.keys[number]) for number in numbers]

    @property
    def _is_picky(self) -> bool:
        """Whether anything of what was ranked may not pass."""
        question = self.question
        return question.by_relevance or question.matching or question.least_left > 0

    @property
    def is_late(self) -> bool:
        return perf_counter() >= self.question.deadline or effort.is_late()

    def leave_further(self, reason: str) -> None:
        """The plan says why the page does not go on to everything that shares a word."""
        assert self.gathered is not None
        self.gathered.left_out["further"] = reason

    @property
    def telling(self) -> Mapping[str, float]:
        """What is looked for in texts, and how much each word tells."""
        weights = {} if self.known is None else self.known.weights
        return {term: weights.get(term, 0.0) for term in self.terms}

    def withhold(self) -> None:
        """Shows nothing, on this page or a later one, for what was found is likely no answer."""
        assert self.gathered is not None
        self.walk = replace(self.walk, stage="done", listed=())
        self.gathered.left_out["hits"] = f"the confidence is below {self.question.min_confidence:g}"

    def score(self, scored: Scored) -> float:
        return self.policy.score(scored.worth)

    def passes(self, scored: Scored) -> bool:
        """Whether it scores enough, and enough of it is left; and holds something of the question, where it must."""
        if self.score(scored) < self.question.min_score:
            return False
        if self.question.min_confidence > 0 and scored.worth < BESIDE * self.best:
            return False
        if self.question.matching and not self._matches(scored):
            return False
        return self.question.least_left <= 0 or self.left(scored.evidence) >= self.question.least_left

    def _matches(self, scored: Scored) -> bool:
        """It holds words that are asked for, or is near in meaning."""
        return bool(scored.columns["cover"][scored.number] or (scored.evidence.dense or 0.0) >= NEAR)

    def left(self, one: Candidate) -> float:
        """Its score as it fades, whatever the question."""
        return self.question.fading.of(one.wear, self.question.reading.now)

    def left_of(self, entries: Sequence[Ranked]) -> list[tuple[Ranked, float]]:
        """Each that may be seen with what is left of it, without gathering all else that is known of them."""
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

    def why(self, scored: Scored) -> dict[str, float]:
        """The features that its worth follows from, those of its relevance among them; one of 0 is no reason."""
        columns, number = scored.columns, scored.number
        return {name: value for name in self.reasons if name in columns and (value := float(columns[name][number]))}


def _summed(counted: Sequence[Mapping[str, int]], terms: Sequence[str]) -> list[int]:
    return [sum(each.get(term, 0) for each in counted) for term in terms]
