"""Files and folders without write permission: a typed error with a hint, and no byte changed.

Root can write everywhere, so the tests that need another user fork a process that becomes `nobody`.
"""

import os
import pwd
import shutil
import tempfile
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.durability.processes import done

import pieria
from pieria.errors import PieriaError


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


def contents(folder: Path) -> dict[str, tuple[int, bytes | None]]:
    return {
        str(path.relative_to(folder)): (path.stat().st_mode, path.read_bytes() if path.is_file() else None)
        for path in sorted(folder.rglob("*"))
    }


class Place(NamedTuple):
    """A place whose files belong to somebody else: the modes of its data folder and of the bank in it."""

    folder_mode: int | None
    """None: there is no folder, in a folder that may not be written."""
    file_mode: int | None
    named: str
    """The path that the error names."""


PLACES = {
    "no folder": Place(None, None, "data"),
    "a folder": Place(0o755, None, "data"),
    "a hidden folder": Place(0o000, None, "data"),
    **{f"a file {mode:o}": Place(0o755, mode, "data/notes.db") for mode in (0o600, 0o644, 0o444, 0o000, 0o666)},
    "a file in an open folder": Place(0o777, 0o444, "data/notes.db"),
}
"""SQLite needs files beside the bank. So a file that may be written, in a folder that may not, is refused too."""


def made(folder: Path, place: Place) -> Path:
    data = folder / "data"
    folder.mkdir(mode=0o755)
    if place.file_mode is not None:
        with pieria.open("notes", data=data) as bank:
            bank.remember("heron")
        (data / "notes.db").chmod(place.file_mode)
    if place.folder_mode is not None:
        data.mkdir(exist_ok=True)
        data.chmod(place.folder_mode)
    return data


def refused(act: Callable[[], Any]) -> tuple[str, str, bool]:
    """Return the error's class and message, and whether it has a hint."""
    try:
        act()
    except PieriaError as error:
        return type(error).__name__, str(error), bool(error.hint)
    return "nothing", "", False


def become_nobody() -> None:
    """Import all that the work needs before: afterwards the sources may be out of reach."""
    if os.getuid() == 0:
        nobody = pwd.getpwnam("nobody")
        os.setgroups([])
        os.setgid(nobody.pw_gid)
        os.setuid(nobody.pw_uid)


def open_as_nobody(pipe: Connection, folders: list[str]) -> None:
    become_nobody()
    for folder in folders:
        pipe.send(refused(lambda data=folder: pieria.open("notes", data=data).close()))  # type: ignore[misc]


def test_place_that_may_not_be_written_is_refused(folder: Path) -> None:
    data = {name: made(folder / name.replace(" ", "-"), place) for name, place in PLACES.items()}
    before = contents(folder)
    told = done(open_as_nobody, [str(path) for path in data.values()])
    for (name, place), (kind, message, helps) in zip(PLACES.items(), told, strict=True):
        assert str(data[name].parent / place.named) in message
        if place.folder_mode != 0:
            assert (kind, helps) == ("ReadOnlyError", True), name
        else:
            assert kind in ("ReadOnlyError", "StorageError"), name
    assert contents(folder) == before


def copy_as_nobody(pipe: Connection, folder: str, copied: str, locked: str) -> None:
    become_nobody()
    with pieria.open("notes", data=folder) as bank:
        bank.remember("heron")
        pipe.send(refused(lambda: bank.backup(Path(locked, "copy.backup"))))
        pipe.send(refused(lambda: pieria.restore(copied, locked, name="notes")))
        pipe.send(refused(lambda: bank.export(Path(locked, "notes.jsonl"))))
        assert [memory.text for memory in bank.list()] == ["heron"]


def test_copy_into_a_place_that_may_not_be_written(folder: Path) -> None:
    with pieria.open("notes", data=folder / "other") as bank:
        copied = bank.backup(folder / "copy.backup")
    copied.chmod(0o644)
    (folder / "data").mkdir()
    (folder / "data").chmod(0o777)
    locked = folder / "locked"
    locked.mkdir(mode=0o755)
    *copies, export = done(copy_as_nobody, str(folder / "data"), str(copied), str(locked))
    for kind, message, helps in copies:
        assert (kind, helps) == ("ReadOnlyError", True)
        assert str(locked) in message
    assert export[0] in {"ReadOnlyError", "TransferError", "StorageError"}, export
    assert list(locked.iterdir()) == []


@pytest.mark.parametrize("there", ["link to nothing", "folder"])
def test_something_else_stands_where_the_bank_should(tmp_path: Path, there: str) -> None:
    target = tmp_path / "data" / "notes.db"
    target.parent.mkdir()
    if there == "folder":
        target.mkdir()
    else:
        target.symlink_to(tmp_path / "nowhere" / "notes.db")
    with pytest.raises(pieria.errors.ReadOnlyError) as refused:
        pieria.open("notes", data=tmp_path / "data")
    assert refused.value.hint
    assert [path.name for path in target.parent.iterdir()] == ["notes.db"]
    assert target.is_symlink() or list(target.iterdir()) == []
    assert not (tmp_path / "nowhere").exists()


def test_file_stands_where_the_folder_should(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("not a folder")
    with pytest.raises(pieria.errors.InputError, match="data"):
        pieria.open("notes", data=tmp_path / "data")
    assert (tmp_path / "data").read_text() == "not a folder"


def test_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    old = os.umask(0o000)
    try:
        data = tmp_path / "new" / "data"
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
