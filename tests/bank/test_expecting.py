"""Conditional updates: a memory changes only if it still has the version read. Of several writers, one succeeds."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
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
def bank(folder: Kept) -> Bank:
    bank = folder.opened("b")
    bank.remember("Cake on Sundays.", id="cake")
    bank.remember("Tea at four.", id="tea", importance=0.5)
    return bank


def read(bank: Bank, id: str = "tea") -> Memory:
    memory = bank.get(id, include_removed=True)
    assert memory is not None
    return memory


def test_memory_changes_only_if_it_is_as_it_was_read(kept: Kept) -> None:
    with kept.opened("b") as bank:
        bank.remember("Cake on Sundays.", id="cake")
        for number, other in enumerate((CHANGING["update"], CHANGING["rate"], Bank.pin)):
            was = bank.remember("Tea at four.", id=f"tea {number}", importance=0.5)
            assert bank.purge(was.id, dry_run=True, unless_changed_since=was.known_from).ids == (was.id,)
            other(bank, was.id)
            journal, stands = bank.changes(), read(bank, was.id)
            for change in CHANGING.values():
                with pytest.raises(ConflictError) as refused:
                    change(bank, was.id, unless_changed_since=was.known_from)
                assert f"{was.reference} of {iso(was.known_from)} was expected" in refused.value.message
                assert f"{stands.reference} of {iso(stands.known_from)} is current" in refused.value.message
                assert "unless_changed_since" in str(refused.value.hint) and refused.value.ids == (was.id,)
                assert (bank.changes(), read(bank, was.id)) == (journal, stands)
            with pytest.raises(ConflictError):
                bank.purge(was.id, dry_run=True, unless_changed_since=was.known_from)
        for verb, change in CHANGING.items():
            was = bank.remember("Read.", id=verb)
            # Use and links are no changes.
            bank.touch(verb)
            bank.link(verb, "cake", "goes with")
            before = len(bank.changes())
            change(bank, verb, unless_changed_since=iso(was.known_from))
            assert len(bank.changes()) == before + 1, verb


def test_any_moment_since_the_last_change_counts_as_read(bank: Bank) -> None:
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


def test_wrong_moment_is_reported_with_all_else_that_is_wrong(bank: Bank) -> None:
    for verb in (bank.update, bank.revise):
        with pytest.raises(InputError) as refused:
            verb("tea", importance=7, unless_changed_since="lately")
        assert len(refused.value.errors) == 1
    for change in (bank.invalidate, bank.remove, bank.purge):
        with pytest.raises(InputError, match="unless_changed_since"):
            change("tea", unless_changed_since="lately")


def test_reader_of_an_ended_memory_hears_what_became_of_it(bank: Bank) -> None:
    first = bank.revise("tea", text="Tea at five.")
    second = bank.revise("tea", text="Tea at six.")
    with pytest.raises(ConflictError, match=f"{first.id}@1 of .* was expected, and {second.id}@1 of .* is current"):
        bank.revise("tea", text="Mine.", unless_changed_since=first.known_from)
    with pytest.raises(ConflictError, match=f"{second.id}@1 of .* is current"):
        bank.purge(first.id, unless_changed_since=first.known_from)
    assert bank.revise("tea", text="Mine.", unless_changed_since=second.known_from).text == "Mine."
    was = read(bank, "cake").known_from
    bank.remove("cake")
    with pytest.raises(ConflictError, match="it was removed"):
        bank.update("cake", text="Mine.", unless_changed_since=was)
    with pytest.raises(NotFoundError):
        bank.update("nowhere", text="Mine.", unless_changed_since=was)


def test_of_many_readers_of_one_version_only_one_changes_it(kept: Kept) -> None:
    """Half of the threads open their own bank, as processes do. The others share one."""
    asking, rounds = 4, 3
    together = Barrier(asking)

    def change(number: int) -> list[int]:
        won: list[int] = []
        with kept.opened("b") as own:
            for turn in range(rounds):
                using = own if number % 2 else bank
                known_from = read(using).known_from
                together.wait(60)
                with suppress(ConflictError):
                    using.update("tea", text=f"{turn} {number}", unless_changed_since=known_from)
                    won.append(turn)
                together.wait(60)
        return won

    with kept.opened("b") as bank, ThreadPoolExecutor(asking) as threads:
        bank.remember("Tea at four.", id="tea")
        found = sorted(turn for won in threads.map(change, range(asking)) for turn in won)
        assert found == list(range(rounds))
        assert read(bank).version == 1 + rounds


def test_revision_takes_another_place_and_time(bank: Bank) -> None:
    bank.update("tea", valid_from="2026-01-01")
    revised = bank.revise("tea", place="home/habits", valid_from="2026-03-01", valid_until="2096-03-31")
    told = revised.as_dict()
    assert revised.place == "home/habits"
    assert (told["valid_from"], told["valid_until"]) == ("2026-03-01T00:00:00Z", "2096-04-01T00:00:00Z")
    again = bank.revise("tea", text="Tea at five.", valid_from=None)
    assert (again.place, again.valid_from, again.valid_until) == ("home/habits", None, revised.valid_until)
    with pytest.raises(InputError, match="valid_until"):
        bank.revise("tea", valid_from="2097-01-01")
