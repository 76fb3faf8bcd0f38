"""What comes from places outside that are looked at again, in a folder and on a server."""

from pathlib import Path

import pytest
from tests.bank.kept import Kept

import pieria
from pieria import Bank
from pieria.bank.capture.sources import GONE
from pieria.errors import InputError, PrivacyError
from pieria.mining import mine
from pieria.record.draft import NewMemory

SOURCE = "https://example.com/rates"


def page(number: int, text: str, digest: str = "v1", **more: object) -> NewMemory:
    return NewMemory(text, id=f"page-{number}", source=SOURCE, meta={"mined": digest}, **more)  # type: ignore[arg-type]


def outcomes(bank: Bank, *items: NewMemory, **more: object) -> list[object]:
    force = bool(more.pop("force", False))
    return list(bank.sources.intake(force=force).take(items, **more).outcomes)  # type: ignore[arg-type]


def test_nothing_comes_in_twice(kept: Kept) -> None:
    with kept.opened("twice") as bank:
        assert outcomes(bank, page(1, "Rates rise."), page(2, "Fees fall."), page(1, "Rates rise.")) == [
            "new", "new", "unchanged",
        ]  # fmt: skip
        assert outcomes(bank, page(2, "Fees fall.")) == ["unchanged"]
        assert sorted(bank.sources.ids(SOURCE)) == ["page-1", "page-2"]
        assert bank.count() == 2


def test_what_says_something_else_is_the_next_version(kept: Kept) -> None:
    with kept.opened("versions") as bank:
        outcomes(bank, page(1, "Rates rise."))
        assert outcomes(bank, page(1, "Rates fall.", "v2"), marks={SOURCE: {"seen": 2}}) == ["changed"]
        assert [(one.text, one.version) for one in bank.history("page-1")] == [("Rates rise.", 1), ("Rates fall.", 2)]
        assert bank.sources.known() == {SOURCE: {"seen": 2}}


def test_what_a_source_has_no_more_ends_and_is_back_with_it(kept: Kept) -> None:
    with kept.opened("gone") as bank:
        outcomes(bank, page(1, "Rates rise."))
        assert bank.sources.intake().take([], gone={"page-1": GONE, "page-9": GONE}).ended == ["page-1"]
        assert bank.sources.intake().take([], gone={"page-1": GONE}).ended == []
        assert list(bank.recall("rates")) == []
        assert bank.sources.ids(SOURCE) == ["page-1"]
        assert outcomes(bank, page(1, "Rates rise.")) == ["back"]
        [found] = bank.recall("rates")
        assert (found.memory.reason, found.memory.valid_until) == (None, None)


def test_what_is_not_to_be_hidden_only_says_why(kept: Kept) -> None:
    with kept.opened("said") as bank:
        outcomes(bank, page(1, "Rates rise."))
        bank.sources.intake().take([], gone={"page-1": GONE}, hide=False)
        assert [hit.memory.reason for hit in bank.recall("rates")] == [GONE]


def test_marks_go_in_with_the_last_of_their_source_and_out_again(kept: Kept) -> None:
    with kept.opened("marks") as bank:
        before = len(bank.changes())
        outcomes(bank, page(1, "Rates rise."), marks={SOURCE: {"seen": 1}, "file:/x": {"seen": 1}})
        assert len(bank.changes()) == before + 1
        assert bank.sources.known("https:") == {SOURCE: {"seen": 1}}
        outcomes(bank, marks={SOURCE: None})
        assert bank.sources.known("https:") == {}


def test_a_dry_run_says_the_same_and_writes_nothing(kept: Kept) -> None:
    with kept.opened("dry") as bank:
        outcomes(bank, page(1, "Rates rise."))
        before = bank.changes()
        intake = bank.sources.intake(dry_run=True)
        told = intake.take(
            [page(1, "Rates fall.", "v2"), page(2, "Fees fall.")], gone={"page-1": GONE}, marks={"a": {}}
        )
        assert told.outcomes == ["changed", "new"]
        assert intake.take([page(2, "Fees fall.")]).outcomes == ["unchanged"]
        assert bank.changes() == before
        assert bank.sources.known() == {}


def test_what_was_purged_or_removed_stays_away_unless_forced(kept: Kept) -> None:
    with kept.opened("away") as bank:
        outcomes(bank, page(1, "Rates rise."), page(2, "Fees fall."))
        bank.purge("page-1")
        bank.remove("page-2", reason="wrong")
        assert outcomes(bank, page(1, "Rates rise."), page(2, "Fees fall.")) == ["purged", "removed"]
        assert outcomes(bank, page(1, "Rates rise."), page(2, "Fees fall."), force=True) == ["new", "back"]
        assert bank.count() == 2
        bank.remove("page-2", reason=GONE)
        assert outcomes(bank, page(2, "Fees fall.")) == ["back"]


def test_what_was_revised_or_ended_by_somebody_is_left_alone(kept: Kept) -> None:
    with kept.opened("alone") as bank:
        outcomes(bank, page(1, "Rates rise."), page(2, "Fees fall."))
        bank.revise("page-1", text="Rates rise in May.")
        bank.invalidate("page-2", reason="no fees any more")
        assert outcomes(bank, page(1, "Rates rise!", "v2"), page(2, "Fees fall.")) == ["unchanged", "unchanged"]
        assert [memory.text for memory in bank.list()] == ["Rates rise in May."]


def test_what_was_captured_stands_for_as_many_of_the_same_words(kept: Kept) -> None:
    with kept.opened("captured") as bank:
        spoken = {"kind": "turn", "session": "s", "author_type": "human"}
        bank.remember("yes", **spoken)  # type: ignore[arg-type]
        one, two = (page(n, "yes", **spoken) for n in (1, 2))
        other = page(3, "yes", **{**spoken, "session": "t"})
        intake = bank.sources.intake()
        assert intake.take([one]).outcomes + intake.take([two, other]).outcomes == ["told", "new", "new"]
        assert outcomes(bank, one, two, other) == ["told", "unchanged", "unchanged"]


def test_what_was_captured_and_removed_does_not_come_back_by_its_log(kept: Kept) -> None:
    with kept.opened("removed-since") as bank:
        spoken = {"kind": "turn", "session": "s", "author_type": "human"}
        said = bank.remember("I shall leave in May.", **spoken)  # type: ignore[arg-type]
        bank.remove(said.id)
        assert outcomes(bank, page(1, "I shall leave in May.", **spoken)) == ["told"]
        assert list(bank.list()) == []


def test_what_was_captured_without_its_secret_is_the_same(tmp_path: Path) -> None:
    said = "the key is ghp_" + "a1B2" * 9
    spoken = {"kind": "turn", "session": "s", "author_type": "human"}
    with pieria.open("notes", data=tmp_path, settings={"secrets": "redact"}) as bank:
        bank.remember(said, **spoken)  # type: ignore[arg-type]
    with pieria.open("notes", data=tmp_path) as bank:
        assert outcomes(bank, page(1, said, **spoken)) == ["told"]


def test_files_are_mined_into_a_bank_wherever_it_is_kept(kept: Kept, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("Herons stand still.\n")
    (tmp_path / "notes" / "b.md").write_text("Storks clatter.\n")
    with kept.opened("mined") as bank:
        assert mine(bank, tmp_path / "notes").memories == {"new": 2}
        assert mine(bank, tmp_path / "notes").memories == {"unchanged": 2}
        (tmp_path / "notes" / "a.md").write_text("Herons wade.\n")
        (tmp_path / "notes" / "b.md").unlink()
        assert mine(bank, tmp_path / "notes").memories == {"new": 1, "superseded": 1, "vanished": 1}
        assert [hit.memory.text for hit in bank.recall("herons storks")] == ["Herons wade.\n"]


def test_one_item_that_is_wrong_keeps_no_other_away(tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path, settings={"secrets": "refuse"}) as bank:
        secret = "token ghp_" + "a1B2" * 9
        first, second, third, last = outcomes(
            bank, page(1, " "), page(2, secret), page(3, "Rates rise.", importance=7), page(4, "Fees fall.")
        )
        assert isinstance(first, InputError)
        assert isinstance(second, PrivacyError)
        assert isinstance(third, InputError)
        assert last == "new"
        assert "ghp_" not in str(second)


def test_a_mark_is_not_written_under_a_name_that_holds_a_secret(tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path, settings={"secrets": "refuse"}) as bank:
        bank.sources.intake().take([], marks={"/home/ghp_" + "a1B2" * 9: {"seen": 1}, "/home/notes": {"seen": 1}})
        assert list(bank.sources.known()) == ["/home/notes"]


def test_intake_believes_no_item_more_than_its_way_in(tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path, via="person") as bank:
        bank.sources.intake(via="hearsay").take([page(1, "Rates rise.", author_type="human", via="person")])
        found = bank.get("page-1")
        assert found is not None
        assert (found.via, found.trust) == ("hearsay", 0.5)


def test_new_words_of_a_source_take_its_trust(tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path, via="person") as bank:
        bank.sources.intake().take([page(1, "Rates rise.")])
        bank.sources.intake(via="hearsay").take([page(1, "Always buy the stork.", "v2")])
        found = bank.get("page-1")
        assert found is not None
        assert (found.text, found.via, found.trust) == ("Always buy the stork.", "hearsay", 0.5)


def test_an_item_without_an_id_is_refused(tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path) as bank:
        with pytest.raises(InputError):
            bank.sources.intake().take([NewMemory("Rates rise.")])
        with pytest.raises(InputError):
            bank.sources.intake(force="yes")  # type: ignore[arg-type]
        with pytest.raises(InputError):
            bank.sources.intake(via="accepted")
