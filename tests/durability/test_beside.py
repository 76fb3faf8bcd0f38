"""Files beside a bank: copies that a purge names, leftovers that `doctor` names, and temporary files."""

import errno
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.durability.test_purge import TEXT, WORDS, fill, holding

import pieria
from pieria.errors import DiskFullError, ReadOnlyError, StorageError
from pieria.store.files import written_aside
from pieria.store.sqlite.seal_driver import mark_of


def test_a_purge_names_every_copy_in_the_data_folder_and_no_bank(tmp_path: Path) -> None:
    with pieria.open("other", data=tmp_path) as other, pieria.open("notes", data=tmp_path) as bank:
        other.remember("another heron")
        memory = bank.remember(TEXT)
        (tmp_path / "pieria.toml").write_text("")
        bank.export(tmp_path / "here.jsonl")
        bank.export(tmp_path / "deep" / "down" / "out.txt")
        bank.backup(tmp_path / "deep" / "copy.db")
        copy = bank.backup(tmp_path / "notes.1.backup")
        for name in ("notes.1.backup-wal", ".notes.2.backup.77.88.part", ".notes.2.backup.77.88.part-journal"):
            (tmp_path / name).write_bytes(copy.read_bytes())
        (tmp_path / "gone.db-wal").write_bytes(copy.read_bytes())
        (tmp_path / "packed.gz").write_bytes(copy.read_bytes()[::-1])
        (tmp_path / "deep" / "unrelated.md").write_text("of another program")
        assert sorted(bank.purge(memory.id).unreached) == [
            "backup deep/copy.db",
            "backup notes.1.backup",
            "backup notes.1.backup-wal",
            "export deep/down/out.txt",
            "export here.jsonl",
            "file packed.gz",
            "log gone.db-wal",
            "unfinished copy .notes.2.backup.77.88.part",
            "unfinished copy .notes.2.backup.77.88.part-journal",
        ]


def test_a_purge_leaves_other_banks_alone_and_takes_them_for_no_copies(tmp_path: Path) -> None:
    """The others are closed, open, restored but unopened, named like a backup, or in a subfolder."""
    for name in ("closed", "kept.backup", "deep"):
        with pieria.open(name, data=tmp_path / "team" if name == "deep" else tmp_path) as other:
            other.remember("another heron")
            backup = other.backup(tmp_path.parent / f"{tmp_path.name}.aside")
    pieria.restore(backup, data=tmp_path, name="restored")
    with pieria.open("open", data=tmp_path) as other, pieria.open("notes", data=tmp_path) as bank:
        other.remember("one more")
        (tmp_path / "not a bank's name.db").write_bytes(backup.read_bytes())
        with closing(sqlite3.connect(tmp_path / "others.db")) as foreign:
            foreign.execute("CREATE TABLE theirs (x)")
        memory = bank.remember(TEXT)
        before = {path for path in tmp_path.rglob("*") if not path.name.startswith("notes.db")}
        assert sorted(bank.purge(memory.id).unreached) == ["backup not a bank's name.db", "file others.db"]
        assert {path for path in tmp_path.rglob("*") if not path.name.startswith("notes.db")} == before
        other.remember("still whole")
        assert other.doctor().well


def test_looking_at_a_file_gives_no_lock_of_it_up(tmp_path: Path) -> None:
    """If a process opens and closes a database file directly, it loses the locks of its own connections."""
    path = tmp_path / "live.db"
    code = "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0).execute('BEGIN IMMEDIATE')"
    with closing(sqlite3.connect(path, isolation_level=None)) as live:
        live.execute("PRAGMA application_id = 5")
        live.execute("BEGIN IMMEDIATE")
        assert mark_of(path) == 5
        tried = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
        assert "database is locked" in tried.stderr
        live.execute("ROLLBACK")


def test_doctor_names_what_killed_copying_left_and_says_what_to_do(tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path) as bank:
        [before] = [finding for finding in bank.doctor().findings if finding.check == "leftovers"]
        assert before.well
        assert before.remedy is None
        (tmp_path / ".notes.backup.77.88.part").write_bytes(b"12345")
        diagnosis = bank.doctor()
        [finding] = [finding for finding in diagnosis.findings if finding.check == "leftovers"]
        assert finding.well
        assert "of 5 bytes: .notes.backup.77.88.part" in finding.detail
        assert "delete" in str(finding.remedy)
        assert diagnosis.well


def test_doctor_says_when_others_may_read_the_file(tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path) as bank:
        (tmp_path / "notes.db").chmod(0o644)
        assert [(f.check, f.detail) for f in bank.doctor().findings if not f.well] == [("file mode", "644")]


def test_rewriting_uses_a_nameless_file_in_the_bank_s_folder(tmp_path: Path) -> None:
    """Use a small cache to force a temporary file, and look at the open files during the work."""
    data, opened = tmp_path / "the bank's", Path("/proc/self/fd")
    seen: set[str] = set()

    def look() -> int:
        for name in os.listdir(opened):
            try:
                seen.add(os.readlink(opened / name))
            except FileNotFoundError:
                continue
        return 0

    with pieria.open("notes", data=data) as bank:
        fill(bank, 2_000)
        memory = bank.remember(TEXT)
        writer = bank.core.store._connections.writer()  # type: ignore[attr-defined]
        writer.execute("PRAGMA cache_size = -64")
        if opened.exists():
            writer.set_progress_handler(look, 1_000)
        assert bank.purge(memory.id).unreached == ()
        writer.set_progress_handler(None, 0)
        assert writer.execute("PRAGMA temp_store_directory").fetchone() is None
        assert holding(data, WORDS) == set()
        assert {path.name for path in data.iterdir()} == {f"notes.db{of}" for of in ("", "-shm", "-turn", "-wal")}
    temporary = {name for name in seen if "etilqs" in name}
    assert all(name.startswith(f"{data}/") and name.endswith(" (deleted)") for name in temporary)
    assert temporary or not opened.exists()


@pytest.mark.parametrize(
    ("number", "error"),
    [(errno.ENOSPC, DiskFullError), (errno.EDQUOT, DiskFullError), (errno.EACCES, ReadOnlyError),
     (errno.EIO, StorageError), (errno.EMFILE, StorageError)],
)  # fmt: skip
def test_what_breaks_while_a_file_is_written_is_told_and_leaves_nothing(
    tmp_path: Path, number: int, error: type[Exception]
) -> None:
    with (
        pytest.raises(StorageError) as raised,
        written_aside(tmp_path / "new" / "copy", "backup", ("-log",)) as written,
    ):
        written.with_name(written.name + "-log").write_bytes(b"1")
        assert written.exists()
        raise OSError(number, os.strerror(number))
    assert type(raised.value) is error
    assert ("Allow this user" in str(raised.value.hint)) == (error is ReadOnlyError)
    assert list((tmp_path / "new").iterdir()) == []


@pytest.mark.parametrize(("number", "error"), [(errno.ENOSPC, DiskFullError), (errno.EMFILE, StorageError)])
def test_what_keeps_a_bank_from_being_made_is_told_as_what_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, error: type[Exception]
) -> None:
    real = os.open

    def refuse(path: Any, *how: Any, **more: Any) -> int:
        if str(path).endswith("notes.db"):
            raise OSError(number, os.strerror(number))
        return real(path, *how, **more)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(StorageError) as raised:
        pieria.open("notes", data=tmp_path)
    assert type(raised.value) is error
