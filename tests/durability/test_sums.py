"""Damage that SQLite does not detect: recall, `get` and `list` refuse it, and `doctor` names the table."""

import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.durability.test_damage import edit, put
from tests.durability.test_sealed import key_in
from tests.frozen.make import load
from tests.frozen.story import BEGAN, asked, open_bank, tell

import pieria
from pieria.bank import Bank
from pieria.errors import CorruptError, PieriaError, StorageError
from pieria.store.parts import Told
from pieria.store.sqlite.migrate import LEDGER, migrations
from pieria.store.sqlite.sums import SUMMED

MADE_ELSEWHERE = ("text_", "sqlite_", "codes")
"""The text index has checks of its own, and so have the codes of vectors (`test_vectors`)."""
INDEXES = "FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL AND tbl_name = ?"
HASHING = {"embedder": "hashing"}


def fill_all_tables(bank: Bank) -> None:
    tell(bank)
    bank.remember("From there.", source="https://evil.example")
    bank.quarantine(source="https://evil.example")
    with bank.core.store.writing() as writer:
        writer.add_told([Told("jwt", "talk", 2, 1, 2)], 10)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the file of a bank with rows in every table."""
    folder = tmp_path_factory.mktemp("whole")
    with open_bank(folder, BEGAN) as bank:
        fill_all_tables(bank)
    assert is_well(folder)
    return (folder / "frozen.db").read_bytes()


def every_column() -> list[tuple[str, str]]:
    with closing(sqlite3.connect(":memory:")) as connection:
        for script in (LEDGER, *(step.sql for step in migrations())):
            connection.executescript(script)
        columns = connection.execute(
            "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'"
        ).fetchall()
    return [(table, column) for table, column in columns if not table.startswith(MADE_ELSEWHERE)]


def changed(value: Any) -> Any:
    if isinstance(value, bytes):
        return bytes([value[0] ^ 1]) + value[1:]
    if isinstance(value, int):
        return value ^ 1 << 20
    return f"{value}x" if isinstance(value, str) else 1 if value is None else value + 0.25


def change_beneath(path: Path, table: str, column: str) -> None:
    """Change a value in a table's own tree but not in its indexes, as a flipped bit does."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        indexes = connection.execute(f"SELECT * {INDEXES}", (table,)).fetchall()
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(f"DELETE {INDEXES}", (table,))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        keys = [name for _, name, *_, key in connection.execute(f"PRAGMA table_info({table})") if key]
        *first, value = connection.execute(f"SELECT {', '.join(keys)}, {column} FROM {table} LIMIT 1").fetchone()
        where = " AND ".join(f"{key} = ?" for key in keys)
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", (changed(value), *first))
        connection.execute("PRAGMA writable_schema = ON")
        connection.executemany("INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)", indexes)


def is_well(folder: Path) -> bool:
    try:
        with open_bank(folder) as bank:
            return bank.doctor().well
    except PieriaError:
        return False


@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.slow)])
def test_doctor_finds_one_changed_value_of_any_column(tmp_path: Path, whole: bytes, step: int) -> None:
    path, unnoticed = tmp_path / "frozen.db", []
    for table, column in every_column()[::step]:
        put(path, whole)
        change_beneath(path, table, column)
        if is_well(tmp_path):
            unnoticed.append((table, column))
    assert unnoticed == []


def test_doctor_finds_a_changed_schema(tmp_path: Path, whole: bytes) -> None:
    put(tmp_path / "frozen.db", whole)
    change = "UPDATE sqlite_schema SET sql = replace(sql, 'REAL', 'TEXT') WHERE name = 'usage'"
    edit(tmp_path / "frozen.db", "PRAGMA writable_schema = ON", change)
    with open_bank(tmp_path) as bank:
        assert "schema" in {finding.check for finding in bank.doctor().findings if not finding.well}


def answers(folder: Path) -> dict[str, str | None]:
    """Return every answer as text, or None where a `StorageError` refused it."""
    found: dict[str, str | None] = {}
    with open_bank(folder) as bank:
        for question, ask in asked(bank).items():
            try:
                found[question] = repr(ask())
            except StorageError:
                found[question] = None
            except PieriaError as wrong:
                found[question] = repr(wrong)
    return found


@pytest.mark.slow
def test_no_flipped_bit_changes_an_answer_silently(tmp_path: Path) -> None:
    """With one byte of a bank changed, each answer is right or refused, or `doctor` reports the damage."""
    chance, path, told = random.Random(20260601), tmp_path / "frozen.db", 0
    with open_bank(tmp_path, BEGAN) as bank:
        tell(bank)
        bank.remember_many({"text": f"{' '.join(chance.choices('αβγδε', k=40))} {n}"} for n in range(200))
    right, content = answers(tmp_path), path.read_bytes()
    assert None not in right.values()
    for n in range(120):
        # Half of the changes are of one bit.
        place, flip = chance.randrange(len(content)), 1 << chance.randrange(8) if n % 2 else chance.randrange(1, 256)
        damaged = content[:place] + bytes([content[place] ^ flip]) + content[place + 1 :]
        put(path, damaged)
        if not is_well(tmp_path):
            told += 1
            continue
        put(path, damaged)
        assert all(answer in (None, right[question]) for question, answer in answers(tmp_path).items()), place
    assert told


@pytest.fixture
def herons(tmp_path: Path) -> Iterator[Bank]:
    """Yield a bank of four memories. The text of m1 differs from its indexes."""
    with pieria.open("notes", data=tmp_path) as bank:
        bank.remember_many({"text": f"heron number {n}", "id": f"m{n}"} for n in range(4))
        bank.link("m1", "m2", "follows")
    edit(tmp_path / "notes.db", "UPDATE content SET text = replace(text, 'heron', 'hesoo') WHERE id = 'm1'")
    with pieria.open("notes", data=tmp_path) as bank:
        yield bank


def test_damaged_memory_is_refused_by_its_id(herons: Bank, tmp_path: Path) -> None:
    reads: list[Callable[[], object]] = [
        lambda: herons.get("m1"), lambda: herons.recall("heron"), herons.list, lambda: herons.history("m1"),
    ]  # fmt: skip
    for read in reads:
        with pytest.raises(CorruptError, match="the memory m1 differs") as refused:
            read()
        assert "purge that memory" in str(refused.value.hint)
    assert herons.get("m2")
    with pytest.raises(CorruptError, match="m1"):
        herons.export(tmp_path / "out.jsonl")
    backup = herons.backup(tmp_path / "kept.backup")
    with pytest.raises(CorruptError, match="content differ"):
        pieria.restore(backup, tmp_path, name="again")
    assert not (tmp_path / "again.db").exists()
    herons.close()
    with pytest.raises(CorruptError, match="m1"):
        pieria.copy("notes", to=tmp_path, name="other", data=tmp_path)


def test_damaged_memory_is_named_by_doctor_and_can_be_purged(herons: Bank) -> None:
    [told] = [finding for finding in herons.doctor().findings if not finding.well]
    assert (told.check, "m1" in told.detail) == ("sums", True)
    assert "pieria restore" in str(told.remedy) and "purge" in str(told.remedy)
    herons.purge("m1")
    assert herons.doctor().well
    assert len(herons.recall("heron", k=10, policy="similarity")) == 3


def test_repair_does_not_believe_a_damaged_text(herons: Bank, tmp_path: Path) -> None:
    edit(tmp_path / "notes.db", "UPDATE terms SET terms = 'hesoo' WHERE row = 2")
    diagnosis = herons.doctor(repair=True)
    assert diagnosis.repaired == ()
    assert {"sums", "term sums"} <= {finding.check for finding in diagnosis.findings if not finding.well}
    with pytest.raises(CorruptError, match="m1"):
        herons.core.store.reindex(lambda content: [], herons.core.store.analyser)


def test_damaged_memory_keeps_no_bank_from_opening(herons: Bank, tmp_path: Path) -> None:
    """The next open indexes anew and embeds all other memories."""
    herons.close()
    edit(tmp_path / "notes.db", "UPDATE counter SET value = value - 1 WHERE name = 'analyser'")
    with pieria.open("notes", data=tmp_path, settings=HASHING) as bank:
        bank.sync()
        with closing(sqlite3.connect(tmp_path / "notes.db")) as connection:
            assert connection.execute("SELECT count(DISTINCT row) FROM vector").fetchone()[0] == 3
    with pieria.open("notes", data=tmp_path) as bank:
        assert len(bank.recall("heron number 3", k=1)) == 1
        with pytest.raises(CorruptError, match="m1"):
            bank.get("m1")
        bank.purge("m1")
        assert bank.count() == 3


def test_damaged_vectors_and_terms_are_made_again(tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path, settings=HASHING) as bank:
        bank.remember_many({"text": f"heron number {n}"} for n in range(4))
        bank.sync()
        before = [hit.score for hit in bank.recall("heron", k=4)]
    edit(
        tmp_path / "notes.db",
        "UPDATE terms SET terms = replace(terms, 'heron', 'Heron') WHERE row = 2",
        "UPDATE vector SET vector = zeroblob(length(vector)) WHERE row = 3",
    )
    with pieria.open("notes", data=tmp_path, settings=HASHING) as bank:
        found = {finding.check for finding in bank.doctor().findings if not finding.well}
        assert {"term sums", "vector sums"} <= found
        assert bank.doctor(repair=True).well
        bank.sync()
        assert bank.doctor().well
        assert [hit.score for hit in bank.recall("heron", k=4)] == pytest.approx(before, abs=1e-4)


def sums(path: Path) -> list[Any]:
    with closing(sqlite3.connect(path)) as connection:
        return [connection.execute(f"SELECT sum FROM {table} ORDER BY 1").fetchall() for table in SUMMED]


def test_sums_follow_every_way_of_writing(tmp_path: Path) -> None:
    settings = {"seal_key": key_in(tmp_path)}
    with open_bank(tmp_path, BEGAN) as bank:
        fill_all_tables(bank)
        bank.remember("whole numbers", importance=1, strength=1, confidence=0, pinned=True)
        bank.backup(tmp_path / "frozen.backup")
    before = sums(tmp_path / "frozen.db")
    pieria.restore(tmp_path / "frozen.backup", tmp_path / "restored", name="frozen")
    pieria.copy("frozen", to=tmp_path / "copied", name="frozen", data=tmp_path)
    pieria.seal("frozen", data=tmp_path, settings=settings)
    with pieria.open("frozen", data=tmp_path, settings=settings) as bank:
        assert bank.doctor().well
    pieria.unseal("frozen", data=tmp_path, settings=settings)
    for folder in (tmp_path, tmp_path / "restored", tmp_path / "copied"):
        assert sums(folder / "frozen.db") == before
        assert is_well(folder)


@pytest.mark.parametrize("schema", [1, 10])
def test_older_bank_is_given_sums(tmp_path: Path, schema: int) -> None:
    path = tmp_path / "frozen.db"
    load(schema, path)
    assert is_well(tmp_path)
    assert all(held for rows in sums(path) for (held,) in rows)
    edit(path, "UPDATE content SET text = text || '.' WHERE id = 'jwt'")
    with open_bank(tmp_path) as bank, pytest.raises(CorruptError, match="jwt"):
        bank.get("jwt")
