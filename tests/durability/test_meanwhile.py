"""Changes that others make to a bank's file, folder or disk while it is open, and the errors they lead to."""

import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import pieria
from pieria.errors import ClosedError, CorruptError, NewerVersionError, PieriaError, StorageError
from pieria.store.sqlite import SQLiteStore
from pieria.store.sqlite.connection import translated

FOR_EVER = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"


@pytest.mark.parametrize("look", range(1, 7))
def test_a_copy_that_goes_while_copies_are_named_ends_no_purge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, look: int
) -> None:
    copy = tmp_path / "notes.1.backup"
    real, looks = Path.stat, 0

    def stat(path: Path, **how: Any) -> os.stat_result:
        nonlocal looks
        if path == copy:
            looks += 1
            if looks == look:
                copy.unlink()
        return real(path, **how)

    with pieria.open("notes", data=tmp_path) as bank:
        memory = bank.remember("heron")
        bank.backup(copy)
        with monkeypatch.context() as patched:
            patched.setattr(Path, "stat", stat)
            purged = bank.purge(memory.id)
    assert any(copy.name in line for line in purged.unreached) == copy.exists()


def test_a_folder_that_goes_while_copies_are_named_is_not_said_to_be_shut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    real = os.scandir

    def scandir(path: Any = ".") -> Any:
        if str(path) == str(gone):
            gone.rmdir()
        return real(path)

    with pieria.open("notes", data=tmp_path) as bank:
        memory = bank.remember("heron")
        gone.mkdir()
        monkeypatch.setattr(os, "scandir", scandir)
        assert not any("gone" in line for line in bank.purge(memory.id).unreached)
    assert not gone.exists()


@pytest.mark.parametrize(
    "changes", ["state RENAME TO standing", "state ADD COLUMN shade", "content ADD COLUMN shade INTEGER DEFAULT 1"]
)
def test_a_bank_that_a_newer_version_changed_while_it_was_open_is_not_said_to_be_damaged(
    tmp_path: Path, changes: str
) -> None:
    with pieria.open("notes", data=tmp_path) as bank:
        bank.remember("heron")
        with closing(sqlite3.connect(tmp_path / "notes.db", isolation_level=None)) as newer:
            newer.execute(f"ALTER TABLE {changes}")
            newer.execute("PRAGMA user_version = 9999")
        with pytest.raises(NewerVersionError, match="newer schema while it was open here") as refused:
            bank.list()
    assert "Upgrade Pieria" in str(refused.value.hint)


def test_a_bank_that_lost_a_table_in_our_own_schema_is_said_to_be_damaged(tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path) as bank:
        with closing(sqlite3.connect(tmp_path / "notes.db", isolation_level=None)) as other:
            other.execute("ALTER TABLE state RENAME TO standing")
        with pytest.raises(CorruptError):
            bank.list()


def test_a_disk_that_was_taken_out_is_told_in_our_words(tmp_path: Path) -> None:
    problem = sqlite3.OperationalError("disk I/O error")
    problem.sqlite_errorname = "SQLITE_IOERR_READ"
    with pytest.raises(StorageError, match="the disk failed under"), translated("read", tmp_path / "out" / "notes.db"):
        raise problem


def test_what_closing_breaks_off_learns_that_the_bank_is_closed(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "notes.db", durability="off")
    begun = threading.Event()
    told: list[PieriaError] = []

    def look() -> None:
        try:
            with translated("read", store.path), store.looking() as connection:
                connection.set_progress_handler(begun.set, 1_000)
                connection.execute(FOR_EVER).fetchall()
        except PieriaError as problem:
            told.append(problem)

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    assert begun.wait(30)
    store.close()
    looking.join(30)
    assert not looking.is_alive()
    assert [type(problem) for problem in told] == [ClosedError]
