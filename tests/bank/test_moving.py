"""Copying a bank to another location: complete and compared, or nothing after a failure."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.bank.kept import Kept
from tests.bank.test_embedding import letters
from tests.contract.making import HandClock

import pieria
from pieria import Bank
from pieria.errors import ConflictError, CorruptError, InputError, NotFoundError
from pieria.record.changeset import Changeset
from pieria.record.usage import Use
from pieria.workspace import comparison as comparing

FILLED = (
    "content", "terms", "state", "label", "link", "fact", "usage", "record", "journal", "purged", "space", "vector",
    "member", "job",
)  # fmt: skip


def lived_in(bank: Bank) -> None:
    """Fill a bank with versions, links, facts, usage, records, jobs and erased memories."""
    bank.remember("We chose JWT for all new APIs.", id="jwt", tags=["auth"], importance=0.9)
    bank.remember("Tokens are rotated daily.", id="rotation", session="one", sequence=1)
    bank.remember("The keys lie in the vault.", id="vault", session="one", sequence=2)
    bank.remember_many([{"text": f"Boat {n} lies at pier {n % 7}.", "id": f"boat-{n}"} for n in range(30)])
    bank.update("jwt", text="We chose JWT, rotated daily.")
    bank.revise("vault", text="The keys lie in the new vault.", reason="it moved")
    bank.link("jwt", "rotation", "explains")
    bank.facts.add("Maya", "works_on", "billing", valid_from="2026-01-10")
    bank.touch(["jwt"], accesses=3)
    bank.remove("boat-1")
    bank.purge("boat-2")
    bank.invalidate("boat-3")
    bank.scratchpad.write("ask Jun about the pier")
    bank.jobs.add("sleep")
    bank.sync()


def everything(bank: Bank) -> dict[str, Any]:
    bank.sync()
    with bank.core.store.reading() as reader:
        found: dict[str, Any] = comparing.prints(reader)
        found["head"] = reader.head()
    found["recalled"] = [
        (hit.memory, round(hit.score, 4)) for hit in bank.recall("where do the keys and boats lie?", k=20)
    ]
    return found


@pytest.fixture
def other(tmp_path: Path) -> Kept:
    return Kept(str(tmp_path / "other"))


@pytest.fixture
def filled(folder: Kept) -> Kept:
    """Return a folder with a bank that has vectors of a custom model."""
    with pieria.Workspace(folder.data, embedder=letters) as workspace, workspace.open("notes") as bank:
        lived_in(bank)
    return folder


def test_a_bank_goes_to_another_folder_with_all_it_holds(filled: Kept, other: Kept) -> None:
    check_copied(filled, other)


def test_a_bank_goes_to_a_server_and_back_with_all_it_holds(filled: Kept, served: Kept, other: Kept) -> None:
    check_copied(filled, served)
    check_copied(served, other)


def check_copied(source: Kept, target: Kept) -> None:
    report = pieria.copy("notes", data=source.data, to=target.data, settings=source.settings | target.settings)
    # Recall scores depend slightly on the time, so both banks use one clock.
    clock = HandClock(datetime.now(UTC))
    with source.opened("notes", clock=clock) as bank, target.opened("notes", clock=clock) as copy:
        before = everything(bank)
        assert everything(copy) == before
        prints = {what: print for what, print in before.items() if isinstance(print, comparing.Print)}
        assert all(prints[what].lines for what in FILLED)
        assert report.sha256 == {what: print.sha256 for what, print in prints.items()}
        assert report.rows == {what: print.lines for what, print in prints.items()}
        assert (report.bank, report.name, report.seq) == ("notes", "notes", before["head"].seq)
        assert report.questions >= 20
        assert json.dumps(report.as_dict())
        # The copy is an independent bank: its changes do not appear in the original.
        assert copy.remember("after").row > bank.get("boat-29").row  # type: ignore[union-attr]
        assert copy.changes(last=1)[0].seq == report.seq + 1
        assert bank.changes(last=1)[0].seq == report.seq
        assert copy.doctor().well


def test_it_may_be_called_otherwise_and_lie_beside_the_first(kept: Kept) -> None:
    with kept.opened("notes") as bank:
        bank.remember("a word", id="one")
        report = pieria.copy("Notes", data=kept.data, to=kept.data, name="again", settings=kept.settings)
    assert (report.bank, report.name) == ("notes", "again")
    with kept.opened("again") as again:
        assert again.get("one") is not None


def test_the_users_own_bank_is_copied_as_such(folder: Kept, served: Kept) -> None:
    with folder.opened("@me") as mine:
        mine.remember("I like tea", id="tea")
    pieria.copy("@me", data=folder.data, to=served.data, settings=served.settings)
    with served.opened("notes") as bank:
        assert [hit.memory.id for hit in bank.recall("tea", scope="user")] == ["tea"]


def test_what_was_only_read_is_counted_before(folder: Kept, other: Kept) -> None:
    with folder.opened("notes", settings={"count_uses": True}) as bank:
        bank.remember("a word", id="one")
        bank.recall("word")
        pieria.copy("notes", data=folder.data, to=other.data)
    with other.opened("notes") as copy:
        assert copy.usage("one")["one"].accesses == 1


def test_a_bank_that_is_there_is_not_written_over(kept: Kept, other: Kept) -> None:
    for place in (kept, other):
        with place.opened("notes") as bank:
            bank.remember(f"in {place.data}")
    for source, target in ((kept, other), (other, kept)):
        with pytest.raises(ConflictError) as caught:
            pieria.copy("NOTES", data=source.data, to=target.data, settings=kept.settings)
        assert caught.value.ids == ("notes",)
        with target.opened("notes") as bank:
            assert [memory.text for memory in bank.list()] == [f"in {target.data}"]


def test_one_that_is_made_meanwhile_is_not_written_over_either(
    folder: Kept, other: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    with folder.opened("notes") as bank:
        bank.remember("a word")
    asked = comparing.asked_alike

    def slowly(*arguments: Any) -> Any:
        with other.opened("notes") as late:
            late.remember("quicker")
        return asked(*arguments)

    monkeypatch.setattr("pieria.workspace.bank_copy.asked_alike", slowly)
    with pytest.raises(ConflictError):
        pieria.copy("notes", data=folder.data, to=other.data)
    with other.opened("notes") as bank:
        assert [memory.text for memory in bank.list()] == ["quicker"]
    assert not list(Path(other.data).glob("*.part*"))


def test_a_copy_that_differs_is_named_and_taken_back(
    filled: Kept, kept: Kept, other: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = other if kept.data == filled.data else kept

    def spoilt(writer: Any, source: Any, progress: Any) -> Any:
        done = filled_as_it_is(writer, source, progress)
        writer.apply(Changeset("touch", "test", usage=[Use("boat-5", accesses=7)]))
        return done

    with target.opened("other") as bank, bank.core.store.writing() as writer:
        kind = type(writer)
    filled_as_it_is = kind.fill
    monkeypatch.setattr(kind, "fill", spoilt)
    with pytest.raises(CorruptError, match="the copy differs in") as caught:
        pieria.copy("notes", data=filled.data, to=target.data, settings=kept.settings)
    assert "usage (1 and 2), journal" in str(caught.value)
    assert "boat-5" not in str(caught.value)
    monkeypatch.undo()
    assert nothing_of_it(target)
    pieria.copy("notes", data=filled.data, to=target.data, settings=kept.settings)


def test_a_copy_that_is_broken_off_leaves_nothing(filled: Kept, kept: Kept, other: Kept) -> None:
    target = other if kept.data == filled.data else kept

    def stop(done: int, whole: int) -> None:
        if done > whole // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pieria.copy("notes", data=filled.data, to=target.data, settings=kept.settings, progress=stop)
    assert nothing_of_it(target)
    pieria.copy("notes", data=filled.data, to=target.data, settings=kept.settings)


def test_what_is_written_meanwhile_is_not_in_the_copy(kept: Kept, other: Kept) -> None:
    with kept.opened("notes") as bank:
        lived_in(bank)
        before = bank.changes(last=1)[0].seq

        def write(done: int, whole: int) -> None:
            bank.remember(f"written when {done:,} were done")

        report = pieria.copy("notes", data=kept.data, to=other.data, settings=kept.settings, progress=write)
        assert bank.changes(last=1)[0].seq > before
    assert report.seq == before
    with other.opened("notes") as copy:
        assert copy.changes(last=1)[0].seq == before
        assert not any("written when" in memory.text for memory in copy.list(limit=100))


def test_how_far_it_is_is_told_from_the_first_row_to_the_last(filled: Kept, other: Kept) -> None:
    told: list[tuple[int, int]] = []
    report = pieria.copy("notes", data=filled.data, to=other.data, progress=lambda *far: told.append(far))
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1][0] == told[-1][1] == 3 * sum(report.rows.values())


def test_what_cannot_be_copied_is_refused_and_nothing_made(folder: Kept, other: Kept) -> None:
    with pytest.raises(NotFoundError):
        pieria.copy("nowhere", data=folder.data, to=other.data)
    folder.opened("notes").close()
    with pytest.raises(InputError, match="to: expected another place"):
        pieria.copy("notes", data=folder.data, to=folder.data)
    for wrong in ("", 7, "a\0b"):
        with pytest.raises(InputError) as caught:
            pieria.copy("notes", data=folder.data, to=wrong)  # type: ignore[arg-type]
        assert caught.value.parameter == "to"
    with pytest.raises(InputError, match="name"):
        pieria.copy("notes", data=folder.data, to=other.data, name="../up")
    assert not Path(other.data).exists()


def nothing_of_it(place: Kept) -> bool:
    """Return whether the copy left nothing. On a server, an empty bank of that name may remain."""
    if "://" in place.data:
        with place.opened("notes") as bank, bank.core.store.reading() as reader:
            return not any(reader.tables().values())
    return not [file for file in Path(place.data).glob("*notes*")]
