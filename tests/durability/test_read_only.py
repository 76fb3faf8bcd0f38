"""Files and folders without write permission: a typed error with a hint, and no byte changed."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.durability import places
from tests.durability.processes import done

import pieria

Before = dict[str, tuple[int, bytes | None]]


@pytest.fixture
def folder() -> Iterator[Path]:
    """Yield a folder that every user can reach. The folders of pytest are private."""
    made = Path(tempfile.mkdtemp(prefix="pieria-test-"))
    made.chmod(0o755)
    yield made
    for path in made.rglob("*"):
        if path.is_dir():
            path.chmod(0o755)
    shutil.rmtree(made)


def contents(folder: Path) -> Before:
    return {
        str(path.relative_to(folder)): (path.stat().st_mode, path.read_bytes() if path.is_file() else None)
        for path in sorted(folder.rglob("*"))
    }


def a_bank(folder: Path) -> Path:
    with pieria.open("notes", data=folder / "data") as bank:
        bank.remember("heron")
    return folder / "data"


def check(said: Any, names: Path, error: str = "ReadOnlyError") -> None:
    kind, message, helps = said
    assert kind == error, said
    assert str(names) in message
    assert helps


def test_a_folder_that_cannot_be_made(folder: Path) -> None:
    before = contents(folder)
    [said] = done(places.open_as_nobody, str(folder / "data"))
    check(said, folder / "data")
    assert contents(folder) == before == {}


def test_a_folder_that_may_not_be_written(folder: Path) -> None:
    (folder / "data").mkdir(mode=0o755)
    [said] = done(places.open_as_nobody, str(folder / "data"))
    check(said, folder / "data")
    assert list((folder / "data").iterdir()) == []


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o444, 0o000])
def test_a_file_of_somebody_else(folder: Path, mode: int) -> None:
    data = a_bank(folder)
    data.chmod(0o755)
    (data / "notes.db").chmod(mode)
    before = contents(folder)
    [said] = done(places.open_as_nobody, str(data))
    check(said, data / "notes.db")
    assert contents(folder) == before


def test_a_file_that_may_be_written_in_a_folder_that_may_not(folder: Path) -> None:
    """SQLite needs files beside the bank. Without them it must refuse."""
    data = a_bank(folder)
    data.chmod(0o755)
    (data / "notes.db").chmod(0o666)
    before = contents(folder)
    [said] = done(places.open_as_nobody, str(data))
    check(said, data / "notes.db")
    assert contents(folder) == before


def test_a_file_that_may_not_be_written_in_a_folder_that_may(folder: Path) -> None:
    data = a_bank(folder)
    data.chmod(0o777)
    (data / "notes.db").chmod(0o444)
    before = contents(folder)
    [said] = done(places.open_as_nobody, str(data))
    check(said, data / "notes.db")
    assert contents(folder) == before


def test_a_folder_that_may_not_even_be_looked_into(folder: Path) -> None:
    data = a_bank(folder)
    data.chmod(0o000)
    said = done(places.open_as_nobody, str(data))
    assert said[0][0] in {"ReadOnlyError", "StorageError"}, said
    assert str(data) in said[0][1]


def test_copies_into_a_folder_that_may_not_be_written(folder: Path) -> None:
    (folder / "data").mkdir()
    (folder / "data").chmod(0o777)
    (folder / "locked").mkdir(mode=0o755)
    backup, export, texts = done(places.copy_as_nobody, str(folder / "data"), str(folder / "locked"))
    check(backup, folder / "locked")
    assert export[0] in {"ReadOnlyError", "TransferError", "StorageError"}, export
    assert texts == ["heron"]
    assert list((folder / "locked").iterdir()) == []


def test_bringing_a_backup_back_into_a_folder_that_may_not_be_written(folder: Path) -> None:
    with pieria.open("notes", data=folder / "data") as bank:
        copied = bank.backup(folder / "copy.backup")
    copied.chmod(0o644)
    (folder / "locked").mkdir(mode=0o755)
    [said] = done(places.restore_as_nobody, str(copied), str(folder / "locked"))
    check(said, folder / "locked")
    assert list((folder / "locked").iterdir()) == []


@pytest.mark.parametrize("there", ["link to nothing", "folder"])
def test_something_else_stands_where_the_bank_should(folder: Path, there: str) -> None:
    target = folder / "data" / "notes.db"
    target.parent.mkdir()
    if there == "folder":
        target.mkdir()
    else:
        target.symlink_to(folder / "nowhere" / "notes.db")
    with pytest.raises(pieria.errors.ReadOnlyError) as refused:
        pieria.open("notes", data=folder / "data")
    assert refused.value.hint
    assert [path.name for path in target.parent.iterdir()] == ["notes.db"]
    assert target.is_symlink() or list(target.iterdir()) == []
    assert not (folder / "nowhere").exists()


def test_a_file_stands_where_the_folder_should(folder: Path) -> None:
    (folder / "data").write_text("not a folder")
    with pytest.raises(pieria.errors.InputError, match="data"):
        pieria.open("notes", data=folder / "data")
    assert (folder / "data").read_text() == "not a folder"


def test_files_are_for_their_owner_alone(folder: Path) -> None:
    old = os.umask(0o000)
    try:
        data = folder / "new" / "data"
        with pieria.open("notes", data=data) as bank:
            bank.remember("heron", scope="user")
            bank.remember("heron")
            bank.backup(data / "copies" / "copy.backup")
            bank.export(data / "exports" / "notes.jsonl")
            files = [path for path in data.rglob("*") if path.is_file()]
            assert {path.name for path in files} >= {"notes.db", "notes.db-wal", "@me.db", "copy.backup", "notes.jsonl"}
            assert {path.name: oct(path.stat().st_mode & 0o077) for path in files if path.stat().st_mode & 0o077} == {}
            assert data.stat().st_mode & 0o077 == 0
    finally:
        os.umask(old)
