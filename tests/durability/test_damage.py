"""Files that are damaged, foreign or of another version: a typed error names the file, and no byte changes.

Damage that a read does not touch need not show. The driver's own errors must never get out.
"""

import random
import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

import pieria
from pieria.bank import Bank
from pieria.errors import CorruptError, ForeignFileError, NewerVersionError, StorageError
from pieria.store.sqlite.file import APPLICATION_ID
from pieria.store.sqlite.migrate import LEDGER, migrations

PAGE = 4096


def a_bank(folder: Path, size: int = 60) -> Path:
    with pieria.open("notes", data=folder) as bank:
        made = bank.remember_many(
            {"text": f"heron number {n} stood by the water", "tags": [f"t{n}"], "meta": {"n": n}} for n in range(size)
        )
        bank.update(made[0].id, text="heron again")
        bank.link(made[0].id, made[1].id, "follows")
        bank.facts.add("heron", "stands_in", "water", memory=made[2].id)
    return folder / "notes.db"


def kept_as_it_was(path: Path, error: type[StorageError], *, says: str = "") -> StorageError:
    """Check that opening is refused, that the file is unchanged, and that no new file lies beside it."""
    before = path.read_bytes()
    with pytest.raises(error) as refused:
        pieria.open("notes", data=path.parent)
    assert str(path) in str(refused.value)
    assert says in str(refused.value)
    assert refused.value.hint
    assert path.read_bytes() == before
    assert {beside.name for beside in path.parent.iterdir()} <= {path.name, f"{path.name}-turn"}
    return refused.value


@pytest.mark.parametrize(
    "content",
    [b"just some text, longer than a header would be\n" * 200, b"x", b"SQLite format 3\0", bytes(PAGE), b"\xff" * 999],
    ids=["text", "one byte", "half a header", "zeros", "noise"],
)
def test_a_file_that_is_no_database(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.db"
    path.write_bytes(content)
    kept_as_it_was(path, StorageError)


def test_an_empty_file_is_a_new_bank(tmp_path: Path) -> None:
    (tmp_path / "notes.db").touch(mode=0o600)
    with pieria.open("notes", data=tmp_path) as bank:
        bank.remember("heron")
        assert bank.doctor().well


def foreign(path: Path, *statements: str) -> Path:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return path


@pytest.mark.parametrize(
    "statements",
    [
        ["CREATE TABLE theirs (a)", "INSERT INTO theirs VALUES (1)"],
        ["PRAGMA application_id = 42", "CREATE TABLE migration (number, checksum)"],
        [LEDGER, "INSERT INTO migration VALUES (1, 'record', 'x', 'now')"],
        ["CREATE TABLE content (row)", "CREATE TABLE state (row)", "CREATE TABLE journal (seq)"],
        [f"PRAGMA application_id = {APPLICATION_ID}", "CREATE TABLE theirs (a)"],
        ["CREATE VIEW theirs AS SELECT 1"],
        ["PRAGMA application_id = 42"],
        ["PRAGMA user_version = 7"],
    ],
    ids=[
        "table",
        "other mark",
        "ledger without mark",
        "our names",
        "mark without ledger",
        "view",
        "only a mark",
        "only a version",
    ],
)
def test_a_database_of_another_program(tmp_path: Path, statements: list[str]) -> None:
    path = foreign(tmp_path / "notes.db", *statements)
    kept_as_it_was(path, ForeignFileError)


def test_a_database_of_another_program_in_wal_mode(tmp_path: Path) -> None:
    path = foreign(tmp_path / "notes.db", "PRAGMA journal_mode = WAL", "CREATE TABLE theirs (a)")
    kept_as_it_was(path, ForeignFileError)


def edited(path: Path, *statements: str) -> Path:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = DELETE")
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return path


def test_a_bank_of_a_newer_version(tmp_path: Path) -> None:
    newest = len(migrations()) + 1
    path = edited(a_bank(tmp_path), f"INSERT INTO migration VALUES ({newest}, 'later', 'x', 'now')")
    error = kept_as_it_was(path, NewerVersionError, says=str(newest))
    assert "pgrade" in str(error.hint)


def test_a_bank_whose_ledger_was_tampered_with(tmp_path: Path) -> None:
    path = edited(a_bank(tmp_path), "UPDATE migration SET checksum = 'x' WHERE number = 1")
    kept_as_it_was(path, CorruptError)


def test_a_bank_whose_ledger_names_steps_nobody_took(tmp_path: Path) -> None:
    path = edited(a_bank(tmp_path), "UPDATE migration SET number = 0 WHERE number = 1")
    kept_as_it_was(path, CorruptError)


def test_a_bank_with_a_broken_schema(tmp_path: Path) -> None:
    path = edited(
        a_bank(tmp_path),
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_schema SET sql = 'CREATE TABEL' WHERE name = 'content'",
    )
    kept_as_it_was(path, CorruptError)


@pytest.mark.parametrize("length", [100, PAGE, PAGE + 1, 7 * PAGE, 10 * PAGE + 17])
def test_a_bank_that_was_cut_short_is_refused_or_found_out(tmp_path: Path, length: int) -> None:
    path = a_bank(tmp_path)
    path.write_bytes(path.read_bytes()[:length])
    before = path.read_bytes()
    try:
        bank = pieria.open("notes", data=tmp_path)
    except StorageError as refused:
        assert isinstance(refused, CorruptError | ForeignFileError), refused
        assert refused.hint
    else:
        with bank:
            assert found_out(bank)
    assert path.read_bytes() == before


def found_out(bank: Bank) -> bool:
    """Return whether `doctor` reports the damage or refuses to run."""
    try:
        return not bank.doctor().well
    except CorruptError:
        return True


def reads(bank: Bank) -> Iterable[Callable[[], Any]]:
    yield lambda: bank.list(limit=1_000)
    yield lambda: bank.recall("heron water", k=100)
    yield lambda: bank.recall("number", tags=["t3"], meta={"n": 3})
    yield lambda: bank.count(by="tags")
    yield bank.changes
    yield lambda: bank.facts.query("heron")
    yield bank.facts.stats
    yield bank.facts.entities
    yield bank.stats
    yield lambda: [bank.history(memory.id) for memory in bank.list(limit=5)]


@pytest.mark.parametrize("seed", range(30))
def test_damage_in_the_middle_gives_typed_errors_and_is_left_as_it_is(tmp_path: Path, seed: int) -> None:
    """With noise in some pages, only typed errors come out, and reading changes no byte."""
    path = a_bank(tmp_path)
    chance = random.Random(seed)
    damaged = bytearray(path.read_bytes())
    for _ in range(3):
        page = chance.randrange(1, len(damaged) // PAGE)
        start = page * PAGE + chance.choice([0, 8, chance.randrange(PAGE)])
        noise = chance.randbytes(chance.choice([1, 16, 400]))
        damaged[start : start + len(noise)] = noise
    damaged = damaged[: path.stat().st_size]
    path.write_bytes(damaged)
    try:
        bank = pieria.open("notes", data=tmp_path, settings={"count_uses": False})
    except StorageError as refused:
        assert refused.hint
    else:
        with bank:
            for read in reads(bank):
                try:
                    read()
                except StorageError as refused:
                    assert refused.hint, refused
            found_out(bank)
    assert path.read_bytes() == bytes(damaged)


def overwritten(path: Path, table: str) -> None:
    """Overwrite all pages of one table with noise."""
    connection = sqlite3.connect(path)
    try:
        pages = [page for (page,) in connection.execute("SELECT pageno FROM dbstat WHERE name = ?", (table,))]
    except sqlite3.OperationalError:
        [(root,)] = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchall()
        pages = [root]
    connection.close()
    content = bytearray(path.read_bytes())
    for page in pages:
        content[(page - 1) * PAGE : page * PAGE] = b"\xa5" * PAGE
    path.write_bytes(content)


@pytest.mark.parametrize("table", ["content", "state", "journal", "text_index_data", "terms", "label"])
def test_damage_to_a_table_is_found_by_doctor_and_refuses_what_needs_it(tmp_path: Path, table: str) -> None:
    path = a_bank(tmp_path)
    overwritten(path, table)
    before = path.read_bytes()
    with pieria.open("notes", data=tmp_path) as bank:
        assert found_out(bank)
        refused = 0
        for read in reads(bank):
            try:
                read()
            except CorruptError as error:
                assert "restore" in str(error.hint)
                refused += 1
        assert refused
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE journal SET at = 'heron' WHERE seq = 1",
        "UPDATE journal SET ids = '[' WHERE seq = 1",
        "UPDATE content SET tags = '[' WHERE row = 60",
        "UPDATE content SET text = x'ff' WHERE row = 60",
        "UPDATE fact SET known_from = 'heron'",
        "UPDATE fact SET valid_from = 'heron'",
        "UPDATE fact SET valid_until = 'heron'",
        "UPDATE fact SET id = x'ff'",
        "UPDATE fact SET predicate = x'ff'",
        "UPDATE fact SET object_key = x'ff'",
    ],
)
def test_a_value_of_another_kind_is_called_damage_and_not_repeated(tmp_path: Path, statement: str) -> None:
    edited(a_bank(tmp_path), statement)
    with pieria.open("notes", data=tmp_path) as bank:
        refused = []
        for read in reads(bank):
            try:
                read()
            except CorruptError as error:
                refused.append(str(error))
    assert refused
    assert not any("heron" in said for said in refused)


def test_a_damaged_text_index_is_repaired_from_the_record(tmp_path: Path) -> None:
    path = a_bank(tmp_path)
    edited(path, "DELETE FROM text_index_data WHERE id > 10")
    with pieria.open("notes", data=tmp_path) as bank:
        assert found_out(bank)
        diagnosis = bank.doctor(repair=True)
        assert diagnosis.repaired == ("text index",)
        assert diagnosis.well
        assert len(bank.recall("number", k=100, policy="similarity")) == 59


@pytest.mark.parametrize(
    ("statement", "check"),
    [
        ("DELETE FROM terms WHERE row = 5", "terms"),
        ("UPDATE counter SET value = value + 1 WHERE name = 'documents'", "terms"),
        ("DELETE FROM content WHERE row = 5", "states"),
        ("DELETE FROM state WHERE row = 5", "rows"),
        ("UPDATE state SET known_until = known_until - 5 WHERE row = 5", "open"),
        ("UPDATE state SET known_until = known_until - 5 WHERE row = 1", "gaps"),
        ("UPDATE journal SET at = at + 100000000000 WHERE seq = 1", "journal"),
    ],
)
def test_every_broken_rule_is_found_by_its_check(tmp_path: Path, statement: str, check: str) -> None:
    path = edited(a_bank(tmp_path), statement)
    with pieria.open("notes", data=path.parent) as bank:
        found = {finding.check for finding in bank.doctor().findings if not finding.well}
        assert check in found
        assert all(finding.remedy for finding in bank.doctor().findings if not finding.well)


def test_doctor_shows_no_word_of_what_is_remembered(tmp_path: Path) -> None:
    path = a_bank(tmp_path)
    edited(path, "DELETE FROM terms WHERE row = 5", "DELETE FROM text_index_data WHERE id > 10")
    with pieria.open("notes", data=tmp_path) as bank:
        said = repr(bank.doctor().as_dict()) + repr(bank.stats().as_dict())
    assert not any(word in said for word in ("heron", "water", "stood"))
