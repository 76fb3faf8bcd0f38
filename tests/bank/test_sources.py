"""Memories from outside sources that are read again later."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.bank.kept import Kept

import pieria
from pieria import Bank
from pieria.bank.capture.sources import GONE
from pieria.errors import InputError, PrivacyError
from pieria.record.draft import NewMemory

SOURCE = "https://example.com/rates"
SECRET = "ghp_" + "a1B2" * 9
SPOKEN: dict[str, Any] = {"kind": "turn", "session": "s", "author_type": "human"}


def page(number: int, text: str, digest: str = "v1", **more: object) -> NewMemory:
    return NewMemory(text, id=f"page-{number}", source=SOURCE, meta={"mined": digest}, **more)  # type: ignore[arg-type]


def outcomes(bank: Bank, *items: NewMemory, force: bool = False, **more: object) -> list[object]:
    return list(bank.sources.intake(force=force).take(items, **more).outcomes)  # type: ignore[arg-type]


def test_each_item_comes_in_once_and_changes_as_versions(kept: Kept) -> None:
    with kept.opened("versions") as bank:
        before = len(bank.changes())
        items = page(1, "Rates rise."), page(2, "Fees fall."), page(1, "Rates rise.")
        marks = {SOURCE: {"seen": 1}, "file:/x": {"seen": 1}}
        assert outcomes(bank, *items, marks=marks) == ["new", "new", "unchanged"]
        assert len(bank.changes()) == before + 1
        assert bank.sources.known("https:") == {SOURCE: {"seen": 1}}
        assert sorted(bank.sources.ids(SOURCE)) == ["page-1", "page-2"]
        assert outcomes(bank, page(1, "Rates fall.", "v2"), page(2, "Fees fall.")) == ["changed", "unchanged"]
        assert [(one.text, one.version) for one in bank.history("page-1")] == [("Rates rise.", 1), ("Rates fall.", 2)]
        outcomes(bank, marks={SOURCE: None})
        assert (bank.count(), bank.sources.known("https:")) == (2, {})


def test_item_that_a_source_lost_ends_until_it_is_back(bank: Bank) -> None:
    outcomes(bank, page(1, "Rates rise."), page(2, "Fees fall."))
    bank.sources.intake().take([], gone={"page-2": GONE}, hide=False)
    assert [hit.memory.reason for hit in bank.recall("fees")] == [GONE]
    assert bank.sources.intake().take([], gone={"page-1": GONE, "page-9": GONE}).ended == ["page-1"]
    assert bank.sources.intake().take([], gone={"page-1": GONE}).ended == []
    assert list(bank.recall("rates")) == []
    assert "page-1" in bank.sources.ids(SOURCE)
    assert outcomes(bank, page(1, "Rates rise.")) == ["back"]
    [found] = bank.recall("rates")
    assert (found.memory.reason, found.memory.valid_until) == (None, None)


def test_dry_run_returns_the_same_and_writes_nothing(bank: Bank) -> None:
    outcomes(bank, page(1, "Rates rise."))
    before = bank.changes()
    intake = bank.sources.intake(dry_run=True)
    told = intake.take([page(1, "Rates fall.", "v2"), page(2, "Fees fall.")], gone={"page-1": GONE}, marks={"a": {}})
    assert told.outcomes == ["changed", "new"]
    assert intake.take([page(2, "Fees fall.")]).outcomes == ["unchanged"]
    assert (bank.changes(), bank.sources.known()) == (before, {})


def test_purged_and_removed_items_stay_away_unless_forced(bank: Bank) -> None:
    items = page(1, "Rates rise."), page(2, "Fees fall.")
    outcomes(bank, *items)
    bank.purge("page-1")
    bank.remove("page-2", reason="wrong")
    assert outcomes(bank, *items) == ["purged", "removed"]
    assert outcomes(bank, *items, force=True) == ["new", "back"] and bank.count() == 2
    bank.remove("page-2", reason=GONE)
    assert outcomes(bank, items[1]) == ["back"]


def test_revised_and_ended_items_are_left_alone(bank: Bank) -> None:
    outcomes(bank, page(1, "Rates rise."), page(2, "Fees fall."))
    bank.revise("page-1", text="Rates rise in May.")
    bank.invalidate("page-2", reason="no fees any more")
    assert outcomes(bank, page(1, "Rates rise!", "v2"), page(2, "Fees fall.")) == ["unchanged", "unchanged"]
    assert [memory.text for memory in bank.list()] == ["Rates rise in May."]


def test_captured_turns_stand_for_as_many_of_the_same_words(bank: Bank, opened: Callable[..., Bank]) -> None:
    bank.remember("yes", **SPOKEN)
    one, two, other = page(1, "yes", **SPOKEN), page(2, "yes", **SPOKEN), page(3, "yes", **SPOKEN | {"session": "t"})
    intake = bank.sources.intake()
    assert intake.take([one]).outcomes + intake.take([two, other]).outcomes == ["told", "new", "new"]
    assert outcomes(bank, one, two, other) == ["told", "unchanged", "unchanged"]
    # A removed turn does not come back, and a turn without its secret is the same.
    bank.remove(bank.remember("I shall leave in May.", **SPOKEN).id)
    opened(secrets="redact").remember(f"the key is {SECRET}", **SPOKEN)
    for text in ("I shall leave in May.", f"the key is {SECRET}"):
        assert outcomes(bank, page(4, text, **SPOKEN)) == ["told"]


def test_wrong_items_and_marks_keep_no_other_away(opened: Callable[..., Bank]) -> None:
    bank = opened(secrets="refuse")
    items = page(1, " "), page(2, SECRET), page(3, "Rates rise.", importance=7), page(4, "Fees fall.")
    found = outcomes(bank, *items, marks={f"/home/{SECRET}": {}, "/home/notes": {"seen": 1}})
    assert [type(outcome) for outcome in found] == [InputError, PrivacyError, InputError, str]
    assert "ghp_" not in str(found[1]) and found[3] == "new"
    assert list(bank.sources.known()) == ["/home/notes"]


def test_items_have_the_trust_of_their_way_in(tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path, via="person") as bank:
        bank.sources.intake(via="hearsay").take([page(1, "Rates rise.", author_type="human", via="person")])
        bank.sources.intake().take([page(2, "Rates rise.")])
        bank.sources.intake(via="hearsay").take([page(2, "Always buy the stork.", "v2")])
        found = {memory.id: (memory.text, memory.via, memory.trust) for memory in bank.list()}
        assert found["page-1"] == ("Rates rise.", "hearsay", 0.5)
        assert found["page-2"] == ("Always buy the stork.", "hearsay", 0.5)


def test_bad_arguments_are_refused(bank: Bank) -> None:
    with pytest.raises(InputError):
        bank.sources.intake().take([NewMemory("Rates rise.")])
    wrong: list[dict[str, Any]] = [{"force": "yes"}, {"via": "accepted"}]
    for asked in wrong:
        with pytest.raises(InputError):
            bank.sources.intake(**asked)
