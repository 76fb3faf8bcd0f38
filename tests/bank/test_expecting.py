"""Conditional updates: a memory changes only if it still has the version read. Of several writers, one succeeds."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import Any

import pytest
from tests.bank.kept import Kept

from pieria import Bank, Memory
from pieria.errors import ConflictError, InputError, NotFoundError
from pieria.record.time import iso

CHANGING: dict[str, Callable[..., Any]] = {
    "update": lambda bank, id, **unless: bank.update(id, text="Mine.", **unless),
    "rate": lambda bank, id, **unless: bank.update(id, importance=0.9, **unless),
    "revise": lambda bank, id, **unless: bank.revise(id, text="Mine.", **unless),
    "invalidate": lambda bank, id, **unless: bank.invalidate(id, **unless),
    "remove": lambda bank, id, **unless: bank.remove(id, **unless),
    "purge": lambda bank, id, **unless: bank.purge(["cake", id], **unless),
}


@pytest.fixture
def bank(kept: Kept) -> Iterator[Bank]:
    with kept.opened("b") as bank:
        bank.remember("Cake on Sundays.", id="cake")
        bank.remember("Tea at four.", id="tea", importance=0.5)
        yield bank


def read(bank: Bank, id: str = "tea") -> Memory:
    memory = bank.get(id, include_removed=True)
    assert memory is not None
    return memory


def test_what_stands_as_it_was_read_is_changed(bank: Bank) -> None:
    for verb, change in CHANGING.items():
        was = bank.remember("Read.", id=verb)
        before = len(bank.changes())
        change(bank, verb, unless_changed_since=iso(was.known_from))
        assert len(bank.changes()) == before + 1, verb


@pytest.mark.parametrize("other", ["update", "rate", "pin"])
def test_what_was_changed_since_stays_as_it_is(bank: Bank, other: str) -> None:
    was = read(bank)
    {**CHANGING, "pin": Bank.pin}[other](bank, "tea")
    before, stands = bank.changes(), read(bank)
    for change in CHANGING.values():
        with pytest.raises(ConflictError) as refused:
            change(bank, "tea", unless_changed_since=was.known_from)
        assert f"{was.reference} of {iso(was.known_from)} was expected" in refused.value.message
        assert f"{stands.reference} of {iso(stands.known_from)} is current" in refused.value.message
        assert "unless_changed_since" in str(refused.value.hint) and refused.value.ids == ("tea",)
        assert (bank.changes(), read(bank)) == (before, stands)


def test_a_purge_that_is_only_told_asks_for_the_same(bank: Bank) -> None:
    was = read(bank)
    assert bank.purge("tea", dry_run=True, unless_changed_since=was.known_from).ids == ("tea",)
    bank.pin("tea")
    with pytest.raises(ConflictError):
        bank.purge("tea", dry_run=True, unless_changed_since=was.known_from)


def test_to_be_used_or_linked_is_no_change(bank: Bank) -> None:
    was = read(bank)
    bank.touch("tea")
    bank.link("tea", "cake", "goes with")
    assert bank.update("tea", text="Mine.", unless_changed_since=was.known_from).version == 2


def test_any_moment_since_the_last_change_is_as_good_but_none_to_come(bank: Bank) -> None:
    bank.update("tea", text="Tea at five.")
    between = bank.clock()
    assert bank.update("tea", importance=0.7, unless_changed_since=between).importance == 0.7
    with pytest.raises(ConflictError):
        bank.update("tea", importance=0.8, unless_changed_since=between)
    with pytest.raises(InputError) as refused:
        bank.update("tea", importance=0.8, unless_changed_since=datetime.now(UTC) + timedelta(hours=1))
    assert refused.value.parameter == "unless_changed_since"
    assert iso(read(bank).known_from) in refused.value.message
    with pytest.raises(ConflictError, match="it did not exist at 2020-01-01"):
        bank.update("tea", importance=0.8, unless_changed_since="2020-01-01")


def test_a_wrong_moment_is_told_with_all_else_that_is_wrong(bank: Bank) -> None:
    for verb in (bank.update, bank.revise):
        with pytest.raises(InputError) as refused:
            verb("tea", importance=7, unless_changed_since="lately")
        assert len(refused.value.errors) == 1
    for change in (bank.invalidate, bank.remove):
        with pytest.raises(InputError, match="unless_changed_since"):
            change("tea", unless_changed_since="lately")
    with pytest.raises(InputError, match="unless_changed_since"):
        bank.purge("tea", unless_changed_since="lately")


def test_whoever_read_a_revision_is_told_of_the_one_in_its_place(bank: Bank) -> None:
    first = bank.revise("tea", text="Tea at five.")
    second = bank.revise("tea", text="Tea at six.")
    with pytest.raises(ConflictError, match=f"{first.id}@1 of .* was expected, and {second.id}@1 of .* is current"):
        bank.revise("tea", text="Mine.", unless_changed_since=first.known_from)
    with pytest.raises(ConflictError, match=f"{second.id}@1 of .* is current"):
        bank.purge(first.id, unless_changed_since=first.known_from)
    assert bank.revise("tea", text="Mine.", unless_changed_since=second.known_from).text == "Mine."


def test_what_has_ended_is_told_as_it_always_was(bank: Bank) -> None:
    was = read(bank).known_from
    bank.remove("tea")
    with pytest.raises(ConflictError, match="it was removed"):
        bank.update("tea", text="Mine.", unless_changed_since=was)
    with pytest.raises(NotFoundError):
        bank.update("nowhere", text="Mine.", unless_changed_since=was)


def test_of_many_who_read_one_version_one_alone_changes_it(kept: Kept, bank: Bank) -> None:
    """Half of the threads open their own bank, as processes do. The others share one."""
    asking, rounds = 4, 5
    together = Barrier(asking)

    def change(number: int) -> list[int]:
        won: list[int] = []
        with kept.opened("b") as own:
            for turn in range(rounds):
                using = own if number % 2 else bank
                known_from = read(using).known_from
                together.wait(60)
                try:
                    using.update("tea", text=f"{turn} {number}", unless_changed_since=known_from)
                    won.append(turn)
                except ConflictError as refused:
                    assert "was expected" in refused.message
                together.wait(60)
        return won

    with ThreadPoolExecutor(asking) as threads:
        found = sorted(turn for won in threads.map(change, range(asking)) for turn in won)
    assert found == list(range(rounds))
    assert read(bank).version == 1 + rounds


def test_a_revision_takes_another_place_and_time(bank: Bank) -> None:
    bank.update("tea", valid_from="2026-01-01")
    revised = bank.revise("tea", place="home/habits", valid_from="2026-03-01", valid_until="2096-03-31")
    told = revised.as_dict()
    assert (revised.place, told["valid_from"], told["valid_until"]) == (
        "home/habits",
        "2026-03-01T00:00:00Z",
        "2096-04-01T00:00:00Z",
    )
    again = bank.revise("tea", text="Tea at five.", valid_from=None)
    assert (again.place, again.valid_from, again.valid_until) == ("home/habits", None, revised.valid_until)
    with pytest.raises(InputError, match="valid_until"):
        bank.revise("tea", valid_from="2097-01-01")
