"""Removing a whole bank: what is erased, the receipt, and open users that block it."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import pytest

import pieria
from pieria import Workspace
from pieria.errors import ClosedError, InputError, NotFoundError
from pieria.store.sqlite import SQLiteStore
from pieria.workspace.open_stores import stores


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "data")


def filled(workspace: Workspace, name: str) -> pieria.Bank:
    bank = workspace.open(name)
    bank.remember("We chose JWT.", id="jwt", pinned=True)
    bank.update("jwt", text="We chose JWT, rotated daily.")
    bank.facts.add("Maya", "works_on", "billing")
    return bank


def test_the_report_is_what_was_told_before_and_the_name_begins_anew(workspace: Workspace, tmp_path: Path) -> None:
    filled(workspace, "kept")
    with workspace:
        filled(workspace, "trial")
        told = workspace.remove_bank("trial", dry_run=True)
        assert workspace.banks() == ["kept", "trial"]
        report = workspace.remove_bank("Trial")
        assert (told.dry_run, report.dry_run) == (True, False)
        assert {**told.as_dict(), "dry_run": False} == report.as_dict()
        assert {"memories": 1, "versions": 3, "facts": 1, "changes": 3}.items() <= report.erased.items()
        assert workspace.banks() == ["kept"]
        assert [path.name for path in (tmp_path / "data").iterdir() if path.name.startswith("trial")] == []
        assert not workspace.open("trial").changes()
        assert workspace.open("kept").count() == 1


def test_it_is_closed_wherever_this_process_has_it_open(workspace: Workspace, tmp_path: Path) -> None:
    bank = filled(workspace, "trial")
    session = bank.session("Plan")
    session.append("It rains.", "Waited.")
    with pieria.open("trial", data=tmp_path / "data", settings={"durability": "relaxed"}) as other:
        workspace.remove_bank("trial")
        for held in (bank, other):
            with pytest.raises(ClosedError):
                held.remember("lost?")
    bank.close()
    assert workspace.banks() == []
    assert not stores.hold(workspace.place.at("trial"))


def test_one_that_is_just_being_closed_is_waited_for(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    bank = filled(workspace, "notes")
    close, begun, may_end = bank.core.store.close, threading.Event(), threading.Event()

    def slowly() -> None:
        begun.set()
        assert may_end.wait(60)
        close()

    monkeypatch.setattr(bank.core.store, "close", slowly)
    with ThreadPoolExecutor(2) as threads:
        closing = threads.submit(bank.close)
        assert begun.wait(60)
        removing = threads.submit(workspace.remove_bank, "notes")
        wait([removing], timeout=0.2)
        may_end.set()
        closing.result(60)
        removing.result(60)
    assert workspace.banks() == []


def test_what_it_cannot_reach_is_named(workspace: Workspace, tmp_path: Path) -> None:
    vaulted = Workspace(tmp_path / "data", {"vault": tmp_path / "vault"})
    (tmp_path / "vault").mkdir()
    with vaulted, filled(vaulted, "trial") as bank:
        bank.vault.promote("jwt")
        bank.backup(tmp_path / "data" / "old.backup")
        told = vaulted.remove_bank("trial", dry_run=True).unreached
        assert vaulted.remove_bank("trial").unreached == told
    assert any("old.backup" in line for line in told)
    assert any("vault" in line for line in told)
    assert list((tmp_path / "vault").rglob("*.md"))


def test_another_name_of_its_file_keeps_it_and_is_told(workspace: Workspace, tmp_path: Path) -> None:
    with workspace:
        filled(workspace, "trial").close()
        os.link(tmp_path / "data" / "trial.db", tmp_path / "mirror.db")
        inode = (tmp_path / "mirror.db").stat().st_ino
        told = workspace.remove_bank("trial", dry_run=True).unreached
        assert workspace.remove_bank("trial").unreached == told
    assert [line for line in told if "1 hard link" in line and f"-inum {inode}" in line]
    with pieria.open("mirror", data=tmp_path) as kept:
        assert kept.count() == 1


def test_the_user_s_own_bank_goes_by_its_name_and_others_go_on_without_it(workspace: Workspace) -> None:
    with workspace:
        bank = filled(workspace, "notes")
        bank.remember("I like herons.", scope="user")
        assert bank.recall("herons")
        assert workspace.remove_bank("@me").erased["memories"] == 1
        assert not [hit for hit in bank.recall("herons") if "herons" in hit.memory.text]
        bank.remember("I like storks.", scope="user")
        assert bank.recall("storks")[0].memory.text == "I like storks."


def test_a_bank_that_is_not_there_is_told_and_none_is_made(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="trial"):
        workspace.remove_bank("trial")
    with pytest.raises(NotFoundError):
        pieria.remove_bank("trial", data=tmp_path / "data", dry_run=True)
    with pytest.raises(InputError, match="name"):
        workspace.remove_bank("../trial")
    with pytest.raises(InputError, match="dry_run"):
        workspace.remove_bank("trial", dry_run="no")  # type: ignore[arg-type]
    assert workspace.banks() == []


def test_no_file_of_another_program_is_taken_for_a_bank(workspace: Workspace, tmp_path: Path) -> None:
    file = tmp_path / "data" / "trial.db"
    file.parent.mkdir()
    file.write_bytes(b"no database " * 100)
    with pytest.raises(pieria.errors.ForeignFileError):
        workspace.remove_bank("trial")
    assert file.read_bytes() == b"no database " * 100


def test_a_file_that_was_taken_away_under_whoever_has_it_open_does_not_come_back_empty(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "trial.db")
    store.path.unlink()
    with pytest.raises(NotFoundError, match="trial"), store.reading():
        pass
    store.close()
    assert not store.path.exists()
