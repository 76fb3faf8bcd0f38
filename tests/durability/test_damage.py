"""Files that are damaged, foreign or of another version: a typed error names the file, and no byte changes.

Damage that a read does not touch need not show. The driver's own errors must never get out.
"""

import random
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import pieria
from pieria.bank import Bank
from pieria.errors import CorruptError, ForeignFileError, NewerVersionError, StorageError
from pieria.store.sqlite.file import APPLICATION_ID
from pieria.store.sqlite.migrate import LEDGER, migrations

PAGE = 4096


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("whole")
    with pieria.open("notes", data=folder) as bank:
        made = bank.remember_many(
            {"text": f"heron number {n} stood by the water", "tags": [f"t{n}"], "meta": {"n": n}} for n in range(60)
        )
        bank.update(made[0].id, text="heron again")
        bank.link(made[0].id, made[1].id, "follows")
        bank.facts.add("heron", "stands_in", "water", memory=made[2].id)
    return (folder / "notes.db").read_bytes()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "notes.db"


def put(path: Path, content: bytes) -> None:
    for beside in path.parent.iterdir():
        beside.unlink()
    path.write_bytes(content)
    path.chmod(0o600)


def edit(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def edited(path: Path, whole: bytes, *statements: str) -> Path:
    put(path, whole)
    edit(path, "PRAGMA journal_mode = DELETE", *statements)
    return path


def opened(path: Path) -> Bank:
    return pieria.open("notes", data=path.parent)


def kept_as_it_was(path: Path, error: type[StorageError]) -> StorageError:
    """Check that opening is refused, that the file is unchanged, and that no new file lies beside it."""
    before = path.read_bytes()
    with pytest.raises(error, match=re.escape(str(path))) as refused:
        opened(path)
    assert refused.value.hint
    assert path.read_bytes() == before
    assert {beside.name for beside in path.parent.iterdir()} <= {path.name, f"{path.name}-turn"}
    return refused.value


def found_out(bank: Bank) -> bool:
    """Return whether `doctor` reports the damage or refuses to run."""
    try:
        return not bank.doctor().well
    except CorruptError:
        return True


def reads(bank: Bank) -> list[Callable[[], Any]]:
    return [
        lambda: bank.list(limit=1_000),
        lambda: bank.recall("heron water", k=100),
        lambda: bank.recall("number", tags=["t3"], meta={"n": 3}),
        lambda: bank.count(by="tags"),
        lambda: bank.facts.query("heron"),
        lambda: [bank.history(memory.id) for memory in bank.list(limit=5)],
        bank.changes, bank.facts.stats, bank.facts.entities, bank.stats,
    ]  # fmt: skip


def refusals(bank: Bank) -> Iterator[StorageError]:
    """Yield the errors of all reads. Each has a hint."""
    for read in reads(bank):
        try:
            read()
        except StorageError as refused:
            assert refused.hint, refused
            yield refused


def test_file_that_is_no_database_is_refused(path: Path) -> None:
    for content in (b"just some text, longer than a header\n" * 200, b"x", b"SQLite format 3\0", bytes(PAGE)):
        put(path, content)
        kept_as_it_was(path, StorageError)


def test_empty_file_is_a_new_bank(path: Path) -> None:
    path.touch(mode=0o600)
    with opened(path) as bank:
        bank.remember("heron")
        assert bank.doctor().well


def test_database_of_another_program_is_refused(path: Path) -> None:
    for statements in (
        ["CREATE TABLE theirs (a)", "INSERT INTO theirs VALUES (1)"],
        ["PRAGMA application_id = 42", "CREATE TABLE migration (number, checksum)"],
        [LEDGER, "INSERT INTO migration VALUES (1, 'record', 'x', 'now')"],
        ["CREATE TABLE content (row)", "CREATE TABLE state (row)", "CREATE TABLE journal (seq)"],
        [f"PRAGMA application_id = {APPLICATION_ID}", "CREATE TABLE theirs (a)"],
        ["CREATE VIEW theirs AS SELECT 1"],
        ["PRAGMA application_id = 42"],
        ["PRAGMA user_version = 7"],
        ["PRAGMA journal_mode = WAL", "CREATE TABLE theirs (a)"],
    ):
        path.unlink(missing_ok=True)
        edit(path, *statements)
        kept_as_it_was(path, ForeignFileError)


def test_bank_of_a_newer_version_is_refused(path: Path, whole: bytes) -> None:
    newest = len(migrations()) + 1
    edited(path, whole, f"INSERT INTO migration VALUES ({newest}, 'later', 'x', 'now')")
    error = kept_as_it_was(path, NewerVersionError)
    assert str(newest) in str(error) and "pgrade" in str(error.hint)


def test_damaged_ledger_or_schema_is_refused(path: Path, whole: bytes) -> None:
    broken = "UPDATE sqlite_schema SET sql = 'CREATE TABEL' WHERE name = 'content'"
    for statements in (
        ["UPDATE migration SET checksum = 'x' WHERE number = 1"],
        ["UPDATE migration SET number = 0 WHERE number = 1"],
        ["PRAGMA writable_schema = ON", broken],
    ):
        kept_as_it_was(edited(path, whole, *statements), CorruptError)


def test_shortened_file_is_refused_or_found_by_doctor(path: Path, whole: bytes) -> None:
    for length in (100, PAGE, PAGE + 1, 7 * PAGE, 10 * PAGE + 17):
        put(path, whole[:length])
        try:
            with opened(path) as bank:
                assert found_out(bank)
        except StorageError as refused:
            assert isinstance(refused, CorruptError | ForeignFileError), refused
            assert refused.hint
        assert path.read_bytes() == whole[:length]


@pytest.mark.parametrize("seeds", [range(8), pytest.param(range(8, 40), marks=pytest.mark.slow)])
def test_noise_in_pages_raises_only_typed_errors(path: Path, whole: bytes, seeds: range) -> None:
    for seed in seeds:
        chance = random.Random(seed)
        damaged = bytearray(whole)
        for _ in range(3):
            page = chance.randrange(1, len(damaged) // PAGE)
            start = page * PAGE + chance.choice([0, 8, chance.randrange(PAGE)])
            noise = chance.randbytes(chance.choice([1, 16, 400]))
            damaged[start : start + len(noise)] = noise
        content = bytes(damaged[: len(whole)])
        put(path, content)
        try:
            with opened(path) as bank:
                list(refusals(bank))
                found_out(bank)
        except StorageError as refused:
            assert refused.hint
        assert path.read_bytes() == content


def overwritten(whole: bytes, path: Path, table: str) -> bytes:
    with closing(sqlite3.connect(path)) as connection:
        try:
            pages = connection.execute("SELECT pageno FROM dbstat WHERE name = ?", (table,)).fetchall()
        except sqlite3.OperationalError:
            pages = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchall()
    content = bytearray(whole)
    for (page,) in pages:
        content[(page - 1) * PAGE : page * PAGE] = b"\xa5" * PAGE
    return bytes(content)


def test_damaged_table_refuses_reads_and_fails_doctor(path: Path, whole: bytes) -> None:
    for table in ("content", "state", "journal", "text_index_data", "terms", "label"):
        put(path, whole)
        content = overwritten(whole, path, table)
        put(path, content)
        with opened(path) as bank:
            assert found_out(bank)
            refused = list(refusals(bank))
        assert refused and all("restore" in str(error.hint) for error in refused)
        assert path.read_bytes() == content


def test_value_of_another_kind_is_damage_and_not_shown(path: Path, whole: bytes) -> None:
    for change in (
        "journal SET at = 'heron' WHERE seq = 1",
        "journal SET ids = '[' WHERE seq = 1",
        "content SET tags = '[' WHERE row = 60",
        "content SET text = x'ff' WHERE row = 60",
        *(f"fact SET {column} = 'heron'" for column in ("known_from", "valid_from", "valid_until")),
        *(f"fact SET {column} = x'ff'" for column in ("id", "predicate", "object_key")),
    ):
        with opened(edited(path, whole, f"UPDATE {change}")) as bank:
            refused = [error for error in refusals(bank) if isinstance(error, CorruptError)]
        assert refused, change
        assert not any("heron" in str(error) for error in refused)


def test_damaged_text_index_is_repaired(path: Path, whole: bytes) -> None:
    with opened(edited(path, whole, "DELETE FROM text_index_data WHERE id > 10")) as bank:
        assert found_out(bank)
        diagnosis = bank.doctor(repair=True)
        assert (diagnosis.repaired, diagnosis.well) == (("text index",), True)
        assert len(bank.recall("number", k=100, policy="similarity")) == 59


def test_doctor_finds_every_broken_rule(path: Path, whole: bytes) -> None:
    for statement, check in (
        ("DELETE FROM terms WHERE row = 5", "terms"),
        ("UPDATE counter SET value = value + 1 WHERE name = 'documents'", "terms"),
        ("DELETE FROM content WHERE row = 5", "states"),
        ("DELETE FROM state WHERE row = 5", "rows"),
        ("UPDATE state SET known_until = known_until - 5 WHERE row = 5", "open"),
        ("UPDATE state SET known_until = known_until - 5 WHERE row = 1", "gaps"),
        ("UPDATE journal SET at = at + 100000000000 WHERE seq = 1", "journal"),
    ):
        with opened(edited(path, whole, statement)) as bank:
            found = [finding for finding in bank.doctor().findings if not finding.well]
        assert check in {finding.check for finding in found}, statement
        assert all(finding.remedy for finding in found)


def test_doctor_shows_no_word_of_a_memory(path: Path, whole: bytes) -> None:
    edited(path, whole, "DELETE FROM terms WHERE row = 5", "DELETE FROM text_index_data WHERE id > 10")
    with opened(path) as bank:
        said = repr(bank.doctor().as_dict()) + repr(bank.stats().as_dict())
    assert not any(word in said for word in ("heron", "water", "stood"))
