"""Opening a bank that must exist: none is created if it is missing."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

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
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with Workspace(tmp_path / "data") as made:
        yield made


def test_missing_bank_is_not_made_and_similar_names_are_offered(kept: Kept, tmp_path: Path) -> None:
    with Workspace(kept.data, kept.settings) as workspace:
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
        # A bank that goes after it was seen does not come back empty.
        seen = workspace.place.at("notes")
        workspace.remove_bank("notes")
        with pytest.raises(NotFoundError):
            seen.open(Way(), create=False)
        assert workspace.banks() == []
    with pytest.raises(NotFoundError) as missing:
        pieria.open("notes", data=tmp_path / "nowhere", create=False)
    assert f"There is no folder {tmp_path / 'nowhere'}." in str(missing.value.hint)
    assert not (tmp_path / "nowhere").exists()
    with pytest.raises(InputError, match="create"):
        pieria.open("notes", data=tmp_path, create="no")  # type: ignore[arg-type]


def test_opener_that_waits_for_a_removed_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    SQLiteStore(path).close()
    with ThreadPoolExecutor(1) as threads, nobody_using(path, "remove"):
        opener = threads.submit(SQLiteStore, path, create=False)
        path.unlink()
    assert isinstance(opener.exception(), NotFoundError)
    assert not path.exists()


def test_caller_hears_only_of_banks_it_may_reach(workspace: Workspace) -> None:
    for name in ("notes", "notes-of-maya"):
        workspace.open(name)
    banks = Banks(workspace, "test")
    reached: dict[str, Any] = {"access": Access.read, "covers": lambda name: name != "notes-of-maya"}
    host = Host(banks, "notez", None, paths_of_user(workspace), **reached)
    with pytest.raises(NotFoundError) as missing:
        host.bank  # noqa: B018 - to open it is the point
    assert missing.value.hint == "Did you mean notes? What is first written to a bank makes it."
    assert workspace.banks() == ["notes", "notes-of-maya"]
    # Work on all banks passes by one that is removed meanwhile.
    found = banks.there()
    workspace.remove_bank("notes-of-maya")
    assert [bank.name for bank in banks.still_there(found)] == workspace.banks() == ["notes"]


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
