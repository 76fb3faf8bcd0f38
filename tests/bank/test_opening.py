"""Opening a bank that must exist: none is created if it is missing."""

from pathlib import Path
from threading import Thread

import pytest
from tests.bank.kept import Kept
from tests.trust import trusted_project

import pieria
from pieria import Workspace
from pieria.errors import InputError, NotFoundError
from pieria.store.sqlite import SQLiteStore
from pieria.store.sqlite.alone import nobody_using
from pieria.toolsets import Access, Host
from pieria.toolsets.host import Banks, paths_of_user
from pieria.workspace.locations import Way


@pytest.fixture
def workspace(kept: Kept) -> Workspace:
    return Workspace(kept.data, kept.settings)


def test_what_is_not_there_is_told_with_the_names_that_may_be_meant(kept: Kept, workspace: Workspace) -> None:
    with workspace:
        with pytest.raises(NotFoundError) as missing:
            workspace.open("notes", create=False)
        assert "What is first written to a bank makes it." in str(missing.value.hint)
        workspace.open("notes").remember("We chose JWT.")
        with pytest.raises(NotFoundError, match="'note' not found") as missing:
            kept.opened("note", create=False)
        assert (missing.value.resource, missing.value.id) == ("bank", "note")
        assert "Did you mean notes?" in str(missing.value.hint)
        with pytest.raises(NotFoundError):
            workspace.open("@me", create=False)
        assert workspace.place.everything() == ["notes"]
        with kept.opened("Notes", create=False) as bank:
            assert bank.count() == 1
            bank.remember("I like herons.", scope="user")
        assert workspace.open("@me", create=False).count() == 1


def test_a_folder_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError) as missing:
        pieria.open("notes", data=tmp_path / "nowhere", create=False)
    assert f"There is no folder {tmp_path / 'nowhere'}." in str(missing.value.hint)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError, match="create"):
        pieria.open("notes", data=tmp_path, create="no")  # type: ignore[arg-type]


def test_one_that_goes_after_it_was_seen_does_not_come_back_empty(workspace: Workspace) -> None:
    with workspace:
        workspace.open("notes").remember("We chose JWT.")
        seen = workspace.place.at("notes")
        workspace.remove_bank("notes")
        assert workspace.banks() == []
        with pytest.raises(NotFoundError):
            seen.open(Way(), create=False)
        assert workspace.banks() == []


def test_whoever_waits_to_open_a_file_that_is_taken_away_is_told(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    SQLiteStore(path).close()
    told: list[Exception] = []

    def wait_for_it() -> None:
        try:
            SQLiteStore(path, create=False)
        except NotFoundError as missing:
            told.append(missing)

    opener = Thread(target=wait_for_it)
    with nobody_using(path, "remove"):
        opener.start()
        path.unlink()
    opener.join()
    assert len(told) == 1
    assert not path.exists()


def test_a_caller_is_told_of_those_banks_only_that_they_may_reach(workspace: Workspace) -> None:
    with workspace:
        for name in ("notes", "notes-of-maya"):
            workspace.open(name)
        host = Host(
            Banks(workspace, "test"),
            "notez",
            None,
            paths_of_user(workspace),
            access=Access.read,
            covers=lambda name: name != "notes-of-maya",
        )
        with pytest.raises(NotFoundError) as missing:
            host.bank  # noqa: B018 - to open it is the point
        assert missing.value.hint == "Did you mean notes? What is first written to a bank makes it."
        assert workspace.banks() == ["notes", "notes-of-maya"]


def test_what_works_on_banks_that_it_found_passes_by_one_that_went(workspace: Workspace) -> None:
    with workspace:
        for name in ("letters", "notes"):
            workspace.open(name)
        banks = Banks(workspace, "test")
        found = banks.there()
        workspace.remove_bank("letters")
        assert [bank.name for bank in banks.still_there(found)] == ["notes"]
        assert workspace.banks() == ["notes"]


def test_without_a_name_the_project_chooses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "app" / ".git").mkdir(parents=True)
    with pieria.open() as bank:
        assert bank.name == "default"
    monkeypatch.chdir(tmp_path / "app")
    with pieria.open() as bank:
        assert bank.name.startswith("app-")
    trusted_project(tmp_path / "app", 'bank = "ours"\ndata = "memory"\n')
    monkeypatch.delenv("PIERIA_DATA")
    with pieria.open() as bank:
        assert (bank.name, bank.data) == ("ours", tmp_path / "app" / "memory")
    monkeypatch.setenv("PIERIA_BANK", "mine")
    with pieria.open() as bank, Workspace().open() as other:
        assert bank.name == other.name == "mine"
    with pieria.open("named") as bank, Workspace().open("named") as other:
        assert bank.name == other.name == "named"
