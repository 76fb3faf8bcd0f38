"""Recall can leave out faded memories, and adds fading ones for a review beside the answers."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from tests.contract.making import HandClock

from pieria.bank import Bank
from pieria.errors import InputError
from pieria.recall.answer import Recall
from pieria.record.link import DRAWN_FROM


@pytest.fixture
def bank(opened: Callable[..., Bank], clock: HandClock) -> Bank:
    """Return a bank with three notes on herons and one on bread, eight days old, and thirty new ones on herons."""
    bank: Bank = opened()
    for number in range(3):
        bank.remember(f"The heron number {number} nests by the old mill.", id=f"due{number}", tags=["bird"])
    bank.remember("Bread is baked with sourdough by the old mill.", id="bread")
    clock.move(days=8)
    for number in range(30):
        bank.remember(f"The heron was seen at the mill, report {number}.", id=f"new{number}")
    return bank


def ids(found: Recall) -> list[str]:
    return [hit.memory.id for hit in found]


def reviewed(found: Recall) -> list[str]:
    return [hit.memory.id for hit in found if "review" in hit.why]


def test_what_was_used_since_is_found_and_listed_and_nothing_else(bank: Bank, clock: HandClock) -> None:
    bank.touch("due1")
    yesterday = clock.now - timedelta(days=1)
    assert ids(bank.recall("nests", used_since=yesterday)) == ["due1"]
    assert bank.count(used_since=yesterday) == 31
    assert "due1" in {memory.id for memory in bank.list(used_since=yesterday, tags=["bird"])}
    assert bank.count(used_since=clock.now - timedelta(days=9)) == 34


def test_of_what_has_faded_none_is_found_and_still_as_many_as_were_asked_for(bank: Bank, clock: HandClock) -> None:
    clock.move(days=30)
    for number in range(3):
        bank.remember(f"Herons are grey, says book {number}.", id=f"book{number}")
    for k in (1, 2, 3, 10):
        for policy in ("hybrid", "decay", "similarity"):
            found = bank.recall("heron mill report nests", k=k, least_retention=0.5, policy=policy)
            assert {"book0", "book1", "book2"} >= set(ids(found))
            assert len(found) == min(k, 3)
    bank.touch("due0", accesses=20)
    assert ids(bank.recall("heron nests", k=1, least_retention=4.0)) == ["due0"]
    first = bank.recall("heron mill", k=2, least_retention=0.5)
    rest = bank.recall("heron mill", k=5, least_retention=0.5, cursor=first.cursor)
    assert sorted(ids(first) + ids(rest)) == ["book0", "book1", "book2", "due0"]


def test_what_is_due_comes_beside_the_answers_and_takes_no_place_of_theirs(bank: Bank) -> None:
    question = "Where was the heron seen at the mill?"
    plain, found = bank.recall(question, k=6), bank.recall(question, k=6, review=True)
    assert reviewed(plain) == []
    assert reviewed(found) == ["due0", "due1"]
    assert [id for id in ids(found) if id not in reviewed(found)] == ids(plain)
    assert ["review" in hit.why for hit in found] == [False, False, True, False, False, True, False, False]
    assert all(0 < hit.why["review"] <= 1 for hit in found if "review" in hit.why)


def test_nothing_comes_twice_on_any_page(bank: Bank) -> None:
    found, seen = bank.recall("heron mill", k=5, review=0.6), []
    while True:
        seen += ids(found)
        if found.cursor is None:
            break
        found = bank.recall("heron mill", k=5, review=0.6, cursor=found.cursor)
    assert len(seen) == len(set(seen)) == 34


def test_what_is_due_passes_every_filter_and_has_to_do_with_the_question(bank: Bank) -> None:
    assert "bread" not in reviewed(bank.recall("heron report", k=4, review=1.0))
    assert reviewed(bank.recall("heron report", k=4, review=1.0, since="2026-03-09")) == []
    assert reviewed(bank.recall("heron", k=4, review=0.0)) == []
    shown = bank.recall("heron nests", k=1, review=1.0, tags="bird")
    assert (len(shown), len(reviewed(shown))) == (2, 1)
    assert reviewed(bank.recall("heron nests", k=3, review=1.0, tags="bird")) == []


def test_what_is_due_fits_into_the_tokens_that_are_left(bank: Bank) -> None:
    whole = bank.recall("heron mill", k=4, review=True)
    assert len(whole) == 6
    tokens = sum(len(hit.memory.text) // 3 for hit in whole if "review" not in hit.why)
    assert len(bank.recall("heron mill", k=4, review=True, budget_tokens=tokens)) < 6


def test_where_nothing_is_due_or_there_are_few_answers_none_is_lost(bank: Bank, clock: HandClock) -> None:
    clock.move(days=300)
    assert ids(bank.recall("heron", k=10, review=True)) == ids(bank.recall("heron", k=10))
    assert ids(bank.recall("sourdough", k=10, review=True)) == ids(bank.recall("sourdough", k=10))
    assert ids(bank.recall("zebra", review=True)) == ids(bank.recall("", review=1.0)) == []


@pytest.mark.parametrize(
    "values", [{"review": 1.5}, {"review": "yes"}, {"least_retention": -1}, {"used_since": "soon"}]
)
def test_what_cannot_be_right_is_named(bank: Bank, values: dict[str, object]) -> None:
    with pytest.raises(InputError) as caught:
        bank.recall("heron", **values)  # type: ignore[arg-type]
    assert caught.value.parameter == next(iter(values))


def test_what_upkeep_may_not_forget_is_never_due(bank: Bank) -> None:
    assert len(reviewed(bank.recall("heron mill", k=6, review=True))) == 2
    bank.pin("due0")
    bank.update("due1", importance=0.9)
    assert reviewed(bank.recall("heron mill", k=6, review=True)) == ["due2"]
    bank.update("due2", tier="settled")
    assert reviewed(bank.recall("heron mill", k=6, review=True)) == []


def test_what_others_were_drawn_from_is_kept_and_so_never_due(bank: Bank) -> None:
    question = "Where was the heron seen at the mill?"
    bank.link("new0", "due0", DRAWN_FROM)
    assert {one.memory.id for one in bank.upkeep.due()} == {"due1", "due2", "bread"}
    assert bank.upkeep.curve("due0").collected is None
    assert bank.upkeep.curve("due1").collected is not None
    assert reviewed(bank.recall(question, k=6, review=True)) == ["due1", "due2"]
