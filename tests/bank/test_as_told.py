"""Purging exactly what a dry run announced, or nothing."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from tests.bank.kept import Kept

from pieria import Bank
from pieria.errors import ConflictError, InputError, NotFoundError


@pytest.fixture
def bank(kept: Kept) -> Iterator[Bank]:
    with kept.opened("b") as bank:
        tell(bank, "tea", "cake")
        yield bank


def tell(bank: Bank, id: str, other: str) -> None:
    """Remember a memory with a summary of it, and another memory under the same tag."""
    bank.remember("Tea at four.", id=id, source="diary")
    draw(bank, f"sum of {id}", id)
    bank.remember("Cake on Sundays.", id=other)
    bank.remember("habits", id=f"tag of {id}", kind="tag")
    for each in (id, other):
        bank.link(each, f"tag of {id}", "membership")


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
    "more was drawn from what was": lambda bank: draw(bank, "more", "sum of tea"),
    "what was drawn was corrected": lambda bank: bank.update("sum of tea", text="There is tea at four."),
    "what was drawn was erased": lambda bank: bank.purge("sum of tea"),
    "it was revised": lambda bank: bank.revise("tea", text="Tea at five."),
    "it was linked": lambda bank: bank.link("cake", "tea", "goes with"),
    "a fact was drawn from it": lambda bank: bank.facts.add("Maya", "drinks", "tea", memory="tea"),
    "a tag is its own by now": untag,
}


@pytest.mark.parametrize("what", MEANWHILE)
def test_where_anything_else_would_go_by_now_nothing_does(bank: Bank, what: str) -> None:
    told = bank.purge("tea", dry_run=True)
    MEANWHILE[what](bank)
    before = bank.changes()
    for dry_run in (True, False):
        with pytest.raises(ConflictError, match="differ from those of the dry run") as refused:
            bank.purge("tea", as_told=told.digest, dry_run=dry_run)
        assert "dry_run" in str(refused.value.hint) and refused.value.ids == ("tea",)
    assert bank.changes() == before
    again = bank.purge("tea", dry_run=True)
    assert bank.purge("tea", as_told=again.digest).digest == again.digest


def test_what_was_told_is_erased_however_often_it_is_used_meanwhile(bank: Bank) -> None:
    told = bank.purge(["tea", "cake"], dry_run=True)
    assert set(told.also) == {"sum of tea", "tag of tea"}
    bank.touch(["tea", "sum of tea"])
    bank.remember("Scones on Mondays.")
    assert bank.purge(["cake", "tea"], as_told=told.digest).also
    assert bank.get("tea") is None


def test_what_a_session_that_is_not_seen_drew_from_it_counts_as_well(kept: Kept, bank: Bank) -> None:
    told = bank.purge("tea", dry_run=True)
    with kept.opened("b", session="s") as own:
        own.remember("Mine.", id="mine", kind="summary", scope="session")
        own.link("mine", "tea", "provenance")
    with pytest.raises(ConflictError, match="differ from those of the dry run"):
        bank.purge("tea", as_told=told.digest)
    again = bank.purge("tea", dry_run=True)
    assert (again.also, again.erased["memories"]) == (told.also, told.erased["memories"] + 1)
    assert bank.purge("tea", as_told=again.digest).digest == again.digest


def test_of_two_banks_both_are_left_where_one_has_changed(bank: Bank) -> None:
    bank.remember("I drink tea.", id="mine", scope="user")
    told = bank.purge(["mine", "tea"], dry_run=True)
    assert bank.purge(["tea", "mine"], dry_run=True, as_told=told.digest).digest == told.digest
    bank.update("mine", text="I drink coffee.")
    for order in (["mine", "tea"], ["tea", "mine"]):
        with pytest.raises(ConflictError):
            bank.purge(order, as_told=told.digest)
        assert bank.get("mine") and bank.get("tea")
    assert bank.purge(["mine", "tea"], as_told=bank.purge(["tea", "mine"], dry_run=True).digest).erased["memories"] == 3


@pytest.mark.parametrize("purge", [False, True])
def test_all_from_one_source_is_forgotten_as_told_or_not_at_all(bank: Bank, purge: bool) -> None:
    told = bank.forget(source="diary", purge=purge, dry_run=True)
    bank.remember("Scones on Mondays.", id="scones", source="diary")
    for dry_run in (True, False):
        with pytest.raises(ConflictError, match="differ from those of the dry run"):
            bank.forget(source="diary", purge=purge, as_told=told.digest, dry_run=dry_run)
    assert bank.count(source="diary") == 2
    told = bank.forget(source="diary", purge=purge, dry_run=True)
    bank.touch("tea")
    done = bank.forget(source="diary", purge=purge, as_told=told.digest)
    assert (set(done.ids), done.also, done.digest) == ({"tea", "scones"}, told.also, told.digest)
    assert bank.count(source="diary") == 0


def test_what_can_be_no_digest_is_refused(bank: Bank) -> None:
    with pytest.raises(InputError, match="as_told"):
        bank.purge("tea", as_told="")
    with pytest.raises(InputError, match="as_told"):
        bank.forget(source="diary", as_told=7)  # type: ignore[arg-type]


def test_whoever_draws_from_it_at_the_same_moment_is_too_late_or_the_purge_is(kept: Kept, bank: Bank) -> None:
    """Each thread opens its own bank, as separate processes do."""
    asking, rounds = 4, 5
    together = Barrier(asking)

    def race(number: int) -> list[tuple[int, str]]:
        done: list[tuple[int, str]] = []
        with kept.opened("b") as own:
            for turn in range(rounds):
                together.wait(60)
                if number == 0:
                    tell(own, f"tea {turn}", f"cake {turn}")
                together.wait(60)
                told = own.purge(f"tea {turn}", dry_run=True)
                own.remember("There is tea.", id=f"{number} of {turn}", kind="summary")
                together.wait(60)
                try:
                    if number % 2:
                        own.link(f"{number} of {turn}", f"tea {turn}", "provenance")
                        done.append((turn, "drawn"))
                    else:
                        receipt = own.purge(f"tea {turn}", as_told=told.digest)
                        done.append((turn, "erased" if receipt.also == told.also else f"erased {receipt.also}"))
                except (ConflictError, NotFoundError):
                    done.append((turn, "too late"))
        return done

    with ThreadPoolExecutor(asking) as threads:
        told = [each for done in threads.map(race, range(asking)) for each in done]
    for turn in range(rounds):
        came = [what for at, what in told if at == turn]
        erased = came.count("erased")
        assert (erased, came.count("drawn")) in [(1, 0), (0, 2)], came
        assert (bank.get(f"tea {turn}") is None) == bool(erased)
        assert all(bank.get(f"{number} of {turn}") for number in (1, 3))
