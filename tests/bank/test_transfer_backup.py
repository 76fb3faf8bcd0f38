"""Backup and restore: a copy of one moment while others write, restored only if the copy is complete."""

import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.bank.transfer_files import everything
from tests.contract.store_helpers import HandClock

import pieria
from pieria import errors
from pieria.bank import Bank
from pieria.bank.transfer.files import restore_file
from pieria.errors import BusyError, ConflictError, CorruptError, ForeignFileError, InputError, TransferError

WRITER = """
import sys, pieria
with pieria.open("notes", data=sys.argv[1]) as bank:
    number = 0
    while True:
        first = bank.remember(f"number {number} of the other process", tags=["other"])
        bank.update(first.id, text=f"number {number}, put right")
        print(number, flush=True)
        number += 1
"""
HOLDER = """
import sys, pieria
with pieria.open("notes", data=sys.argv[1]) as bank:
    bank.remember("of the other process")
    print("open", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def bank(data: Path, clock: HandClock) -> Iterator[Bank]:
    with pieria.open("notes", data=data, clock=clock) as opened:
        opened.remember("kept", id="m", tags=["a"])
        yield opened


@pytest.fixture
def backup(bank: Bank, tmp_path: Path) -> Path:
    """Return the backup of a closed bank with one memory."""
    path = bank.backup(tmp_path / "notes.backup")
    bank.close()
    return path


def other_process(program: str, data: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, data], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def killed_writer(data: Path) -> None:
    """Let another process write and crash, so that its log is left."""
    with other_process(WRITER, data) as writer:
        assert writer.stdout is not None
        for _ in range(3):
            writer.stdout.readline()
        writer.kill()
    assert (data / "notes.db-wal").stat().st_size > 0


def texts(data: Path, name: str = "notes") -> list[str]:
    with pieria.open(name, data=data) as opened:
        return sorted(memory.text for memory in opened.list())


def test_backup_is_a_whole_bank_for_its_owner_alone(bank: Bank, data: Path, tmp_path: Path) -> None:
    steps: list[list[tuple[int, int]]] = [[], []]
    target, elsewhere = tmp_path / "new" / "copy.backup", tmp_path / "elsewhere"
    path = bank.backup(target, progress=lambda *step: steps[0].append(step))
    assert (path, stat.S_IMODE(path.stat().st_mode)) == (target, 0o600)
    assert list(path.parent.iterdir()) == [path]
    path.chmod(0o644)
    report = pieria.restore(path, elsewhere, name="again", progress=lambda *step: steps[1].append(step))
    assert (report.bank, report.path, report.seq) == ("again", elsewhere / "again.db", 1)
    assert (report.counts["memories"], report.as_dict()["replaced"]) == (1, None)
    assert (stat.S_IMODE(Path(report.path).stat().st_mode), list(elsewhere.iterdir())) == (0o600, [report.path])
    assert all(told[-1][0] == told[-1][1] > 0 for told in steps)
    with pieria.open("again", data=elsewhere) as again:
        assert everything(again) == everything(bank)
        assert again.doctor().well


def test_backup_in_a_folder_is_named_after_bank_and_time(bank: Bank, data: Path, tmp_path: Path) -> None:
    assert bank.backup(tmp_path) == tmp_path / "notes.20260301T120000Z.backup"
    assert bank.purge("m").unreached == ()
    bank.backup(data)
    bank.remember("kept", id="n")
    assert "backup notes.20260301T120000Z.backup" in bank.purge("n").unreached


def test_only_older_backups_are_replaced(bank: Bank, data: Path, tmp_path: Path) -> None:
    path = bank.backup(tmp_path / "nightly")
    bank.remember("later")
    bank.backup(path)
    pieria.restore(path, data, name="again")
    assert texts(data, "again") == ["kept", "later"]
    pieria.open("damaged", data=data).close()
    spoil(data / "damaged.db")
    for name in ("notes", "again", "damaged"):
        before = (data / f"{name}.db").read_bytes()
        for verb in (bank.backup, bank.export):
            with pytest.raises(InputError):
                verb(data / f"{name}.db")
        assert (data / f"{name}.db").read_bytes() == before
    bank.close()
    with pytest.raises(errors.ClosedError):
        bank.backup(tmp_path / "copy")


def test_bank_in_use_named_by_mistake_keeps_its_locks(bank: Bank, data: Path) -> None:
    """Otherwise another process that closes the bank sees no other user and deletes the log."""
    own = data / "notes.db"
    for mistake in (bank.export, bank.import_, bank.backup):
        with pytest.raises((InputError, TransferError)):
            mistake(own)
    with pytest.raises(BusyError):
        restore_file(bank.backup(data), own, replace=True)
    pieria.restore(own, data, name="copy")
    with other_process(HOLDER, data) as holder:
        holder.communicate()
    assert holder.returncode == 0
    assert (data / "notes.db-wal").exists()


def test_existing_bank_is_kept_unless_it_is_to_be_replaced(data: Path, backup: Path) -> None:
    with pieria.open("notes", data=data) as bank:
        bank.remember("said since")
    with pytest.raises(ConflictError, match="already") as refused:
        pieria.restore(backup, data, name="notes")
    assert (refused.value.ids, texts(data)) == (("notes",), ["kept", "said since"])
    replaced = pieria.restore(backup, data, name="notes", replace=True).replaced
    assert texts(data) == ["kept"]
    assert replaced is not None and replaced.match("notes.replaced-*.backup")
    pieria.restore(replaced, data, name="before")
    assert texts(data, "before") == ["kept", "said since"]
    with pieria.open("notes", data=data) as bank:
        assert f"backup {replaced.name}" in bank.purge("m").unreached


def test_restore_names_what_the_old_bank_had_purged(bank: Bank, data: Path, tmp_path: Path) -> None:
    fact = bank.facts.add("Maya", "works_on", "billing")
    backup = bank.backup(tmp_path)
    bank.purge("m")
    bank.facts.purge(fact.id)
    bank.purge(bank.remember("said since").id)
    bank.close()
    report = pieria.restore(backup, data, name="notes", replace=True)
    assert report.unpurged == tuple(report.as_dict()["unpurged"]) == tuple(sorted(["m", fact.id]))
    assert pieria.restore(backup, data, name="again").unpurged == ()
    path = data / "notes.db"
    path.write_bytes(path.read_bytes()[:100] + bytes(len(path.read_bytes()) - 100))
    assert pieria.restore(backup, data, name="notes", replace=True).unpurged is None


def test_open_bank_is_not_replaced(data: Path, backup: Path) -> None:
    with other_process(HOLDER, data) as holder:
        assert holder.stdout is not None and holder.stdin is not None
        assert holder.stdout.readline()
        with pytest.raises(BusyError, match="another process"):
            pieria.restore(backup, data, name="notes", replace=True)
        holder.stdin.close()
    assert texts(data) == ["kept", "of the other process"]
    assert not list(data.glob("*.replaced-*"))
    with pieria.open("notes", data=data) as bank:
        with pytest.raises(BusyError):
            restore_file(backup, data / "notes.db", replace=True)
        assert bank.count() == 2
    pieria.restore(backup, data, name="notes", replace=True)
    assert texts(data) == ["kept"]


def test_log_of_a_crash_is_kept_with_the_old_bank(data: Path, backup: Path) -> None:
    killed_writer(data)
    replaced = pieria.restore(backup, data, name="notes", replace=True).replaced
    assert replaced is not None
    assert texts(data) == ["kept"]
    pieria.restore(replaced, data, name="before")
    assert {"number 0, put right", "number 1, put right", "number 2, put right"} <= set(texts(data, "before"))


def test_log_without_its_bank_is_not_played_into_the_new_one(data: Path, backup: Path) -> None:
    killed_writer(data)
    (data / "notes.db").unlink()
    pieria.restore(backup, data, name="notes")
    assert texts(data) == ["kept"]
    assert list(data.glob("notes.replaced-*-wal"))


def test_copied_database_with_its_log_is_restored_whole(data: Path, bank: Bank, tmp_path: Path) -> None:
    for name in ("notes.db", "notes.db-wal"):
        (tmp_path / name).write_bytes((data / name).read_bytes())
    pieria.restore(tmp_path / "notes.db", data, name="again")
    assert texts(data, "again") == ["kept"]


def test_damaged_bank_is_replaced_and_kept(data: Path, backup: Path) -> None:
    (data / "notes.db").write_bytes(b"no database at all")
    report = pieria.restore(backup, data, name="notes", replace=True)
    assert texts(data) == ["kept"]
    assert report.replaced is not None and report.replaced.read_bytes() == b"no database at all"


def spoil(path: Path) -> None:
    """Overwrite the middle of the file, where the tables are, and keep the header."""
    whole = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(whole // 2)
        file.write(b"\xa5" * (whole // 4))


def statement(sql: str, *, anew: bool = False) -> Callable[[Path], None]:
    """Return a harm: this statement in the file, or in a new one in its place."""

    def harm(path: Path) -> None:
        if anew:
            path.unlink()
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(sql)

    return harm


HARMS: list[tuple[Callable[[Path], object], type[Exception]]] = [
    (spoil, CorruptError),
    (lambda path: os.truncate(path, path.stat().st_size // 2), CorruptError),
    (statement("UPDATE migration SET checksum = 'x'"), CorruptError),
    (statement("CREATE TABLE memory (text TEXT)", anew=True), ForeignFileError),
    (statement("PRAGMA user_version = 1", anew=True), ForeignFileError),
    (statement("INSERT INTO migration VALUES (999, 'later', 'x', 'x')"), errors.NewerVersionError),
    (lambda path: path.write_bytes(b"hello"), ForeignFileError),
    (lambda path: path.write_bytes(b""), ForeignFileError),
    (lambda path: path.unlink(), TransferError),
]


def test_broken_backup_touches_nothing(data: Path, backup: Path) -> None:
    whole = backup.read_bytes()
    before = {path.name: path.read_bytes() for path in data.iterdir()}
    for harm, error in HARMS:
        backup.write_bytes(whole)
        harm(backup)
        with pytest.raises(error):
            pieria.restore(backup, data, name="notes", replace=True)
        assert {path.name: path.read_bytes() for path in data.iterdir()} == before
    with pieria.open("notes", data=data) as bank:
        export = bank.export(backup.with_name("out.jsonl")).path
    for file, reason in ((data / "notes.db", "own file"), (data, "folder"), (export, "it is an export")):
        with pytest.raises(TransferError, match=reason):
            pieria.restore(file, data, name="notes", replace=True)
    assert texts(data) == ["kept"]
