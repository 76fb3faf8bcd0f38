"""Facts of memories: stored as stated even if the memory is valid for less time, and visible only with the memory."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.contract.making import HandClock

import pieria
from pieria.errors import NotFoundError
from pieria.record.fact import Fact

QUIET = {"durability": "off"}


@pytest.fixture
def clock() -> HandClock:
    return HandClock(datetime(2026, 6, 1, 12, tzinfo=UTC))


@pytest.fixture
def bank(tmp_path: Path, clock: HandClock) -> Iterator[pieria.Bank]:
    with pieria.open("notes", data=tmp_path, clock=clock, settings=QUIET) as bank:
        yield bank


@pytest.fixture
def memory(bank: pieria.Bank) -> str:
    return bank.remember("Maya leads search.").id


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def bounds(fact: Fact) -> tuple[datetime | None, datetime | None]:
    return fact.valid_from, fact.valid_until


@pytest.fixture
def narrowed(bank: pieria.Bank, memory: str) -> Fact:
    """Return a fact from 2020 on, of a memory that is valid only until the end of 2027."""
    fact = bank.facts.add("Maya", "leads", "search", valid_from="2020-01-01", memory=memory)
    bank.update(memory, valid_until="2027-12-31")
    return fact


def widen(bank: pieria.Bank) -> None:
    bank.undo(next(change.seq for change in reversed(bank.changes()) if change.what == "update"))


def test_stating_again_while_the_memory_is_narrowed_keeps_what_was_stated(
    bank: pieria.Bank, memory: str, narrowed: Fact
) -> None:
    held = (day("2020-01-01"), day("2028-01-01"))
    for confidence in (None, 0.9):
        again = bank.facts.add("Maya", "leads", "search", memory=memory, confidence=confidence)
        assert (again.id, bounds(again)) == (narrowed.id, held)
        assert bank.facts.query("Maya") == [again]
    widen(bank)
    [fact] = bank.facts.query("Maya")
    assert (fact.id, fact.confidence, bounds(fact)) == (narrowed.id, 0.9, (day("2020-01-01"), None))


def test_superseding_again_while_the_memory_is_narrowed_keeps_what_was_stated(
    bank: pieria.Bank, memory: str, narrowed: Fact
) -> None:
    bank.facts.supersede("Maya", "leads", "search", memory=memory, confidence=0.9)
    widen(bank)
    assert bounds(bank.facts.query("Maya")[0]) == (day("2020-01-01"), None)


def test_making_room_takes_away_no_more_than_was_stated(bank: pieria.Bank, narrowed: Fact) -> None:
    bank.facts.declare("leads")
    bank.facts.add("Maya", "leads", "billing", valid_from="2022-01-01", valid_until="2022-12-31")
    widen(bank)
    assert [(fact.object, *bounds(fact)) for fact in bank.facts.timeline("Maya")] == [
        ("search", day("2020-01-01"), day("2022-01-01")),
        ("billing", day("2022-01-01"), day("2023-01-01")),
        ("search", day("2023-01-01"), None),
    ]


def test_a_later_value_ends_a_fact_of_a_narrowed_memory_for_good(bank: pieria.Bank, narrowed: Fact) -> None:
    bank.facts.supersede("Maya", "leads", "billing", at="2026-01-01")
    widen(bank)
    assert [fact.object for fact in bank.facts.query("Maya")] == ["billing"]
    assert [bounds(fact)[1] for fact in bank.facts.timeline("Maya")] == [day("2026-01-01"), None]


def test_ending_what_a_narrowed_memory_says(bank: pieria.Bank, memory: str) -> None:
    fact = bank.facts.add("Maya", "leads", "search", valid_from="2020-01-01", memory=memory)
    bank.update(memory, valid_from="2024-01-01")
    [ended] = bank.facts.invalidate("Maya", "leads", "search", at="2026-01-01")
    assert (ended.id, bounds(ended)) == (fact.id, (day("2024-01-01"), day("2026-01-01")))
    bank.undo(bank.changes()[-1].seq)
    [ended] = bank.facts.invalidate("Maya", "leads", "search", at="2022-01-01")
    assert ended.ended == ""
    assert bank.facts.timeline("Maya") == []
    widen(bank)
    assert bounds(bank.facts.timeline("Maya")[0]) == (day("2020-01-01"), day("2022-01-01"))


def test_a_removed_fact_is_on_record_as_it_was_stated(bank: pieria.Bank, narrowed: Fact) -> None:
    removed = bank.facts.remove(narrowed.id)
    assert (removed.ended, bounds(removed)) == ("removed", (day("2020-01-01"), day("2028-01-01")))
    assert [(version.ended, bounds(version)) for version in bank.facts.history(narrowed.id)] == [
        ("", (day("2020-01-01"), None)),
        ("removed", (day("2020-01-01"), None)),
    ]


def test_a_fact_of_a_memory_that_never_held_with_it_can_still_be_removed(bank: pieria.Bank, memory: str) -> None:
    fact = bank.facts.add("Maya", "leads", "search", valid_from="2025-01-01", memory=memory)
    bank.update(memory, valid_until="2024-12-31")
    assert bank.facts.timeline() == []
    assert bank.facts.remove(fact.id).ended == "removed"
    widen(bank)
    assert bank.facts.timeline() == []


def test_the_bank_s_numbers_count_facts_as_they_are_shown(bank: pieria.Bank, memory: str) -> None:
    bank.facts.add("Maya", "leads", "search", memory=memory)
    bank.facts.add("Maya", "leads", "search")
    bank.facts.add("Maya", "leads", "billing", memory=memory)
    bank.update(memory, valid_until="2025-12-31")
    stats = bank.facts.stats()
    assert (stats.facts, stats.current, stats.ended, stats.predicates) == (2, 1, 1, {"leads": 2})
    assert bank.stats().facts == {"facts": 2, "current": 1, "entities": 3}
    assert [(one.name, one.facts) for one in bank.facts.predicates()] == [("leads", 2)]


# --- of the user, and of other sessions


def test_a_memory_of_the_user_has_its_facts_in_the_user_s_bank(bank: pieria.Bank, tmp_path: Path) -> None:
    mine = bank.remember("I like herons.", scope="user").id
    changes = bank.changes()
    for call in (bank.facts.add, bank.facts.supersede):
        with pytest.raises(NotFoundError, match="memory") as caught:
            call("I", "like", "herons", memory=mine)
        assert "@me" in str(caught.value.hint)
    with pytest.raises(NotFoundError) as caught:
        bank.facts.add("I", "like", "herons", memory="nobody")
    assert "@me" not in str(caught.value.hint)
    assert bank.changes() == changes
    with pieria.open("@me", data=tmp_path, settings=QUIET) as user:
        assert user.facts.add("I", "like", "herons", memory=mine).memory == mine
        with pytest.raises(NotFoundError) as caught:
            user.facts.add("I", "like", "herons", memory="nobody")
        assert "@me" not in str(caught.value.hint)


def test_what_a_session_keeps_to_itself_is_no_fact_to_another(bank: pieria.Bank, tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path, session="s1", settings=QUIET) as mine:
        memory = mine.remember("Maya is leaving.", scope="session")
        fact = mine.facts.add("Maya", "plans", "to leave", memory=memory.id)
        mine.facts.add("Maya", "plans", "to leave", memory=memory.id, confidence=0.5)
        gone = mine.facts.remove(mine.facts.add("Maya", "plans", "a party", memory=memory.id).id)
        changes = bank.changes()
        for id in (fact.id, gone.id):
            for call in (bank.facts.remove, bank.facts.history):
                with pytest.raises(NotFoundError) as missing:
                    bank.facts.history("nobody")
                with pytest.raises(NotFoundError) as caught:
                    call(id)
                assert str(caught.value) == str(missing.value).replace("nobody", id)
                assert caught.value.hint == missing.value.hint
        assert bank.changes() == changes
        assert len(mine.facts.history(fact.id)) == len(mine.facts.history(gone.id)) == 2


def test_what_was_known_while_it_was_another_session_s_stays_theirs(
    bank: pieria.Bank, tmp_path: Path, clock: HandClock
) -> None:
    with pieria.open("notes", data=tmp_path, session="s1", settings=QUIET, clock=clock) as mine:
        memory = mine.remember("Maya is leaving.", scope="session")
        fact = mine.facts.add("Maya", "plans", "to leave", memory=memory.id, source="a whisper")
        for confidence in (0.4, 0.6, 0.8):
            clock.move(hours=1)
            mine.facts.add("Maya", "plans", "to leave", memory=memory.id, confidence=confidence)
            if confidence == 0.4:
                mine.update(memory.id, scope="bank")
        assert [version.confidence for version in bank.facts.history(fact.id)] == [0.4, 0.6, 0.8]
        assert [version.confidence for version in mine.facts.history(fact.id)] == [None, 0.4, 0.6, 0.8]


def test_the_facts_that_one_memory_states_are_found_by_it(bank: pieria.Bank, memory: str) -> None:
    other = bank.remember("Somebody else said so, too.").id
    own = bank.facts.add("Maya", "leads", "search", memory=memory)
    bank.facts.add("Maya", "leads", "billing", memory=other)
    bank.facts.add("Maya", "likes", "tea")
    assert [fact.id for fact in bank.facts.query(memory=memory)] == [own.id]
    assert bank.facts.query("Jonas", memory=memory) == []
    assert bank.facts.query(memory="nobody") == []
