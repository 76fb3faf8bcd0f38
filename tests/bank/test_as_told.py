"""Purging exactly what a dry run announced, or nothing."""

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier
from typing import Any

import pytest
from tests.bank.kept import Kept

from pieria import Bank
from pieria.errors import ConflictError, InputError, NotFoundError


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
    assert bank.purge(["cake", "tea"], as_told=told.digest).also
    assert bank.get("tea") is None


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
    with pytest.raises(InputError, match="as_told"):
        bank.purge("tea", as_told="")
    with pytest.raises(InputError, match="as_told"):
        bank.forget(source="diary", as_told=7)  # type: ignore[arg-type]


def test_purge_and_new_summary_at_once_exclude_each_other(kept: Kept) -> None:
    """Each thread opens its own bank, as separate processes do."""
    asking, rounds = 4, 3
    together = Barrier(asking)

    def race(number: int) -> list[str]:
        done = []
        with kept.opened("b") as own:
            for turn in range(rounds):
                told = own.purge(f"tea {turn}", dry_run=True)
                own.remember("There is tea.", id=f"{number} of {turn}", kind="summary")
                together.wait(60)
                with suppress(ConflictError, NotFoundError):
                    if number % 2:
                        own.link(f"{number} of {turn}", f"tea {turn}", "provenance")
                        done.append(f"{turn} drawn")
                    else:
                        own.purge(f"tea {turn}", as_told=told.digest)
                        done.append(f"{turn} erased")
        return done

    with kept.opened("b") as bank, ThreadPoolExecutor(asking) as threads:
        for turn in range(rounds):
            tell(bank, f"tea {turn}", f"cake {turn}")
        done = Counter(each for told in threads.map(race, range(asking)) for each in told)
        for turn in range(rounds):
            erased = done[f"{turn} erased"]
            assert (erased, done[f"{turn} drawn"]) in [(1, 0), (0, 2)]
            assert (bank.get(f"tea {turn}") is None) == bool(erased)
            assert all(bank.get(f"{number} of {turn}") for number in (1, 3))
