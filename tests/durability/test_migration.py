"""Schema migrations: a backup first, then each step completely or not at all, once, with many processes at once."""

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
from tests.durability.processes import working

import pieria
from pieria.errors import CorruptError, NewerVersionError, PieriaError
from pieria.store.sqlite import SQLiteStore
from pieria.store.sqlite.migrate import Migration, migrate, migrations

LATEST = migrations()[-1].number
NEXT = Migration(
    LATEST + 1,
    "moods",
    """-- A step that was made up; it changes what is there and what is not.
    CREATE TABLE mood (id TEXT PRIMARY KEY, note TEXT DEFAULT ';-- not the end');
    ALTER TABLE usage ADD COLUMN mood TEXT;
    INSERT INTO mood (id) SELECT id FROM state; -- one each
    CREATE TRIGGER cheer AFTER INSERT ON mood BEGIN
        UPDATE usage SET mood = 'fair; or so' WHERE id = new.id;
        DELETE FROM mood WHERE id = 'nobody';
    END;
    """,
)
BROKEN = Migration(LATEST + 1, "broken", NEXT.sql + "\nINSERT INTO nowhere VALUES (1);\nDROP TABLE content;\n")
AFTER = Migration(LATEST + 2, "after", "CREATE TABLE weather (day TEXT);\nDROP TABLE nothing_of_the_kind;\n")


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    with pieria.open("notes", data=tmp_path) as opened:
        opened.remember("heron", id="one")
        opened.remember("stork", id="two")
        opened.touch("one")
    return tmp_path / "notes.db"


@contextmanager
def connected(path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(path, isolation_level=None, timeout=30)
    try:
        yield connection
    finally:
        connection.close()


def step(path: Path, *steps: Migration) -> list[int]:
    """Run these steps after our own. Return the schema numbers passed to the backup callback."""
    backed_up: list[int] = []
    with connected(path) as connection:
        migrate(connection, path, "2026-03-01T00:00:00Z", backed_up.append, migrations() + steps)
    return backed_up


def whole(path: Path) -> list[Any]:
    """Return schema and content, to compare before and after."""
    with connected(path) as connection:
        schema = connection.execute("SELECT name, sql FROM sqlite_schema ORDER BY name").fetchall()
        version = connection.execute("PRAGMA user_version").fetchone()
        rows = [
            (name, connection.execute(f"SELECT * FROM {name}").fetchall())
            for name, sql in schema
            if sql and sql.startswith("CREATE TABLE")
        ]
    return [schema, version, rows]


def test_a_step_is_taken_once_and_noted(bank: Path) -> None:
    assert step(bank, NEXT) == [LATEST]
    after = whole(bank)
    assert step(bank, NEXT) == []
    assert whole(bank) == after
    with connected(bank) as connection:
        noted = connection.execute("SELECT number, name, checksum FROM migration ORDER BY number").fetchall()
        assert noted[-1] == (NEXT.number, "moods", NEXT.checksum)
        assert connection.execute("PRAGMA user_version").fetchone() == (NEXT.number,)
        assert connection.execute("SELECT id, note FROM mood ORDER BY id").fetchall() == [
            ("one", ";-- not the end"),
            ("two", ";-- not the end"),
        ]
        connection.execute("INSERT INTO mood (id) VALUES ('three')")


def test_a_new_file_is_made_without_a_backup(tmp_path: Path) -> None:
    assert step(tmp_path / "new.db", NEXT) == []
    with connected(tmp_path / "new.db") as connection:
        assert connection.execute("SELECT count(*) FROM migration").fetchone() == (NEXT.number,)


def test_the_backup_is_made_first_and_is_the_bank_as_it_was(bank: Path) -> None:
    before = whole(bank)
    told: list[str] = []
    store = SQLiteStore(bank, on_migration=told.append)
    try:
        seen: list[list[Any]] = []

        def back_up(number: int) -> None:
            seen.append(whole(bank))
            store._back_up_before_migration(number)

        connection = store._connections.writer()
        migrate(connection, bank, "2026-03-01T00:00:00Z", back_up, (*migrations(), NEXT))
    finally:
        store.close()
    [backup] = bank.parent.glob("*.backup")
    assert told == [str(backup)]
    assert seen == [before]
    assert backup.name.startswith(f"notes.before-schema-{NEXT.number}.")
    assert backup.stat().st_mode & 0o077 == 0
    assert whole(backup) == before
    with pytest.raises(NewerVersionError):
        pieria.open("notes", data=bank.parent)
    pieria.restore(backup, bank.parent, name="brought-back")
    with pieria.open("brought-back", data=bank.parent) as again:
        assert {memory.id for memory in again.list()} == {"one", "two"}
        assert again.doctor().well


def test_without_a_backup_nothing_is_changed(bank: Path) -> None:
    before = whole(bank)

    def cannot(number: int) -> None:
        raise pieria.errors.DiskFullError("backup")

    with connected(bank) as connection, pytest.raises(pieria.errors.DiskFullError):
        migrate(connection, bank, "now", cannot, (*migrations(), NEXT))
    assert whole(bank) == before


def test_a_step_that_breaks_leaves_the_old_schema_whole(bank: Path) -> None:
    before = whole(bank)
    with pytest.raises(sqlite3.OperationalError, match="nowhere"):
        step(bank, BROKEN)
    assert whole(bank) == before
    with pieria.open("notes", data=bank.parent) as opened:
        assert opened.doctor().well
        opened.remember("as ever")
    step(bank, NEXT)


def test_a_step_that_breaks_keeps_the_step_before_it(bank: Path) -> None:
    with pytest.raises(sqlite3.OperationalError, match="nothing_of_the_kind"):
        step(bank, NEXT, AFTER)
    with connected(bank) as connection:
        assert connection.execute("SELECT max(number) FROM migration").fetchone() == (NEXT.number,)
        assert connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'weather'").fetchone() == (0,)


def test_a_step_changed_after_it_was_taken_is_refused(bank: Path) -> None:
    step(bank, NEXT)
    before = whole(bank)
    with pytest.raises(CorruptError, match=str(NEXT.number)):
        step(bank, Migration(NEXT.number, NEXT.name, NEXT.sql + " "))
    assert whole(bank) == before


def test_a_bank_with_a_step_nobody_knows_is_newer(bank: Path) -> None:
    step(bank, NEXT)
    with pytest.raises(NewerVersionError):
        step(bank)
    with pytest.raises(NewerVersionError):
        pieria.open("notes", data=bank.parent)


def migrate_when_told(pipe: Connection, path: str) -> None:
    pipe.send("ready")
    assert pipe.recv() == "go"
    pipe.send(step(Path(path), NEXT))


def test_processes_that_migrate_at_once_take_the_step_once(bank: Path) -> None:
    with ExitStack() as stack:
        workers = [stack.enter_context(working(migrate_when_told, str(bank))) for _ in range(5)]
        for worker in workers:
            assert worker.receive() == "ready"
        for worker in workers:
            worker.pipe.send("go")
        backed_up = [worker.receive() for worker in workers]
        for worker in workers:
            worker.finish()
    assert [LATEST] in backed_up
    with connected(bank) as connection:
        assert connection.execute("SELECT count(*) FROM migration").fetchone() == (NEXT.number,)
        assert connection.execute("SELECT count(*) FROM mood").fetchone() == (2,)


def migrate_until_killed(pipe: Connection, path: str) -> None:
    rows = "\n".join(f"INSERT INTO mood (id) VALUES ('m{n}');" for n in range(3_000))
    pipe.send("begun")
    step(Path(path), Migration(NEXT.number, NEXT.name, NEXT.sql + rows))
    pipe.send("done")


@pytest.mark.parametrize("moment", [0.0, 0.003, 0.008, 0.02, 0.05])
def test_a_migration_killed_half_way_leaves_the_old_schema_or_the_new(bank: Path, moment: float) -> None:
    before = whole(bank)
    with working(migrate_until_killed, str(bank)) as worker:
        assert worker.receive() == "begun"
        finished = worker.pipe.poll(moment)
        worker.process.kill()
        worker.process.join()
    after = whole(bank)
    if after[1] == before[1]:
        assert not finished
        assert after == before
        with pieria.open("notes", data=bank.parent) as opened:
            assert opened.doctor().well
    else:
        moods = {row[0] for row in dict(after[2])["mood"]}
        assert moods == {"one", "two", *(f"m{n}" for n in range(3_000))}


def test_our_own_steps_are_numbered_without_gaps_and_named(tmp_path: Path) -> None:
    steps = migrations()
    assert [step.number for step in steps] == list(range(1, len(steps) + 1))
    assert all(step.name.isidentifier() and step.sql.strip() for step in steps)


def test_a_bank_opened_with_a_broken_folder_of_steps_says_so(bank: Path) -> None:
    """An installation without its steps is older than every bank. It must not create a new bank over the old one."""
    before = whole(bank)
    with connected(bank) as connection, pytest.raises(PieriaError):
        migrate(connection, bank, "now", lambda number: None, ())
    assert whole(bank) == before
