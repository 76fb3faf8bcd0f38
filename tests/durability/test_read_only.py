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
from typing import Any

import pytest
from tests.durability.processes import done

import pieria
from pieria.errors import InputError, PieriaError, ReadOnlyError


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


PLACES: dict[str, tuple[int | None, int | None, str]] = {
    "no folder": (None, None, "data"),
    "a folder": (0o755, None, "data"),
    "a hidden folder": (0o000, None, "data"),
    **{f"a file {mode:o}": (0o755, mode, "data/notes.db") for mode in (0o600, 0o644, 0o444, 0o000, 0o666)},
    "a file in an open folder": (0o777, 0o444, "data/notes.db"),
}
"""Places of somebody else: the modes of the data folder and of the bank in it, and the path that the error names.

SQLite needs files beside the bank. So a file that may be written, in a folder that may not, is refused too.
"""
"""SQLite needs files beside the bank. So a file that may be written, in a folder that may not, is refused too."""


def made(folder: Path, folder_mode: int | None, file_mode: int | None) -> Path:
    data = folder / "data"
    folder.mkdir(mode=0o755)
    if file_mode is not None:
        with pieria.open("notes", data=data) as bank:
            bank.remember("heron")
        (data / "notes.db").chmod(file_mode)
    if folder_mode is not None:
        data.mkdir(exist_ok=True)
        data.chmod(folder_mode)
    return data


def refused(act: Callable[[], Any]) -> tuple[str, str, bool]:
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
    data = {name: made(folder / name.replace(" ", "-"), *modes) for name, (*modes, _) in PLACES.items()}
    before = contents(folder)
    told = done(open_as_nobody, [str(path) for path in data.values()])
    for (name, (mode, _, named)), (kind, message, helps) in zip(PLACES.items(), told, strict=True):
        assert str(data[name].parent / named) in message
        is_hidden = mode == 0
        assert (kind, helps) == ("ReadOnlyError", True) or (is_hidden and kind == "StorageError"), name
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
    data, locked = folder / "data", folder / "locked"
    for made, mode in ((data, 0o777), (locked, 0o755)):
        made.mkdir()
        made.chmod(mode)
    *copies, export = done(copy_as_nobody, str(data), str(copied), str(locked))
    for kind, message, helps in copies:
        assert (kind, helps, str(locked) in message) == ("ReadOnlyError", True, True)
    assert export[0] in {"ReadOnlyError", "TransferError", "StorageError"}, export
    assert list(locked.iterdir()) == []


def test_something_else_stands_where_the_bank_should(tmp_path: Path) -> None:
    data = tmp_path / "data"
    target = data / "notes.db"
    data.mkdir()
    puts: list[Callable[[], object]] = [target.mkdir, lambda: target.symlink_to(tmp_path / "nowhere" / "notes.db")]
    for put in puts:
        put()
        with pytest.raises(ReadOnlyError) as refused:
            pieria.open("notes", data=data)
        assert refused.value.hint
        assert list(data.iterdir()) == [target]
        assert not (tmp_path / "nowhere").exists()
        if not target.is_symlink():
            target.rmdir()
    target.unlink()
    data.rmdir()
    data.write_text("not a folder")
    with pytest.raises(InputError, match="data"):
        pieria.open("notes", data=data)
    assert data.read_text() == "not a folder"


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
            assert [path for path in (data, *files) if path.stat().st_mode & 0o077] == []
    finally:
        os.umask(old)
