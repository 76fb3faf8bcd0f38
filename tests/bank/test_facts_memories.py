"""Facts of memories: stored as stated even if the memory is valid for less time, and visible only with the memory."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from tests.bank.test_facts import clock, day, timeline
from tests.contract.store_helpers import HandClock

import pieria
from pieria import Bank
from pieria.errors import NotFoundError
from pieria.record.fact import Fact

__all__ = ["clock"]


@pytest.fixture
def memory(bank: Bank) -> str:
    return bank.remember("Maya leads search.").id


def bounds(fact: Fact) -> tuple[datetime | None, datetime | None]:
    return fact.valid_from, fact.valid_until


@pytest.fixture
def narrowed(bank: Bank, memory: str) -> Fact:
    """Return a fact from 2020 on, of a memory that is valid only until the end of 2027."""
    fact = bank.facts.add("Maya", "leads", "search", valid_from="2020-01-01", memory=memory)
    bank.update(memory, valid_until="2027-12-31")
    return fact


def widen(bank: Bank) -> None:
    bank.undo(next(change.seq for change in reversed(bank.changes()) if change.what == "update"))


def test_stating_again_while_the_memory_is_narrowed_keeps_all(bank: Bank, memory: str, narrowed: Fact) -> None:
    for confidence in (None, 0.8):
        again = bank.facts.add("Maya", "leads", "search", memory=memory, confidence=confidence)
        assert (again.id, bounds(again)) == (narrowed.id, (day("2020-01-01"), day("2028-01-01")))
        assert bank.facts.query("Maya") == [again]
    bank.facts.supersede("Maya", "leads", "search", memory=memory, confidence=0.9)
    widen(bank)
    [fact] = bank.facts.query("Maya")
    assert (fact.id, fact.confidence, bounds(fact)) == (narrowed.id, 0.9, (day("2020-01-01"), None))


def test_other_values_take_their_own_time_and_later_ones_all(bank: Bank, narrowed: Fact) -> None:
    bank.facts.declare("leads")
    bank.facts.add("Maya", "leads", "billing", valid_from="2022-01-01", valid_until="2022-12-31")
    bank.facts.supersede("Maya", "leads", "payments", at="2026-01-01")
    widen(bank)
    assert timeline(bank) == [
        "search 2020-01-01 2022-01-01", "billing 2022-01-01 2023-01-01", "search 2023-01-01 2026-01-01",
        "payments 2026-01-01 -",
    ]  # fmt: skip


def test_end_of_a_narrowed_fact_is_kept_when_it_widens(bank: Bank, memory: str) -> None:
    fact = bank.facts.add("Maya", "leads", "search", valid_from="2020-01-01", memory=memory)
    bank.update(memory, valid_from="2024-01-01")
    [ended] = bank.facts.invalidate("Maya", "leads", "search", at="2026-01-01")
    assert (ended.id, bounds(ended)) == (fact.id, (day("2024-01-01"), day("2026-01-02")))
    bank.undo(bank.changes()[-1].seq)
    [ended] = bank.facts.invalidate("Maya", "leads", "search", at="2022-01-01")
    assert (ended.ended, bank.facts.timeline("Maya")) == ("", [])
    widen(bank)
    assert timeline(bank) == ["search 2020-01-01 2022-01-02"]


def test_removed_fact_is_on_record_as_it_was_stated(bank: Bank, memory: str, narrowed: Fact) -> None:
    removed = bank.facts.remove(narrowed.id)
    assert (removed.ended, bounds(removed)) == ("removed", (day("2020-01-01"), day("2028-01-01")))
    stated = (day("2020-01-01"), None)
    history = [(version.ended, bounds(version)) for version in bank.facts.history(narrowed.id)]
    assert history == [("", stated), ("removed", stated)]
    never = bank.facts.add("Maya", "leads", "billing", valid_from="2025-01-01", memory=memory)
    bank.update(memory, valid_until="2024-12-31")
    assert bank.facts.timeline() == []
    assert bank.facts.remove(never.id).ended == "removed"
    widen(bank)
    assert bank.facts.timeline() == []


def test_numbers_count_facts_as_they_are_shown(bank: Bank, memory: str) -> None:
    bank.facts.add("Maya", "leads", "search", memory=memory)
    bank.facts.add("Maya", "leads", "search")
    bank.facts.add("Maya", "leads", "billing", memory=memory)
    bank.update(memory, valid_until="2025-12-31")
    stats = bank.facts.stats()
    assert (stats.facts, stats.current, stats.ended, stats.predicates) == (3, 1, 2, {"leads": 3})
    assert bank.stats().facts == {"facts": 3, "current": 1, "entities": 3}
    assert [(one.name, one.facts) for one in bank.facts.predicates()] == [("leads", 3)]


@pytest.fixture
def mine(bank: Bank, tmp_path: Path, clock: HandClock) -> Iterator[Bank]:
    with pieria.open("notes", data=tmp_path, session="s1", clock=clock) as bank:
        yield bank


def test_memory_of_the_user_has_its_facts_in_the_users_bank(bank: Bank, tmp_path: Path) -> None:
    own = bank.remember("I like herons.", scope="user").id
    changes = bank.changes()
    for call in (bank.facts.add, bank.facts.supersede):
        with pytest.raises(NotFoundError, match="memory") as caught:
            call("I", "like", "herons", memory=own)
        assert "@me" in str(caught.value.hint)
    assert bank.changes() == changes
    with pieria.open("@me", data=tmp_path) as user:
        assert user.facts.add("I", "like", "herons", memory=own).memory == own
        for each in (bank, user):
            with pytest.raises(NotFoundError) as caught:
                each.facts.add("I", "like", "herons", memory="nobody")
            assert "@me" not in str(caught.value.hint)


def test_fact_is_seen_by_those_who_see_its_memory(bank: Bank, mine: Bank) -> None:
    memory = mine.remember("Maya is leaving.", scope="session").id
    fact = mine.facts.add("Maya", "plans", "to leave", memory=memory)
    assert mine.facts.query("Maya") == [fact]
    assert (bank.facts.query("Maya"), bank.facts.entities(), bank.facts.stats().facts) == ([], [], 0)
    mine.facts.add("Maya", "plans", "to leave", memory=memory, confidence=0.5)
    gone = mine.facts.remove(mine.facts.add("Maya", "plans", "a party", memory=memory).id)
    changes = bank.changes()
    with pytest.raises(NotFoundError):
        bank.facts.add("Maya", "plans", "a party", memory=memory)
    with pytest.raises(NotFoundError) as missing:
        bank.facts.history("nobody")
    for id in (fact.id, gone.id):
        for call in (bank.facts.remove, bank.facts.history):
            with pytest.raises(NotFoundError) as caught:
                call(id)
            assert str(caught.value) == str(missing.value).replace("nobody", id)
            assert caught.value.hint == missing.value.hint
    assert bank.changes() == changes
    assert len(mine.facts.history(fact.id)) == len(mine.facts.history(gone.id)) == 2
    own = bank.facts.add("Maya", "plans", "to leave")
    assert bank.facts.query("Maya") == mine.facts.query("Maya") == [own]


def test_history_from_before_a_memory_was_shared_stays_hidden(bank: Bank, mine: Bank, clock: HandClock) -> None:
    memory = mine.remember("Maya is leaving.", scope="session")
    fact = mine.facts.add("Maya", "plans", "to leave", memory=memory.id, source="a whisper")
    for confidence in (0.4, 0.6, 0.8):
        clock.move(hours=1)
        mine.facts.add("Maya", "plans", "to leave", memory=memory.id, confidence=confidence)
        if confidence == 0.4:
            mine.update(memory.id, scope="bank")
    assert [version.confidence for version in bank.facts.history(fact.id)] == [0.4, 0.6, 0.8]
    assert [version.confidence for version in mine.facts.history(fact.id)] == [None, 0.4, 0.6, 0.8]
