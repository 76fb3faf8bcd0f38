"""Copying a bank to another location: complete and compared, or nothing after a failure."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.bank.kept import Kept
from tests.bank.test_vectors import letters
from tests.contract.store_helpers import HandClock

import pieria
from pieria import Bank
from pieria.errors import ConflictError, CorruptError, InputError, NotFoundError
from pieria.record.changeset import Changeset
from pieria.record.usage import Use
from pieria.workspace import comparison as comparing

FILLED = "content terms state label link fact usage record journal purged space vector member job"


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
    hits = bank.recall("where do the keys and boats lie?", k=20)
    return {**found, "recalled": [(hit.memory, round(hit.score, 4)) for hit in hits]}


@pytest.fixture
def other(tmp_path: Path) -> Kept:
    return Kept(str(tmp_path / "other"))


@pytest.fixture
def filled(folder: Kept) -> Kept:
    """Return a folder with a bank that has vectors of a custom model."""
    with pieria.Workspace(folder.data, embedder=letters) as workspace, workspace.open("notes") as bank:
        lived_in(bank)
    return folder


def test_copy_on_a_server_and_back_holds_everything(filled: Kept, served: Kept, other: Kept) -> None:
    # Recall scores depend slightly on the time, so all banks use one clock.
    clock = HandClock(datetime.now(UTC))
    for source, target in ((filled, served), (served, other)):
        far: list[tuple[int, int]] = []
        report = pieria.copy(
            "notes", data=source.data, to=target.data, settings=source.settings | target.settings,
            progress=lambda *step: far.append(step),  # noqa: B023
        )  # fmt: skip
        assert [done for done, _ in far] == sorted(done for done, _ in far)
        assert far[-1][0] == far[-1][1] == 3 * sum(report.rows.values())
        with source.opened("notes", clock=clock) as bank, target.opened("notes", clock=clock) as copy:
            before = everything(bank)
            assert everything(copy) == before
            prints = {what: print for what, print in before.items() if isinstance(print, comparing.Print)}
            assert all(prints[what].lines for what in FILLED.split())
            assert report.sha256 == {what: print.sha256 for what, print in prints.items()}
            assert report.rows == {what: print.lines for what, print in prints.items()}
            assert (report.bank, report.name, report.seq) == ("notes", "notes", before["head"].seq)
            assert report.questions >= 20
            assert json.dumps(report.as_dict())
            # The copy is an independent bank: its changes do not appear in the original.
            assert copy.remember("after").row > bank.get("boat-29").row  # type: ignore[union-attr]
            assert (copy.changes(last=1)[0].seq, bank.changes(last=1)[0].seq) == (report.seq + 1, report.seq)
            assert copy.doctor().well


def test_users_own_bank_is_copied_and_reads_are_counted_first(folder: Kept, served: Kept) -> None:
    with folder.opened("@me") as mine:
        mine.remember("I like tea", id="tea")
    pieria.copy("@me", data=folder.data, to=served.data, settings=served.settings)
    with folder.opened("notes", settings={"count_uses": True}) as bank:
        bank.remember("a word", id="one")
        bank.recall("word")
        report = pieria.copy("Notes", data=folder.data, to=folder.data, name="again")
        assert (report.bank, report.name) == ("notes", "again")
        pieria.copy("notes", data=folder.data, to=served.data, settings=served.settings)
    for place, name in ((served, "notes"), (folder, "again")):
        with place.opened(name) as copy:
            assert copy.usage("one")["one"].accesses == 1
    with served.opened("notes") as copy:
        assert [hit.memory.id for hit in copy.recall("tea", scope="user")] == ["tea"]


def test_existing_bank_is_not_written_over(kept: Kept, other: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in (kept, other):
        with place.opened("notes") as bank:
            bank.remember(f"in {place.data}")
    for source, target in ((kept, other), (other, kept)):
        with pytest.raises(ConflictError) as caught:
            pieria.copy("NOTES", data=source.data, to=target.data, settings=kept.settings)
        assert caught.value.ids == ("notes",)
        with target.opened("notes") as bank:
            assert [memory.text for memory in bank.list()] == [f"in {target.data}"]
    asked = comparing.asked_alike

    def slowly(*arguments: Any) -> Any:
        with other.opened("late") as late:
            late.remember("quicker")
        return asked(*arguments)

    monkeypatch.setattr("pieria.workspace.bank_copy.asked_alike", slowly)
    with pytest.raises(ConflictError):
        pieria.copy("notes", data=kept.data, to=other.data, name="late", settings=kept.settings)
    with other.opened("late") as bank:
        assert [memory.text for memory in bank.list()] == ["quicker"]
    assert not list(Path(other.data).glob("*.part*"))


def test_spoilt_copy_is_taken_back(filled: Kept, kept: Kept, other: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    target = other if kept.data == filled.data else kept

    def copied(**more: Any) -> None:
        pieria.copy("notes", data=filled.data, to=target.data, settings=kept.settings, **more)

    def nothing_of_it() -> bool:
        """Return whether the copy left nothing. On a server, an empty bank of that name may remain."""
        if "://" in target.data:
            with target.opened("notes") as bank, bank.core.store.reading() as reader:
                return not any(reader.tables().values())
        return not [*Path(target.data).glob("*notes*")]

    def stop(done: int, whole: int) -> None:
        if done > whole // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copied(progress=stop)
    assert nothing_of_it()

    def spoilt(writer: Any, source: Any, progress: Any) -> Any:
        done = filled_as_it_is(writer, source, progress)
        writer.apply(Changeset("touch", "test", usage=[Use("boat-5", accesses=7)]))
        return done

    with target.opened("other") as bank, bank.core.store.writing() as writer:
        kind = type(writer)
    filled_as_it_is = kind.fill
    with monkeypatch.context() as patched, pytest.raises(CorruptError, match="the copy differs in") as caught:
        patched.setattr(kind, "fill", spoilt)
        copied()
    assert "usage (1 and 2), journal" in str(caught.value) and "boat-5" not in str(caught.value)
    assert nothing_of_it()
    copied()


def test_write_during_a_copy_is_not_in_it(kept: Kept, other: Kept) -> None:
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


def test_wrong_place_or_name_is_refused_and_nothing_made(folder: Kept, other: Kept) -> None:
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
