"""Two stores on one file, at the moments when they could harm each other.

The tests find these moments by watching the statements of a connection, so they do not depend on chance.
"""

import json
import os
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.contract.making import ALL, apply, memory, state_of

from pieria.errors import BusyError
from pieria.store.sqlite import SQLiteStore
from pieria.store.sqlite.connection import translated


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


def unfinished(store: SQLiteStore) -> bool:
    return any(f.check == "purge" and "being completed now" in f.detail for f in store.check())


def test_nobody_writes_between_the_steps_of_scrubbing(tmp_path: Path) -> None:
    """Otherwise a row that another store erases meanwhile would count as scrubbed from all files."""
    with (
        closing(SQLiteStore(tmp_path / "b.db")) as one,
        closing(SQLiteStore(tmp_path / "b.db", busy_seconds=0.05)) as other,
    ):
        apply(one, memory("heron", "m"), memory("stork", "n"))
        apply(one, erase=["m"])
        refused = []

        def erase() -> None:
            with pytest.raises(BusyError) as problem:
                apply(other, erase=["n"])
            refused.append(problem)

        begun = once_at(one._connections.writer(), "PRAGMA wal_checkpoint", erase)
        assert one.scrub() == []
        assert any(statement.startswith("VACUUM") for statement in begun)
        assert len(refused) == 1
        assert not unfinished(other)
        apply(other, erase=["n"])
        assert unfinished(one)


def test_a_commit_takes_the_log_in_while_nobody_else_may_write(tmp_path: Path) -> None:
    """SQLite up to 3.51.2 can lose pages when a checkpoint runs beside another commit."""
    with (
        closing(SQLiteStore(tmp_path / "b.db", durability="off")) as one,
        closing(SQLiteStore(tmp_path / "b.db", busy_seconds=0.01)) as other,
    ):
        refused: list[str] = []

        def write() -> None:
            with pytest.raises(BusyError) as problem:
                apply(other, memory("stork", "s"))
            refused.append(str(problem.value))

        once_at(one._connections.writer(), "COMMIT", write)
        apply(one, memory("heron", "m"))
        assert len(refused) == 1
        apply(other, memory("stork", "s"))


def test_opening_a_bank_does_not_wait_for_whoever_writes(tmp_path: Path) -> None:
    with (
        closing(SQLiteStore(tmp_path / "b.db")) as one,
        one.writing(),
        closing(SQLiteStore(tmp_path / "b.db", busy_seconds=0.0)) as other,
        other.reading() as reader,
    ):
        assert reader.head().seq == 0


def test_checking_the_file_keeps_nobody_from_writing(tmp_path: Path) -> None:
    with (
        closing(SQLiteStore(tmp_path / "b.db")) as one,
        closing(SQLiteStore(tmp_path / "b.db", busy_seconds=0.05)) as other,
    ):
        apply(one, memory("heron", "m"))
        [reading] = one._connections._readers or [_made_reader(one)]
        written: list[str] = []

        def write() -> None:
            apply(other, memory("stork", f"n{len(written)}"))
            written.append("n")

        begun = once_at(reading, "PRAGMA integrity_check", write)
        assert all(finding.well for finding in one.check())
        assert written == ["n"]
        assert begun[-1] == "ROLLBACK"


def _made_reader(store: SQLiteStore) -> sqlite3.Connection:
    with store.looking() as connection:
        return connection


def test_a_check_waits_for_whoever_is_writing(tmp_path: Path) -> None:
    with (
        closing(SQLiteStore(tmp_path / "b.db", busy_seconds=0.05)) as one,
        closing(SQLiteStore(tmp_path / "b.db")) as other,
    ):
        with other.writing(), pytest.raises(BusyError):
            one.check()
        assert all(finding.well for finding in one.check())


def test_a_file_replaced_under_a_connection_is_a_reason_to_open_again(tmp_path: Path) -> None:
    path, new = tmp_path / "b.db", tmp_path / "new.db"
    for made in (path, new):
        with closing(sqlite3.connect(made)) as connection:
            connection.execute("CREATE TABLE t (x)")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("SELECT * FROM t").fetchall()
        os.replace(new, path)
        with pytest.raises(BusyError) as refused, translated("write", path):
            connection.execute("INSERT INTO t VALUES (1)")
    assert refused.value.retryable
    assert "Open the bank again" in str(refused.value.hint)


def test_a_wider_look_up_probes_no_row_twice(tmp_path: Path) -> None:
    """Thousands of hidden rows hold the word. More rows are visible than are listed, and they do not hold it."""
    with closing(SQLiteStore(tmp_path / "b.db", durability="off")) as store:
        plain = [memory("stork", f"s{n}") for n in range(1_100)]
        hidden = [state_of(memory("heron", f"h{n}"), status="archived") for n in range(1_500)]
        shown = memory("heron", "old")
        rows = apply(store, shown, *plain, *hidden).rows
        statements = once_at(_made_reader(store), "never", lambda: None)
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


def test_a_read_waits_for_locks_as_long_as_it_is_given(tmp_path: Path) -> None:
    with closing(SQLiteStore(tmp_path / "notes.db", busy_seconds=7)) as store:
        for seconds, waits in ((0.05, 50), (60, 7_000), (None, 7_000)):
            with store.reading(seconds), store.looking() as connection:
                assert connection.execute("PRAGMA busy_timeout").fetchone() == (waits,)
