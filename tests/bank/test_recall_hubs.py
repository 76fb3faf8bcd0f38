"""Hubs with many links, facts or memories: no look-up reads too much, and hidden rows displace no visible ones."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import pieria
from pieria.bank import Bank
from pieria.recall.arms import ARMS, LINKS_SEEN, QUOTA, RULES, RULES_SEEN
from pieria.recall.scores import WEIGHTS

NOW = datetime(2026, 3, 18, 12, tzinfo=UTC)
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def letters(texts: list[str]) -> list[list[float]]:
    return [[1.0 + text.lower().count(letter) for letter in LETTERS] for text in texts]


def alone(arm: str) -> dict[str, float]:
    return {name: float(name in ARMS[arm].features) for name in WEIGHTS}


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., Bank]]:
    with pieria.Workspace(
        data=tmp_path, settings={"durability": "off"}, clock=lambda: NOW, embedder=letters
    ) as workspace:
        yield workspace.open


def drawn(bank: Bank, id: str, **values: object) -> None:
    """Remember a memory that does not name Vienna, and a fact about Vienna drawn from it."""
    bank.remember(f"It was there, number {id}.", id=id, **values)  # type: ignore[arg-type]
    bank.facts.add("Vienna", "holds", f"thing {id}", memory=id)


HIDING: dict[str, dict[str, object]] = {
    "a session's own": {"scope": "session"},
    "held until yesterday": {"valid_until": "2026-03-17"},
    "of another kind": {"kind": "diary"},
}


@pytest.mark.parametrize("hiding", HIDING)
def test_facts_of_what_is_not_asked_for_leave_room_for_those_that_are(
    opened: Callable[..., Bank], monkeypatch: pytest.MonkeyPatch, hiding: str
) -> None:
    monkeypatch.setattr("pieria.recall.arms.FACTS_SEEN", 5)
    bank = opened("notes")
    drawn(bank, "seen")
    for number in range(6):
        drawn(opened("notes", session="else"), f"hidden {number}", **HIDING[hiding])
        bank.facts.add("Vienna", "has", f"district {number}")
    found = bank.recall("what holds Vienna?", weights=alone("facts"), kinds=["note"])
    assert [hit.memory.id for hit in found] == ["seen"]


def test_facts_that_hold_no_more_leave_room_for_those_that_do(
    opened: Callable[..., Bank], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pieria.recall.arms.FACTS_SEEN", 5)
    bank = opened("notes")
    drawn(bank, "seen")
    for number in range(6):
        bank.remember(f"It was there, number {number}.", id=f"m{number}")
        bank.facts.add("Vienna", "held", f"x {number}", memory=f"m{number}", valid_until="2026-03-17")
    found = bank.recall("what holds Vienna?", weights=alone("facts"))
    assert [hit.memory.id for hit in found] == ["seen"]


def test_of_many_links_the_last_that_were_made_count(opened: Callable[..., Bank]) -> None:
    bank = opened("notes")
    bank.remember("The hub.", id="hub")
    ends = bank.remember_many([{"id": f"n{n:03}", "text": f"Elsewhere {n}."} for n in range(3 * LINKS_SEEN)])
    for n, end in enumerate(ends):
        bank.link(*(("hub", end.id) if n % 2 else (end.id, "hub")), "related")
    bank.remove(ends[-1].id)
    bank.unlink("hub", ends[-3].id)
    found = bank.recall("the hub", weights={**alone("links"), "lexical": 0.5}, k=100)
    assert {hit.memory.id for hit in found} >= {"hub"}
    with bank.core.store.reading() as reader:
        filter = bank.core.filter()
        tied = reader.tied(["hub"], filter, LINKS_SEEN)["hub"]
        shown = [memory.id for memory in map(reader.memories(tied, filter).__getitem__, tied)]
    forth = [end.id for n, end in enumerate(ends) if n % 2 and n < len(ends) - 3]
    back = [end.id for n, end in enumerate(ends) if not n % 2]
    assert shown == [*forth[::-1][:LINKS_SEEN], *back[::-1][:LINKS_SEEN]]
    ids = {hit.memory.id for hit in found} - {"hub"}
    assert ids and ids <= set(shown)


def test_what_bears_a_label_comes_by_when_it_was_written(opened: Callable[..., Bank]) -> None:
    bank = opened("notes")
    bank.remember_many(
        [{"id": f"n{n:03}", "text": f"Nothing {n}.", "entities": ["Vienna"], "at": "2026-01-01"} for n in range(60)]
    )
    bank.remember("Not for all.", id="own", entities=["Vienna"], scope="session", session="else")
    bank.remove("n059")
    found = bank.recall("who was in Vienna?", weights=alone("entities"), k=QUOTA)
    assert {hit.memory.id for hit in found} == {f"n{n:03}" for n in range(58, 58 - QUOTA, -1)}


RULE = "Always ask about the quay before you write a letter."


def rules(bank: Bank) -> None:
    bank.remember(RULE, id="oldest", author_type="human")
    bank.remember_many(
        [
            {"id": f"r{n}", "text": f"Always put {'bed' * (n % 9 + 1)} {n} in the letter.", "author_type": "human"}
            for n in range(RULES_SEEN + 10)
        ]
    )
    assert bank.sync(60)


def test_of_more_rules_than_are_looked_at_one_by_one_the_nearest_is_found_all_the_same(
    opened: Callable[..., Bank],
) -> None:
    bank = opened("notes")
    rules(bank)
    found = bank.recall("Write me a letter about the quay.", weights=alone("rules"), k=RULES)
    assert "oldest" in {hit.memory.id for hit in found}
    assert found.plan["arms"]["rules"]["newest"] == RULES_SEEN


def test_by_words_the_newest_rules_are_taken_and_the_plan_tells_so(tmp_path: Path) -> None:
    settings = {"durability": "off", "embedder": "none"}
    with pieria.open("notes", data=tmp_path, settings=settings, clock=lambda: NOW) as bank:
        for number in range(RULES):
            bank.remember(f"Always greet number {number}.", author_type="human")
        assert "newest" not in bank.recall("Write me a letter.", weights=alone("rules")).plan["arms"]["rules"]
        bank.remember(RULE, author_type="human")
        found = bank.recall("Write me a letter.", weights=alone("rules"), k=100)
        assert found.plan["arms"]["rules"]["newest"] == RULES == len(found)
