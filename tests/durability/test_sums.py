"""Damage that SQLite does not detect: recall, `get` and `list` refuse it, and `doctor` names the table."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.durability.flips import fill, fingerprint, flips, is_well, opened, outcome, questions
from tests.durability.sealing import key_in
from tests.frozen.make import load
from tests.frozen.story import open_bank, tell

import pieria
from pieria.bank import Bank
from pieria.errors import CorruptError, StorageError
from pieria.store.parts import Told
from pieria.store.sqlite.migrate import LEDGER, migrations
from pieria.store.sqlite.sums import SUMMED
from pieria.workspace.seal import seal, unseal

MADE_ELSEWHERE = ("text_", "sqlite_")
INDEXES = "FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL AND tbl_name = ?"
FLIPS = 200


def every_column() -> list[tuple[str, str]]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(LEDGER)
        for step in migrations():
            connection.executescript(step.sql)
        return [
            (table, column)
            for table, column in connection.execute(
                "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'"
            )
            if not table.startswith(MADE_ELSEWHERE)
        ]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the file of a bank with rows in every table."""
    folder = tmp_path_factory.mktemp("whole")
    with open_bank(folder) as bank:
        tell(bank)
        bank.remember("From there.", source="https://evil.example")
        bank.quarantine(source="https://evil.example")
        with bank.core.store.writing() as writer:
            writer.add_told([Told("jwt", "talk", 2, 1, 2)], 10)
        assert bank.doctor().well
    return (folder / "frozen.db").read_bytes()


@pytest.fixture
def path(tmp_path: Path, whole: bytes) -> Path:
    path = tmp_path / "frozen.db"
    path.write_bytes(whole)
    path.chmod(0o600)
    return path


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
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(
            "DELETE FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL AND tbl_name = ?", (table,)
        )
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        keys = [name for _, name, *_, key in connection.execute(f"PRAGMA table_info({table})") if key]
        *first, value = connection.execute(f"SELECT {', '.join(keys)}, {column} FROM {table} LIMIT 1").fetchone()
        where = " AND ".join(f"{key} = ?" for key in keys)
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", (changed(value), *first))
        connection.execute("PRAGMA writable_schema = ON")
        connection.executemany("INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)", indexes)


def is_told(folder: Path) -> bool:
    try:
        with open_bank(folder) as bank:
            return not bank.doctor().well
    except StorageError:
        return True


@pytest.mark.parametrize(("table", "column"), every_column())
def test_doctor_tells_of_one_changed_value(path: Path, table: str, column: str) -> None:
    change_beneath(path, table, column)
    assert is_told(path.parent)


def test_doctor_tells_of_a_changed_schema(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_schema SET sql = replace(sql, 'REAL', 'TEXT') WHERE name = 'usage'")
    with open_bank(path.parent) as bank:
        assert "schema" in {finding.check for finding in bank.doctor().findings if not finding.well}


def damage(folder: Path, id: str) -> None:
    """Change a text in the record but not in the indexes."""
    with closing(sqlite3.connect(folder / "notes.db", isolation_level=None)) as connection:
        connection.execute("UPDATE content SET text = replace(text, 'heron', 'hesoo') WHERE id = ?", (id,))


@pytest.fixture
def herons(tmp_path: Path) -> Iterator[Bank]:
    with pieria.open("notes", data=tmp_path) as bank:
        bank.remember_many({"text": f"heron number {n}", "id": f"m{n}"} for n in range(4))
        bank.link("m1", "m2", "follows")
    damage(tmp_path, "m1")
    with pieria.open("notes", data=tmp_path) as bank:
        yield bank


def test_a_damaged_memory_is_refused_by_its_id(herons: Bank) -> None:
    for read in (lambda: herons.get("m1"), lambda: herons.recall("heron"), herons.list, lambda: herons.history("m1")):
        with pytest.raises(CorruptError, match="the memory m1 differs") as refused:
            read()
        assert "purge that memory" in str(refused.value.hint)
    assert herons.get("m2")


def test_doctor_names_a_damaged_memory_and_what_to_do(herons: Bank) -> None:
    [told] = [finding for finding in herons.doctor().findings if not finding.well]
    assert (told.check, "m1" in told.detail) == ("sums", True)
    assert "pieria restore" in str(told.remedy)
    assert "purge" in str(told.remedy)


def test_a_damaged_memory_can_be_purged(herons: Bank) -> None:
    herons.purge("m1")
    assert herons.doctor().well
    assert len(herons.recall("heron", k=10, policy="similarity")) == 3


def test_repair_does_not_believe_a_damaged_text(herons: Bank, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "notes.db", isolation_level=None)) as connection:
        connection.execute("UPDATE terms SET terms = 'hesoo' WHERE row = 2")
    diagnosis = herons.doctor(repair=True)
    assert diagnosis.repaired == ()
    assert {"sums", "term sums"} <= {finding.check for finding in diagnosis.findings if not finding.well}
    with pytest.raises(CorruptError, match="m1"):
        herons.core.store.reindex(lambda content: [], herons.core.store.analyser)


def test_a_damaged_memory_is_not_copied_or_exported(herons: Bank, tmp_path: Path) -> None:
    with pytest.raises(CorruptError, match="m1"):
        herons.export(tmp_path / "out.jsonl")
    herons.close()
    with pytest.raises(CorruptError, match="m1"):
        pieria.copy("notes", to=tmp_path, name="other", data=tmp_path)


def test_damaged_vectors_and_terms_are_made_again(tmp_path: Path) -> None:
    with opened(tmp_path) as bank:
        bank.remember_many({"text": f"heron number {n}"} for n in range(4))
        bank.sync()
        before = [hit.score for hit in bank.recall("heron", k=4)]
    with closing(sqlite3.connect(tmp_path / "notes.db", isolation_level=None)) as connection:
        connection.execute("UPDATE terms SET terms = replace(terms, 'heron', 'Heron') WHERE row = 2")
        connection.execute("UPDATE vector SET vector = zeroblob(length(vector)) WHERE row = 3")
    with opened(tmp_path) as bank:
        found = {finding.check for finding in bank.doctor().findings if not finding.well}
        assert {"term sums", "vector sums"} <= found
        assert bank.doctor(repair=True).well
        bank.sync()
        assert bank.doctor().well
        assert [hit.score for hit in bank.recall("heron", k=4)] == pytest.approx(before)


def sums(path: Path) -> list[Any]:
    with closing(sqlite3.connect(path)) as connection:
        return [connection.execute(f"SELECT sum FROM {table} ORDER BY 1").fetchall() for table in SUMMED]


def test_sums_follow_every_way_of_writing(tmp_path: Path) -> None:
    with opened(tmp_path) as bank:
        fill(bank, 110)
        bank.remember("whole numbers", importance=1, strength=1, confidence=0, pinned=True)
        bank.sync()
        assert bank.doctor().well
        bank.backup(tmp_path / "notes.backup")
    pieria.restore(tmp_path / "notes.backup", tmp_path / "restored", name="notes")
    pieria.copy("notes", to=tmp_path, name="other", data=tmp_path)
    before = sums(tmp_path / "notes.db")
    assert sums(tmp_path / "restored" / "notes.db") == before
    assert sums(tmp_path / "other.db") == before
    for folder, name in ((tmp_path / "restored", "notes"), (tmp_path, "other")):
        with pieria.open(name, data=folder) as bank:
            assert bank.doctor().well


def test_sums_outlive_sealing(tmp_path: Path) -> None:
    data, settings = tmp_path / "data", {"seal_key": key_in(tmp_path)}
    with opened(data) as bank:
        fill(bank, 110)
    before = sums(data / "notes.db")
    seal("notes", data=data, settings=settings)
    with pieria.open("notes", data=data, settings=settings) as bank:
        assert bank.doctor().well
    unseal("notes", data=data, settings=settings)
    assert sums(data / "notes.db") == before


def test_what_is_erased_beside_a_memory_keeps_its_sum(tmp_path: Path) -> None:
    """A purge also cuts words from the bodies of later steps, and updates their checksums."""
    with pieria.open("notes", data=tmp_path) as bank:
        bank.remember("heron", id="m1", body={"state": "heron", "kept": 1})
        with bank.core.store.writing() as writer:
            writer._cut_body(1, '{"kept":1}')  # type: ignore[attr-defined]
        memory = bank.get("m1")
        assert memory is not None
        assert memory.body == {"kept": 1}
        assert bank.doctor().well


@pytest.mark.parametrize("schema", [1, 10])
def test_an_older_bank_is_given_sums(tmp_path: Path, schema: int) -> None:
    path = tmp_path / "frozen.db"
    load(schema, path)
    with open_bank(tmp_path) as bank:
        assert bank.doctor().well
    assert all(held for rows in sums(path) for (held,) in rows)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE content SET text = text || '.' WHERE id = 'jwt'")
    with open_bank(tmp_path) as bank, pytest.raises(CorruptError, match="jwt"):
        bank.get("jwt")


@pytest.mark.slow
def test_no_flipped_bit_changes_an_answer_silently(tmp_path: Path) -> None:
    """With one byte of a bank changed, each answer is right or refused, or `doctor` reports the damage."""
    with opened(tmp_path) as bank:
        fill(bank)
        for question in questions(bank):
            question()
    whole = fingerprint(tmp_path)
    content = (tmp_path / "notes.db").read_bytes()
    assert None not in whole
    assert is_well(tmp_path)
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    found = {flip: outcome(damaged, content, flip, whole) for flip in flips(content, FLIPS, 20260601)}
    assert [flip for flip, came in found.items() if came == "silent"] == []
    assert "told" in found.values()


def test_a_damaged_memory_keeps_no_other_from_vectors(tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path, settings={"embedder": "none"}) as bank:
        bank.remember_many({"text": f"heron number {n}", "id": f"m{n}"} for n in range(5))
    damage(tmp_path, "m1")
    with pieria.open("notes", data=tmp_path, settings={"embedder": "hashing"}) as bank:
        bank.sync()
        with closing(sqlite3.connect(tmp_path / "notes.db")) as connection:
            assert connection.execute("SELECT count(DISTINCT row) FROM vector").fetchone()[0] == 4


def test_a_damaged_memory_keeps_no_bank_from_opening(tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path, settings={"embedder": "none"}) as bank:
        bank.remember_many({"text": f"heron number {n}", "id": f"m{n}"} for n in range(5))
    damage(tmp_path, "m1")
    with closing(sqlite3.connect(tmp_path / "notes.db")) as connection:
        connection.execute("UPDATE counter SET value = value - 1 WHERE name = 'analyser'")
        connection.commit()
    with pieria.open("notes", data=tmp_path, settings={"embedder": "none"}) as bank:
        assert len(bank.recall("heron number 3", k=1)) == 1
        with pytest.raises(CorruptError, match="m1"):
            bank.get("m1")
        bank.purge("m1")
        assert bank.count() == 4


def test_a_damaged_backup_is_not_restored(tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path, settings={"embedder": "none"}) as bank:
        bank.remember("A heron by the pond.", id="m1")
    damage(tmp_path, "m1")
    with pieria.open("notes", data=tmp_path, settings={"embedder": "none"}) as bank:
        backup = bank.backup(tmp_path / "kept.backup")
    with pytest.raises(CorruptError, match="content differ"):
        pieria.restore(backup, tmp_path, name="again")
    assert not (tmp_path / "again.db").exists()
