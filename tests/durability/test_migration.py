"""Schema migrations: a backup first, then each step completely or not at all, once, with many processes at once."""

import sqlite3
from contextlib import closing
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
from tests.durability.processes import killed, ready_to_go, started_together

import pieria
from pieria.errors import CorruptError, DiskFullError, NewerVersionError, PieriaError
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
def path(tmp_path: Path) -> Path:
    """Return the file of a bank with the memories "one" and "two"."""
    with pieria.open("notes", data=tmp_path) as opened:
        opened.remember("heron", id="one")
        opened.remember("stork", id="two")
        opened.touch("one")
    return tmp_path / "notes.db"


def connected(path: Path) -> closing[sqlite3.Connection]:
    return closing(sqlite3.connect(path, isolation_level=None, timeout=30))


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


def test_step_is_taken_once_and_noted(path: Path) -> None:
    assert step(path, NEXT) == [LATEST]
    after = whole(path)
    assert step(path, NEXT) == []
    assert whole(path) == after
    with connected(path) as connection:
        noted = connection.execute("SELECT number, name, checksum FROM migration ORDER BY number").fetchall()
        assert noted[-1] == (NEXT.number, "moods", NEXT.checksum)
        assert connection.execute("PRAGMA user_version").fetchone() == (NEXT.number,)
        rows = connection.execute("SELECT id, note FROM mood ORDER BY id").fetchall()
        assert rows == [("one", ";-- not the end"), ("two", ";-- not the end")]
        connection.execute("INSERT INTO mood (id) VALUES ('three')")
    with pytest.raises(CorruptError, match=str(NEXT.number)):
        step(path, Migration(NEXT.number, NEXT.name, NEXT.sql + " "))
    with pytest.raises(NewerVersionError):
        step(path)


def test_new_file_is_made_without_a_backup(tmp_path: Path) -> None:
    assert step(tmp_path / "new.db", NEXT) == []
    with connected(tmp_path / "new.db") as connection:
        assert connection.execute("SELECT count(*) FROM migration").fetchone() == (NEXT.number,)


def test_backup_before_a_step_holds_the_bank_as_it_was(path: Path) -> None:
    before = whole(path)
    told: list[str] = []
    seen: list[list[Any]] = []
    with closing(SQLiteStore(path, on_migration=told.append)) as store:

        def back_up(number: int) -> None:
            seen.append(whole(path))
            store._back_up_before_migration(number)

        migrate(store._connections.writer(), path, "2026-03-01T00:00:00Z", back_up, (*migrations(), NEXT))
    [backup] = path.parent.glob("*.backup")
    assert (told, seen) == ([str(backup)], [before])
    assert backup.name.startswith(f"notes.before-schema-{NEXT.number}.")
    assert backup.stat().st_mode & 0o077 == 0
    assert whole(backup) == before
    with pytest.raises(NewerVersionError):
        pieria.open("notes", data=path.parent)
    pieria.restore(backup, path.parent, name="brought-back")
    with pieria.open("brought-back", data=path.parent) as again:
        assert {memory.id for memory in again.list()} == {"one", "two"}
        assert again.doctor().well


def test_failed_step_changes_nothing(path: Path) -> None:
    before = whole(path)

    def cannot(number: int) -> None:
        raise DiskFullError("backup")

    with connected(path) as connection, pytest.raises(DiskFullError):
        migrate(connection, path, "now", cannot, (*migrations(), NEXT))
    # An installation without its steps is older than every bank. It must not create a new bank over the old one.
    with connected(path) as connection, pytest.raises(PieriaError):
        migrate(connection, path, "now", lambda number: None, ())
    with pytest.raises(sqlite3.OperationalError, match="nowhere"):
        step(path, BROKEN)
    assert whole(path) == before
    with pieria.open("notes", data=path.parent) as opened:
        assert opened.doctor().well
        opened.remember("as ever")
    with pytest.raises(sqlite3.OperationalError, match="nothing_of_the_kind"):
        step(path, NEXT, AFTER)
    with connected(path) as connection:
        assert connection.execute("SELECT max(number) FROM migration").fetchone() == (NEXT.number,)
        assert connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'weather'").fetchone() == (0,)


def migrate_when_told(pipe: Connection, path: str) -> None:
    ready_to_go(pipe)
    pipe.send(step(Path(path), NEXT))


@pytest.mark.slow
def test_processes_that_migrate_at_once_take_a_step_once(path: Path) -> None:
    with started_together(migrate_when_told, *[(str(path),)] * 5) as workers:
        backed_up = [worker.finish() for worker in workers]
    assert [[LATEST]] in backed_up
    with connected(path) as connection:
        assert connection.execute("SELECT count(*) FROM migration").fetchone() == (NEXT.number,)
        assert connection.execute("SELECT count(*) FROM mood").fetchone() == (2,)


def migrate_until_killed(pipe: Connection, path: str) -> None:
    rows = "\n".join(f"INSERT INTO mood (id) VALUES ('m{n}');" for n in range(3_000))
    pipe.send("begun")
    step(Path(path), Migration(NEXT.number, NEXT.name, NEXT.sql + rows))
    pipe.send("done")


@pytest.mark.slow
@pytest.mark.parametrize("moment", [0.0, 0.003, 0.008, 0.02, 0.05])
def test_killed_migration_leaves_the_old_schema_or_the_new(path: Path, moment: float) -> None:
    before = whole(path)
    is_done = "done" in killed(migrate_until_killed, str(path), moment=moment)
    after = whole(path)
    if after[1] == before[1]:
        assert (is_done, after) == (False, before)
        with pieria.open("notes", data=path.parent) as opened:
            assert opened.doctor().well
    else:
        assert {row[0] for row in dict(after[2])["mood"]} == {"one", "two", *(f"m{n}" for n in range(3_000))}


def test_our_own_steps_are_numbered_without_gaps() -> None:
    steps = migrations()
    assert [step.number for step in steps] == list(range(1, len(steps) + 1))
    assert all(step.name.isidentifier() and step.sql.strip() for step in steps)
