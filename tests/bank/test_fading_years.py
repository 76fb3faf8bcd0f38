"""Many memories over many days of random use: collection follows the formula and takes no other memory."""

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.contract.making import HandClock

from pieria.bank import Bank

DAY = timedelta(days=1)
LASTING = ("drawer", "observation", "turn", "diary")
LEFT: dict[str, Callable[[float], float]] = {
    "power_law": lambda days: (1 + days / (3 / (2 ** (1 / 1.1) - 1))) ** -1.1,
    "exponential": lambda days: math.exp(-2.673e-6 * 86_400 * days),
    "two_component": lambda days: 0.7 * math.exp(-1.603e-5 * 86_400 * days) + 0.3 * math.exp(-1.147e-6 * 86_400 * days),
}
"""The formulas again, copied from the document, not from the code."""


@dataclass(frozen=True)
class Kept:
    """The test's record of one memory."""

    last: datetime
    uses: int
    strength: float
    fades: bool

    def score(self, model: str, now: datetime) -> float:
        return float((self.uses + 1) ** 0.6 * LEFT[model]((now - self.last) / DAY) * self.strength)


class Life:
    """A bank in which a few memories are used every day, the first ones most often."""

    def __init__(self, bank: Bank, clock: HandClock, model: str, size: int, seed: int) -> None:
        self.bank, self.clock, self.model, self.drawn = bank, clock, model, random.Random(seed)
        self.kept: dict[str, Kept] = {}
        self.gone: set[str] = set()
        bank.remember_many([self._one(f"m{number}") for number in range(size)])

    def _one(self, id: str) -> dict[str, Any]:
        drawn = self.drawn
        kind = drawn.choice(LASTING) if drawn.random() < 0.2 else "note"
        strength = drawn.choice([0.5, 1.0, 1.0, 1.5, 2.0])
        pinned, important = drawn.random() < 0.03, drawn.random() < 0.03
        self.kept[id] = Kept(self.clock.now, 0, strength, kind == "note" and not pinned and not important)
        text = f"{drawn.choice(['Heron', 'Stork', 'Crane'])} number {id} at the mill."
        return {
            "id": id, "text": text, "kind": kind, "strength": strength, "pinned": pinned,
            "importance": 0.9 if important else 0.5,
        }  # fmt: skip

    def pass_by(self, days: int, number: int) -> None:
        """Move the clock by so many days, then use so many memories."""
        self.clock.now += days * DAY
        there = [id for id in self.kept if id not in self.gone]
        used = list({there[int(len(there) * self.drawn.random() ** 3)] for _ in range(number)})
        self.bank.touch(used)
        for id in used:
            self.kept[id] = replace(self.kept[id], last=self.clock.now, uses=self.kept[id].uses + 1)

    def faded(self, below: float = 0.05) -> dict[str, float]:
        now = self.clock.now
        scores = {id: one.score(self.model, now) for id, one in self.kept.items() if one.fades and id not in self.gone}
        return {id: score for id, score in scores.items() if score < below}

    def collect(self) -> None:
        expected = self.faded()
        done = self.bank.upkeep.gc(dry_run=False)
        assert {one.memory.id: one.retained for one in done.faded} == pytest.approx(expected)
        self.gone |= expected.keys()


@pytest.fixture
def lived(opened: Callable[..., Bank], clock: HandClock) -> Iterator[Callable[[str, int, int, int], Life]]:
    def made(model: str, size: int, uses: int, days: int) -> Life:
        life = Life(opened(decay_model=model), clock, model, size, seed=7)
        for day in range(days, 401, days):
            life.pass_by(days, uses)
            if day == days == 1:
                assert_nothing_new_is_promoted(life)
            if day % 100 == 0:
                life.collect()
        return life

    yield made


def assert_nothing_new_is_promoted(life: Life) -> None:
    life.clock.now -= timedelta(hours=1)
    assert [one for one in life.bank.upkeep.promote(dry_run=True).promoted if one.why == "strong"] == []
    life.clock.now += timedelta(hours=1)


def assert_all_is_as_the_formula_says(life: Life) -> None:
    bank, kept = life.bank, life.kept
    assert {memory.id for memory in everything(bank)} == kept.keys() - life.gone
    assert life.gone and all(kept[id].fades for id in life.gone), "nothing pinned, important or of a lasting kind went"
    due = {one.memory.id for one in bank.upkeep.due(10_000)}
    assert due == {id for id, score in life.faded(below=0.35).items() if score > 0.15}
    promoted = {one.memory.id: one for one in bank.upkeep.promote(dry_run=True).promoted}
    strong = {
        id
        for id, one in kept.items()
        if id not in life.gone and one.uses and one.score(life.model, life.clock.now) >= 0.65
    }
    assert promoted.keys() == strong
    for id in life.gone:
        assert bank.restore(id).id == id
    assert bank.count() == len(kept)


def everything(bank: Bank) -> Iterator[Any]:
    cursor = None
    while True:
        page = bank.list(limit=10_000, cursor=cursor)
        yield from page
        cursor = page.cursor
        if cursor is None:
            return


@pytest.mark.parametrize("model", LEFT)
def test_over_the_days_what_goes_is_what_the_formula_says(
    lived: Callable[[str, int, int, int], Life], model: str
) -> None:
    assert_all_is_as_the_formula_says(lived(model, 200, 6, 5))


@pytest.mark.slow
def test_so_it_is_with_ten_thousand_memories_over_400_days(lived: Callable[[str, int, int, int], Life]) -> None:
    assert_all_is_as_the_formula_says(lived("power_law", 10_000, 50, 1))


def test_an_exact_match_of_three_days_stands_before_ten_thousand_newer_ones_that_match_in_part(
    opened: Callable[..., Bank],
    clock: HandClock,
) -> None:
    bank = opened()
    exact = "The billing service rotates its JWT signing keys every ninety days."
    theirs = exact.rstrip(".").split()
    others = ["deploy", "cache", "index", "queue", "parser", "token", "review", "sprint", "ticket", "branch"]
    drawn = random.Random(3)
    bank.remember(exact, id="exact")
    clock.move(days=3)
    bank.remember_many(
        [
            {
                "id": f"n{number}",
                "text": " ".join(drawn.sample(theirs, drawn.randint(1, 5)) + drawn.sample(others, 5)),
                "strength": drawn.choice([1.0, 2.0]),
            }
            for number in range(10_000)
        ]
    )
    bank.touch([f"n{number}" for number in range(0, 10_000, 500)], accesses=50)
    for question in (exact, "billing service rotates JWT signing keys", "JWT keys: rotated every ninety days"):
        assert bank.recall(question, k=3, policy="decay")[0].memory.id == "exact"
    found = bank.recall(exact, k=10, policy="decay", review=True, least_retention=0.4)
    assert found[0].memory.id == "exact"
