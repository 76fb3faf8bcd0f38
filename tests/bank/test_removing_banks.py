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


def test_removal_reports_what_it_erases_and_frees_the_name(workspace: Workspace, tmp_path: Path) -> None:
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


def test_removed_bank_is_closed_in_this_process(workspace: Workspace, tmp_path: Path) -> None:
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


def test_removal_waits_for_a_bank_that_is_being_closed(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_copies_that_a_removal_cannot_reach_are_named(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    with Workspace(tmp_path / "data", {"vault": tmp_path / "vault"}) as workspace:
        bank = filled(workspace, "trial")
        bank.vault.promote("jwt")
        bank.backup(tmp_path / "data" / "old.backup")
        bank.close()
        os.link(tmp_path / "data" / "trial.db", tmp_path / "mirror.db")
        told = workspace.remove_bank("trial", dry_run=True).unreached
        assert workspace.remove_bank("trial").unreached == told
    for named in ("old.backup", "vault", "1 hard link", f"-inum {(tmp_path / 'mirror.db').stat().st_ino}"):
        assert any(named in line for line in told), named
    assert list((tmp_path / "vault").rglob("*.md"))
    with pieria.open("mirror", data=tmp_path) as kept:
        assert kept.count() == 1


def test_bank_of_the_user_is_removed_by_its_name(workspace: Workspace) -> None:
    with workspace:
        bank = filled(workspace, "notes")
        bank.remember("I like herons.", scope="user")
        assert bank.recall("herons")
        assert workspace.remove_bank("@me").erased["memories"] == 1
        assert not [hit for hit in bank.recall("herons") if "herons" in hit.memory.text]
        bank.remember("I like storks.", scope="user")
        assert bank.recall("storks")[0].memory.text == "I like storks."


def test_missing_banks_and_foreign_files_are_refused(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="trial"):
        workspace.remove_bank("trial")
    with pytest.raises(NotFoundError):
        pieria.remove_bank("trial", data=tmp_path / "data", dry_run=True)
    with pytest.raises(InputError, match="name"):
        workspace.remove_bank("../trial")
    with pytest.raises(InputError, match="dry_run"):
        workspace.remove_bank("trial", dry_run="no")  # type: ignore[arg-type]
    assert workspace.banks() == []
    (tmp_path / "data").mkdir(exist_ok=True)
    file = tmp_path / "data" / "trial.db"
    file.write_bytes(b"no database " * 100)
    with pytest.raises(pieria.errors.ForeignFileError):
        workspace.remove_bank("trial")
    assert file.read_bytes() == b"no database " * 100


def test_file_deleted_under_an_open_bank_does_not_come_back(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "trial.db")
    store.path.unlink()
    with pytest.raises(NotFoundError, match="trial"), store.reading():
        pass
    store.close()
    assert not store.path.exists()
