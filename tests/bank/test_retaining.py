"""The retention of memories without a question, and a plain recall by words that counts no use."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.bank.kept import Kept
from tests.contract.making import HandClock

import pieria
from pieria.bank import Bank
from pieria.errors import InputError


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def bank(kept: Kept, clock: HandClock) -> Iterator[Bank]:
    settings = {**kept.settings, "embedder": "hashing", "count_uses": True}
    with pieria.Workspace(kept.data, settings, clock=clock) as workspace:
        yield workspace.open("retained", session="monday")


def ids(found: Any) -> list[str]:
    return [one.memory.id for one in found]


def test_that_comes_first_of_which_most_is_left(bank: Bank, clock: HandClock) -> None:
    bank.remember("Herons nest by the mill.", id="old", tags=["birds"])
    bank.remember("Herons hunt.", id="used", place="mill/birds")
    clock.move(days=4)
    bank.touch("used", accesses=3)
    bank.remember("Tea.", id="new")
    assert ids(bank.upkeep.ranked()) == ["used", "new", "old"]
    assert ids(bank.upkeep.ranked(k=1)) == ["used"]
    assert ids(bank.upkeep.ranked(tags="birds")) == ["old"]
    assert ids(bank.upkeep.ranked(place="mill")) == ["used"]
    assert ids(bank.upkeep.ranked(least=0.9)) == ["used", "new"]
    clock.move(days=1)
    bank.touch("old")
    assert ids(bank.upkeep.ranked(used_since=clock.now)) == ["old"]
    bank.update("old", status="archived")
    assert ids(bank.upkeep.ranked(status="archived")) == ["old"]
    with pytest.raises(InputError, match="least"):
        bank.upkeep.ranked(least=2)


def test_what_is_the_users_own_is_among_them_as_in_recall(bank: Bank, clock: HandClock) -> None:
    for name in ("first", "second"):
        bank.remember("Herons hunt.", id=name)
        clock.move(hours=1)
        bank.remember("Herons are what I like most.", id=f"{name} own", scope="user")
        clock.move(hours=1)
    assert ids(bank.upkeep.ranked()) == ["second own", "second", "first own", "first"]
    assert ids(bank.upkeep.ranked(k=1)) == ["second own"]


def test_what_only_stands_beside_a_match_is_left_out_where_matches_are_asked_for(bank: Bank) -> None:
    bank.remember("Tea is in the kitchen.", id="beside")
    bank.remember("Herons nest by the mill.", id="match")
    bank.sync()
    assert set(ids(bank.recall("herons", policy="decay", by_meaning=False))) == {"beside", "match"}
    assert ids(bank.recall("herons", policy="decay", by_meaning=False, matching=True)) == ["match"]
    assert ids(bank.recall("herons", matching=True)) == ["match"]
    assert ids(bank.recall("quarterly figures", matching=True)) == []


def test_by_words_alone_no_vector_is_compared(bank: Bank) -> None:
    bank.remember("Herons nest by the mill.")
    bank.sync()
    [hit] = bank.recall("herons", by_meaning=False)
    assert "dense" not in hit.why
    found = bank.recall("herons", policy="decay")
    assert found[0].why["dense"] > 0, "where relevance counts, it is told what that follows from"
    assert bank.recall("herons", by_meaning=False).plan["left_out"]["dense"] == "by_meaning is false"


def test_what_is_not_counted_is_no_use(bank: Bank) -> None:
    id = bank.remember("Herons nest by the mill.").id
    bank.recall("herons", counted=False)
    bank.sync()
    assert bank.usage(id)[id].accesses == 0
    bank.recall("herons")
    bank.sync()
    assert bank.usage(id)[id].accesses == 1


def test_what_has_a_vector_is_told(bank: Bank) -> None:
    id = bank.remember("Herons nest by the mill.").id
    bank.sync()
    assert bank.embedded([id]) == {id}


def test_what_was_put_away_may_be_left_alone(bank: Bank, clock: HandClock) -> None:
    bank.remember("Passing.", id="active")
    bank.remember("Put away.", id="away")
    bank.update("away", status="archived")
    clock.move(days=90)
    assert {one.memory.id for one in bank.upkeep.gc().faded} == {"active", "away"}
    assert [one.memory.id for one in bank.upkeep.gc(status="active").faded] == ["active"]
    assert bank.upkeep.gc(status="archived", archive=True).faded == ()
    with pytest.raises(InputError, match="status"):
        bank.upkeep.gc(status="promoted")
