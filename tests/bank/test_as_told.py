"""Conditional changes: a purge as its dry run announced it, and a change only of the version that was read."""

from collections import Counter
from collections.abc import Callable, Iterator
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


def tell(bank: Bank, id: str, other: str) -> None:
    """Remember a memory with a summary of it, and another memory under the same tag."""
    bank.remember("Tea at four.", id=id, source="diary")
    draw(bank, f"sum of {id}", id)
    bank.remember("Cake on Sundays.", id=other)
    bank.remember("habits", id=f"tag of {id}", kind="tag")
    for each in (id, other):
        bank.link(each, f"tag of {id}", "membership")


@pytest.fixture
def bank(folder: Kept) -> Iterator[Bank]:
    with folder.opened("b") as bank:
        tell(bank, "tea", "cake")
        yield bank


def draw(bank: Bank, id: str, source: str) -> None:
    bank.remember("There is tea.", id=id, kind="summary")
    bank.link(id, source, "provenance")


def untag(bank: Bank) -> None:
    """Unlink the other memory. The tag then belongs to the first memory alone and goes with it."""
    [tied] = [link for link in bank.links("cake") if link.relation == "membership"]
    bank.unlink(tied.id)


MEANWHILE: dict[str, Callable[[Bank], Any]] = {
    "it was written anew": lambda bank: bank.update("tea", text="Tea at five."),
    "it was pinned": lambda bank: bank.pin("tea"),
    "more was drawn from it": lambda bank: draw(bank, "more", "tea"),
    "more was drawn from its summary": lambda bank: draw(bank, "more still", "sum of tea"),
    "its summary was corrected": lambda bank: bank.update("sum of tea", text="There is tea at four."),
    "its summary was erased": lambda bank: bank.purge("sum of tea"),
    "it was linked": lambda bank: bank.link("cake", "tea", "goes with"),
    "a fact was drawn from it": lambda bank: bank.facts.add("Maya", "drinks", "tea", memory="tea"),
    "a tag is its own by now": untag,
    "it was revised": lambda bank: bank.revise("tea", text="Tea at five."),
}


def test_purge_that_would_erase_more_by_now_erases_nothing(kept: Kept) -> None:
    with kept.opened("b") as bank:
        tell(bank, "tea", "cake")
        for what, change in MEANWHILE.items():
            told = bank.purge("tea", dry_run=True)
            change(bank)
            before = bank.changes()
            for dry_run in (True, False):
                with pytest.raises(ConflictError, match="differ from those of the dry run") as refused:
                    bank.purge("tea", as_told=told.digest, dry_run=dry_run)
                assert "dry_run" in str(refused.value.hint) and refused.value.ids == ("tea",), what
            assert bank.changes() == before
        again = bank.purge("tea", dry_run=True)
        assert bank.purge("tea", as_told=again.digest).digest == again.digest


def test_use_meanwhile_does_not_stop_the_purge(bank: Bank) -> None:
    told = bank.purge(["tea", "cake"], dry_run=True)
    assert set(told.also) == {"sum of tea", "tag of tea"}
    bank.touch(["tea", "sum of tea"])
    bank.remember("Scones on Mondays.")
    assert bank.purge(["cake", "tea"], as_told=told.digest).also and bank.get("tea") is None


def test_summary_of_an_unseen_session_counts_too(folder: Kept, bank: Bank) -> None:
    told = bank.purge("tea", dry_run=True)
    with folder.opened("b", session="s") as own:
        own.remember("Mine.", id="mine", kind="summary", scope="session")
        own.link("mine", "tea", "provenance")
    with pytest.raises(ConflictError, match="differ from those of the dry run"):
        bank.purge("tea", as_told=told.digest)
    again = bank.purge("tea", dry_run=True)
    assert (again.also, again.erased["memories"]) == (told.also, told.erased["memories"] + 1)
    assert bank.purge("tea", as_told=again.digest).digest == again.digest


def test_of_two_banks_neither_is_purged_if_one_has_changed(bank: Bank) -> None:
    bank.remember("I drink tea.", id="mine", scope="user")
    told = bank.purge(["mine", "tea"], dry_run=True)
    assert bank.purge(["tea", "mine"], dry_run=True, as_told=told.digest).digest == told.digest
    bank.update("mine", text="I drink coffee.")
    for order in (["mine", "tea"], ["tea", "mine"]):
        with pytest.raises(ConflictError):
            bank.purge(order, as_told=told.digest)
        assert bank.get("mine") and bank.get("tea")
    assert bank.purge(["mine", "tea"], as_told=bank.purge(["tea", "mine"], dry_run=True).digest).erased["memories"] == 3


def test_source_is_forgotten_as_announced_or_not_at_all(bank: Bank) -> None:
    for number, purge in enumerate((False, True)):
        bank.remember("Tea at six.", id=f"tea {number}", source="diary")
        announced = bank.forget(source="diary", purge=purge, dry_run=True)
        bank.remember("Scones on Mondays.", id=f"scones {number}", source="diary")
        for dry_run in (True, False):
            with pytest.raises(ConflictError, match="differ from those of the dry run"):
                bank.forget(source="diary", purge=purge, as_told=announced.digest, dry_run=dry_run)
        there = {memory.id for memory in bank.list(source="diary")}
        assert {f"tea {number}", f"scones {number}"} <= there
        announced = bank.forget(source="diary", purge=purge, dry_run=True)
        bank.touch(f"tea {number}")
        done = bank.forget(source="diary", purge=purge, as_told=announced.digest)
        assert (set(done.ids), done.also, done.digest) == (there, announced.also, announced.digest)
        assert bank.count(source="diary") == 0


def test_what_is_no_digest_is_refused(bank: Bank) -> None:
    wrong: Any = 7
    for refused in (lambda: bank.purge("tea", as_told=""), lambda: bank.forget(source="diary", as_told=wrong)):
        with pytest.raises(InputError, match="as_told"):
            refused()


ASKING, ROUNDS = 4, 3


def done_at_once(
    kept: Kept, act: Callable[[Bank, int, int, Callable[[], object]], object]
) -> Counter[tuple[int, bool]]:
    """Run this in threads of their own banks, as processes do. Count successes by round and by parity of the thread.

    `act` gets a bank, the thread's number, the round, and a function that waits for the other threads.
    """
    together = Barrier(ASKING)

    def run(number: int) -> Iterator[tuple[int, bool]]:
        with kept.opened("b") as own:
            for turn in range(ROUNDS):
                with suppress(ConflictError, NotFoundError):
                    act(own, number, turn, lambda: together.wait(60))
                    yield turn, bool(number % 2)
                together.wait(60)

    with ThreadPoolExecutor(ASKING) as threads:
        return Counter(each for done in threads.map(lambda number: [*run(number)], range(ASKING)) for each in done)


def test_purge_and_new_summary_at_once_exclude_each_other(kept: Kept) -> None:
    def act(own: Bank, number: int, turn: int, wait: Callable[[], object]) -> None:
        told = own.purge(f"tea {turn}", dry_run=True)
        own.remember("There is tea.", id=f"{number} of {turn}", kind="summary")
        wait()
        if number % 2:
            own.link(f"{number} of {turn}", f"tea {turn}", "provenance")
        else:
            own.purge(f"tea {turn}", as_told=told.digest)

    with kept.opened("b") as bank:
        for turn in range(ROUNDS):
            tell(bank, f"tea {turn}", f"cake {turn}")
        done = done_at_once(kept, act)
        for turn in range(ROUNDS):
            erased = done[turn, False]
            assert (erased, done[turn, True]) in [(1, 0), (0, 2)]
            assert (bank.get(f"tea {turn}") is None) == bool(erased)
            assert all(bank.get(f"{number} of {turn}") for number in (1, 3))


CHANGING: dict[str, Callable[..., Any]] = {
    "update": lambda bank, id, **unless: bank.update(id, text="Mine.", **unless),
    "rate": lambda bank, id, **unless: bank.update(id, importance=0.9, **unless),
    "revise": lambda bank, id, **unless: bank.revise(id, text="Mine.", **unless),
    "invalidate": Bank.invalidate,
    "remove": Bank.remove,
    "purge": lambda bank, id, **unless: bank.purge(["cake", id], **unless),
}


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
            journal, now = bank.changes(), read(bank, was.id)
            said = (
                rf"{was.reference} of {iso(was.known_from)} was expected"
                rf".*{now.reference} of {iso(now.known_from)} is current"
            )
            for change in CHANGING.values():
                with pytest.raises(ConflictError, match=said) as refused:
                    change(bank, was.id, unless_changed_since=was.known_from)
                assert "unless_changed_since" in str(refused.value.hint) and refused.value.ids == (was.id,)
            assert (bank.changes(), read(bank, was.id)) == (journal, now)
            with pytest.raises(ConflictError):
                bank.purge(was.id, dry_run=True, unless_changed_since=was.known_from)
        for verb, change in CHANGING.items():
            was = bank.remember("Read.", id=verb)
            # Use and links are no changes.
            bank.touch(verb)
            bank.link(verb, "cake", "goes with")
            change(bank, verb, unless_changed_since=iso(was.known_from))
            assert bank.changes(last=1)[0].what not in ("touch", "link"), verb


def test_any_moment_since_the_last_change_counts_as_read(bank: Bank) -> None:
    bank.update("tea", text="Tea at five.")
    between = bank.clock()
    assert bank.update("tea", importance=0.7, unless_changed_since=between).importance == 0.7
    for moment, said in ((between, "is current"), ("2020-01-01", "it did not exist at 2020-01-01")):
        with pytest.raises(ConflictError, match=said):
            bank.update("tea", importance=0.8, unless_changed_since=moment)
    with pytest.raises(InputError, match=f"unless_changed_since.*{iso(read(bank).known_from)}"):
        bank.update("tea", importance=0.8, unless_changed_since=datetime.now(UTC) + timedelta(hours=1))


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
    bank.remove("cake")
    for id, error, said in (("cake", ConflictError, "it was removed"), ("nowhere", NotFoundError, "nowhere")):
        with pytest.raises(error, match=said):
            bank.update(id, text="Mine.", unless_changed_since=second.known_from)


def test_of_many_readers_of_one_version_only_one_changes_it(kept: Kept) -> None:
    def act(own: Bank, number: int, turn: int, wait: Callable[[], object]) -> None:
        """Half of the threads share one bank."""
        using = own if number % 2 else shared
        known_from = read(using).known_from
        wait()
        using.update("tea", text=f"{turn} {number}", unless_changed_since=known_from)

    with kept.opened("b") as shared:
        shared.remember("Tea at four.", id="tea")
        done = done_at_once(kept, act)
        assert sorted(turn for turn, _ in done.elements()) == list(range(ROUNDS))
        assert read(shared).version == 1 + ROUNDS


def test_revision_takes_another_place_and_time(bank: Bank) -> None:
    bank.update("tea", valid_from="2026-01-01")
    revised = bank.revise("tea", place="home/habits", valid_from="2026-03-01", valid_until="2096-03-31")
    assert revised.place == "home/habits"
    times = {"valid_from": "2026-03-01T00:00:00Z", "valid_until": "2096-04-01T00:00:00Z"}
    assert revised.as_dict() == revised.as_dict() | times
    again = bank.revise("tea", text="Tea at five.", valid_from=None)
    assert (again.place, again.valid_from, again.valid_until) == ("home/habits", None, revised.valid_until)
    with pytest.raises(InputError, match="valid_until"):
        bank.revise("tea", valid_from="2097-01-01")
