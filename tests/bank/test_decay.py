"""Fading on real banks: the formula decides what recall, collection, review and promotion find."""

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.contract.store_helpers import HandClock

import pieria
from pieria.bank import Bank

Opened = Callable[..., Bank]
DAY = timedelta(days=1)
LASTING = ("drawer", "observation", "turn", "diary")
LEFT: dict[str, Callable[[float], float]] = {
    "power_law": lambda days: (1 + days / (3 / (2 ** (1 / 1.1) - 1))) ** -1.1,
    "exponential": lambda days: math.exp(-2.673e-6 * 86_400 * days),
    "two_component": lambda days: 0.7 * math.exp(-1.603e-5 * 86_400 * days) + 0.3 * math.exp(-1.147e-6 * 86_400 * days),
}
"""The formulas again, copied from the document, not from the code."""


def left(bank: Bank, id: str) -> float:
    """Return the retention that recall reports."""
    [hit] = [hit for hit in bank.recall("heron", policy="decay") if hit.memory.id == id]
    return hit.why["retention"]


def collected(bank: Bank, **values: Any) -> dict[str, float]:
    return {one.memory.id: one.retained for one in bank.upkeep.gc(**values).faded}


def promoted(bank: Bank) -> list[str]:
    return [one.memory.id for one in bank.upkeep.promote(dry_run=True).promoted]


def test_new_or_unused_memory_is_not_promoted(opened: Opened, clock: HandClock) -> None:
    bank = opened()
    for number in range(3):
        bank.remember(f"trivia {number}", id=f"t{number}", strength=2.0)
    bank.remember("brought along", id="brought", at=clock().replace(year=clock().year - 1))
    bank.touch(["t1", "t2", "brought"])
    for hours, expected in ((0, ["brought"]), (23, ["brought"]), (2, ["t1", "t2", "brought"])):
        clock.move(hours=hours)
        assert sorted(promoted(bank)) == sorted(expected)
    # To be corrected today does not make a memory new.
    bank.update("t1", text="corrected today")
    assert "t1" in promoted(bank)


def test_rewording_counts_as_use_but_archiving_does_not(bank: Bank, clock: HandClock) -> None:
    bank.remember("The heron nests by the mill.", id="one")
    bank.remember("The heron eats frogs.", id="other")
    bank.remember("The heron is grey.", id="newly", at=clock.now - timedelta(days=900))
    assert left(bank, "newly") == 1.0
    bank.touch("other")
    clock.move(days=30)
    bank.update("one", status="archived", tier="kept")
    bank.update("other", text="The heron eats frogs and fish.")
    clock.move(days=30)
    assert collected(bank, threshold=1.0) == pytest.approx(
        {"one": 0.040, "newly": 0.040, "other": 0.081 * 2**0.6}, abs=0.001
    )


def test_doctor_names_settings_and_stores_of_other_tools(
    opened: Opened, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def finding(bank: Bank, check: str) -> Any:
        [found] = [found for found in bank.doctor().findings if found.check == check]
        assert found.well
        return found

    monkeypatch.setenv("MNEMEX_STORAGE_BACKEND", "sqlite")
    monkeypatch.setenv("CORTEXGRAPH_DECAY_MODEL", "exponential")
    bank = opened()
    assert finding(bank, "environment").detail.startswith("MNEMEX_STORAGE_BACKEND has no effect:")
    assert bank.doctor().settings["decay_model"] == ("exponential", "environment CORTEXGRAPH_DECAY_MODEL")
    # A store of Mnemex in the data folder is reported once and not imported.
    monkeypatch.delenv("PIERIA_DATA")
    monkeypatch.setenv("MNEMEX_STORAGE_PATH", str(tmp_path / "mnemex"))
    (tmp_path / "mnemex").mkdir()
    (tmp_path / "mnemex" / "memories.jsonl").write_text('{"id": "one", "content": "a note"}\n')
    for told in (1, 0):
        caplog.clear()
        with pieria.open("notes") as bank:
            assert bank.count() == 0 and "--from mnemex" in finding(bank, "import").remedy
        assert [record.levelname for record in caplog.records] == ["WARNING"] * told


# --- many memories over many days


@dataclass
class Kept:
    """The test's record of one memory."""

    last: datetime
    strength: float
    fades: bool
    uses: int = 0


class Life:
    """A bank in which a few memories are used every day, the first ones most often."""

    def __init__(self, bank: Bank, clock: HandClock, model: str, size: int) -> None:
        self.bank, self.clock, self.model, self.drawn = bank, clock, model, random.Random(7)
        self.kept: dict[str, Kept] = {}
        self.gone: set[str] = set()
        bank.remember_many([self._one(f"m{number}") for number in range(size)])

    def _one(self, id: str) -> dict[str, Any]:
        drawn = self.drawn
        kind = drawn.choice(LASTING) if drawn.random() < 0.2 else "note"
        strength = drawn.choice([0.5, 1.0, 1.0, 1.5, 2.0])
        pinned, important = drawn.random() < 0.03, drawn.random() < 0.03
        self.kept[id] = Kept(self.clock.now, strength, kind == "note" and not pinned and not important)
        more = {"pinned": pinned, "importance": 0.9 if important else 0.5}
        return {"id": id, "text": f"Heron {id} at the mill.", "kind": kind, "strength": strength, **more}

    def pass_by(self, days: int, number: int) -> None:
        """Move the clock by so many days, then use so many memories."""
        self.clock.move(days=days)
        there = [id for id in self.kept if id not in self.gone]
        used = list({there[int(len(there) * self.drawn.random() ** 3)] for _ in range(number)})
        self.bank.touch(used)
        for id in used:
            self.kept[id].last = self.clock.now
            self.kept[id].uses += 1

    def score(self, id: str) -> float:
        one = self.kept[id]
        left: float = LEFT[self.model]((self.clock.now - one.last) / DAY)
        return float(left * (one.uses + 1) ** 0.6 * one.strength)

    def faded(self, below: float = 0.05) -> dict[str, float]:
        fading = {id: self.score(id) for id, one in self.kept.items() if one.fades and id not in self.gone}
        return {id: score for id, score in fading.items() if score < below}

    def collect(self) -> None:
        expected = self.faded()
        assert collected(self.bank, dry_run=False) == pytest.approx(expected)
        self.gone |= expected.keys()


@pytest.mark.parametrize(
    ("model", "size", "uses", "days"),
    [*((model, 200, 6, 5) for model in LEFT), pytest.param("power_law", 5_000, 50, 2, marks=pytest.mark.slow)],
)
def test_over_a_year_exactly_the_faded_memories_go(
    opened: Opened, clock: HandClock, model: str, size: int, uses: int, days: int
) -> None:
    life = Life(opened(decay_model=model), clock, model, size)
    bank, kept = life.bank, life.kept
    clock.move(hours=23)
    assert [one for one in bank.upkeep.promote(dry_run=True).promoted if one.why == "strong"] == []
    clock.move(hours=-23)
    for day in range(days, 401, days):
        life.pass_by(days, uses)
        if day % 100 == 0:
            life.collect()
    assert {memory.id for memory in bank.list(limit=10_000)} == kept.keys() - life.gone
    assert life.gone and all(kept[id].fades for id in life.gone), "nothing pinned, important or of a lasting kind went"
    due = {one.memory.id for one in bank.upkeep.due(10_000)}
    assert due == {id for id, score in life.faded(below=0.35).items() if score > 0.15}
    strong = {id for id, one in kept.items() if id not in life.gone and one.uses and life.score(id) >= 0.65}
    assert {*promoted(bank)} == strong
    for id in life.gone:
        assert bank.restore(id).id == id
    assert bank.count() == len(kept)


def test_older_exact_match_stands_before_newer_partial_ones(
    bank: Bank, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pieria.store.sql.text.FREQUENT", 400)
    exact = "The billing service rotates its JWT signing keys every ninety days."
    theirs = exact.rstrip(".").split()
    others = ["deploy", "cache", "index", "queue", "parser", "token", "review", "sprint", "ticket", "branch"]
    drawn = random.Random(3)
    bank.remember(exact, id="exact")
    clock.move(days=3)
    texts = [" ".join(drawn.sample(theirs, drawn.randint(1, 5)) + drawn.sample(others, 5)) for _ in range(2_000)]
    bank.remember_many(
        {"id": f"n{n}", "text": text, "strength": drawn.choice([1.0, 2.0])} for n, text in enumerate(texts)
    )
    bank.touch([f"n{number}" for number in range(0, 2_000, 100)], accesses=50)
    for question in (exact, "billing service rotates JWT signing keys", "JWT keys: rotated every ninety days"):
        assert bank.recall(question, k=3, policy="decay")[0].memory.id == "exact"
    assert bank.recall(exact, policy="decay", review=True, least_retention=0.4)[0].memory.id == "exact"
