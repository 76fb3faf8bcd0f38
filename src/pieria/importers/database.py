"""Open another system's SQLite database to read it, and leave no file beside it."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from pieria.errors import TransferError
from pieria.importers.source import begins_with

MAGIC = b"SQLite format 3\0"
PAGE = 1_000


def is_database(path: Path) -> bool:
    return begins_with(path, MAGIC)


@contextmanager
def opened(path: Path) -> Iterator[Database]:
    """Yield the database, read-only. Changes that are only in its write-ahead log are read from a private copy."""
    try:
        log = path.with_name(f"{path.name}-wal")
        if log.exists() and log.stat().st_size:
            with tempfile.TemporaryDirectory() as folder:
                for part in (path, log):
                    shutil.copyfile(part, Path(folder) / part.name)
                with closing(_connected(Path(folder) / path.name, "mode=rw")) as connection:
                    yield Database(path, connection)
            return
        with closing(_connected(path, "mode=ro&immutable=1")) as connection:
            yield Database(path, connection)
    except (sqlite3.Error, OSError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise TransferError(path, f"this database cannot be read ({reason})") from problem


def _connected(path: Path, mode: str) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True)
    connection.row_factory = sqlite3.Row
    connection.text_factory = lambda written: written.decode("utf-8", "replace")
    return connection


class Database:
    """A foreign database. Columns that a version lacks are left out, not an error."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection

    def tables(self) -> set[str]:
        return {
            row[0] for row in self._connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
        }

    def columns(self, table: str) -> list[str]:
        return [row[1] for row in self._connection.execute(f"PRAGMA table_info({_quoted(table)})")]

    def count(self, table: str) -> int:
        [number] = self._connection.execute(f"SELECT count(*) FROM {_quoted(table)}").fetchone()  # noqa: S608
        return int(number)

    def rows(self, table: str, order: str = "rowid") -> Iterator[dict[str, Any]]:
        """Yield every row of a table by column name."""
        yield from self.query(f"SELECT * FROM {_quoted(table)} ORDER BY {order}")  # noqa: S608

    def query(self, sql: str, *values: Any) -> Iterator[dict[str, Any]]:
        cursor = self._connection.execute(sql, values)
        while page := cursor.fetchmany(PAGE):
            for row in page:
                yield dict(row)


def _quoted(table: str) -> str:
    return '"' + table.replace('"', '""') + '"'
