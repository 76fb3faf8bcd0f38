"""Changes that others make to a bank's file or disk while it is open, and two stores on one file.

The tests find the moments when stores could harm each other by watching the statements of a connection.
"""

import json
import os
import re
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.contract.store_helpers import ALL, apply, memory, state_of
from tests.durability.test_damage import edit

import pieria
from pieria.errors import BusyError, ClosedError, CorruptError, NewerVersionError, StorageError
from pieria.store.sqlite import SQLiteStore
from pieria.store.sqlite.connection import translated

FOR_EVER = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"


@pytest.mark.parametrize(
    "changes", ["state RENAME TO standing", "state ADD COLUMN shade", "content ADD COLUMN shade INTEGER DEFAULT 1"]
)
def test_schema_changed_by_a_newer_version_is_no_damage(tmp_path: Path, changes: str) -> None:
    with pieria.open("notes", data=tmp_path) as bank:
        bank.remember("heron")
        edit(tmp_path / "notes.db", f"ALTER TABLE {changes}", "PRAGMA user_version = 9999")
        with pytest.raises(NewerVersionError, match="newer schema while it was open here") as refused:
            bank.list()
    assert "Upgrade Pieria" in str(refused.value.hint)


def test_table_lost_from_our_own_schema_is_damage(tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path) as bank:
        edit(tmp_path / "notes.db", "ALTER TABLE state RENAME TO standing")
        with pytest.raises(CorruptError):
            bank.list()


def test_failing_disk_is_a_storage_error(tmp_path: Path) -> None:
    problem = sqlite3.OperationalError("disk I/O error")
    problem.sqlite_errorname = "SQLITE_IOERR_READ"
    with pytest.raises(StorageError, match="the disk failed under"), translated("read", tmp_path / "out" / "notes.db"):
        raise problem


def test_file_replaced_under_a_connection_must_be_reopened(tmp_path: Path) -> None:
    path, new = tmp_path / "b.db", tmp_path / "new.db"
    for made in (path, new):
        edit(made, "CREATE TABLE t (x)")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("SELECT * FROM t").fetchall()
        os.replace(new, path)
        with pytest.raises(BusyError) as refused, translated("write", path):
            connection.execute("INSERT INTO t VALUES (1)")
    assert refused.value.retryable
    assert "Open the bank again" in str(refused.value.hint)


def test_read_broken_off_by_closing_raises_closed(tmp_path: Path) -> None:
    store, begun = SQLiteStore(tmp_path / "notes.db"), threading.Event()

    def look() -> None:
        with translated("read", store.path), store.looking() as connection:
            connection.set_progress_handler(begun.set, 1_000)
            connection.execute(FOR_EVER).fetchall()

    with ThreadPoolExecutor(1) as threads:
        looking = threads.submit(look)
        assert begun.wait(30)
        store.close()
        with pytest.raises(ClosedError):
            looking.result(30)


@contextmanager
def two_stores(folder: Path, **settings: Any) -> Iterator[tuple[SQLiteStore, SQLiteStore]]:
    """Yield two stores on one file; the settings are those of the second."""
    path = folder / "b.db"
    with closing(SQLiteStore(path)) as one, closing(SQLiteStore(path, **settings)) as other:
        yield one, other


def once_at(connection: sqlite3.Connection, beginning: str, act: Callable[[], object]) -> list[str]:
    """Call `act` when the connection first begins such a statement. Return the list of all begun statements."""
    begun: list[str] = []

    def watch(statement: str) -> None:
        first = statement.startswith(beginning) and not any(seen.startswith(beginning) for seen in begun)
        begun.append(statement)
        if first:
            act()

    connection.set_trace_callback(watch)
    return begun


def made_reader(store: SQLiteStore) -> sqlite3.Connection:
    with store.looking() as connection:
        return connection


def unfinished(store: SQLiteStore) -> bool:
    return any(f.check == "purge" and "being completed now" in f.detail for f in store.check())


def refused_write(store: SQLiteStore, refusals: list[Any], *writes: Any, **more: Any) -> Callable[[], None]:
    def write() -> None:
        with pytest.raises(BusyError) as problem:
            apply(store, *writes, **more)
        refusals.append(problem)

    return write


def test_nobody_writes_between_the_steps_of_scrubbing(tmp_path: Path) -> None:
    """Otherwise a row that another store erases meanwhile would count as scrubbed from all files."""
    refusals: list[Any] = []
    with two_stores(tmp_path, busy_seconds=0.05) as (one, other):
        apply(one, memory("heron", "m"), memory("stork", "n"))
        apply(one, erase=["m"])
        erase = refused_write(other, refusals, erase=["n"])
        begun = once_at(one._connections.writer(), "PRAGMA wal_checkpoint", erase)
        assert one.scrub() == []
        assert any(statement.startswith("VACUUM") for statement in begun)
        assert len(refusals) == 1
        assert not unfinished(other)
        apply(other, erase=["n"])
        assert unfinished(one)


def test_commit_takes_in_the_log_while_nobody_writes(tmp_path: Path) -> None:
    """SQLite up to 3.51.2 can lose pages when a checkpoint runs beside another commit."""
    refusals: list[Any] = []
    with two_stores(tmp_path, busy_seconds=0.01) as (one, other):
        once_at(one._connections.writer(), "COMMIT", refused_write(other, refusals, memory("stork", "s")))
        apply(one, memory("heron", "m"))
        assert len(refusals) == 1
        apply(other, memory("stork", "s"))


def test_opening_does_not_wait_for_a_writer(tmp_path: Path) -> None:
    path = tmp_path / "b.db"
    with (
        closing(SQLiteStore(path)) as one, one.writing(),
        closing(SQLiteStore(path, busy_seconds=0.0)) as other, other.reading() as reader,
    ):  # fmt: skip
        assert reader.head().seq == 0


def test_others_may_write_during_a_check_not_before(tmp_path: Path) -> None:
    with two_stores(tmp_path, busy_seconds=0.05) as (one, other):
        apply(one, memory("heron", "m"))
        [reading] = one._connections._readers or [made_reader(one)]
        written: list[str] = []

        def write() -> None:
            apply(other, memory("stork", f"n{len(written)}"))
            written.append("n")

        begun = once_at(reading, "PRAGMA user_version", write)
        assert all(finding.well for finding in one.check())
        assert (written, begun[-1]) == (["n"], "ROLLBACK")
        with one.writing(), pytest.raises(BusyError):
            other.check()
        assert all(finding.well for finding in other.check())


def test_wider_look_up_probes_no_row_twice(tmp_path: Path) -> None:
    """Thousands of hidden rows hold the word. More rows are visible than are listed, and they do not hold it."""
    with closing(SQLiteStore(tmp_path / "b.db")) as store:
        plain = [memory("stork", f"s{n}") for n in range(1_100)]
        hidden = [state_of(memory("heron", f"h{n}"), status="archived") for n in range(1_500)]
        rows = apply(store, memory("heron", "old"), *plain, *hidden).rows
        statements = once_at(made_reader(store), "never", lambda: None)
        with store.reading() as reader:
            match = reader.text(["heron"], ALL, 8, 5)
        assert [candidate.row for candidate in match.candidates] == [rows[0]]
        probed = [
            row
            for statement in statements
            if re.match(r"SELECT s\.row\s+FROM json_each", statement)
            for row in json.loads(re.search(r"json_each\('(\[.*?\])'\)", statement)[1])  # type: ignore[index]
        ]
        assert len(probed) == len(set(probed)) == 1_501


def test_read_waits_for_locks_as_long_as_it_is_given(tmp_path: Path) -> None:
    with closing(SQLiteStore(tmp_path / "notes.db", busy_seconds=7)) as store:
        for seconds, waits in ((0.05, 50), (60, 7_000), (None, 7_000)):
            with store.reading(seconds), store.looking() as connection:
                assert connection.execute("PRAGMA busy_timeout").fetchone() == (waits,)
