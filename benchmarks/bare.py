"""The baseline: a bank's rows written to a file of the same schema by plain SQL."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BATCH = 1_000
TABLES = ("content", "state", "label", "terms", "pending", "vector")


class Rows:
    """The rows of a bank's file, to be written again without Pieria."""

    def __init__(self, bank: Path, first: int = 0, limit: int = -1) -> None:
        source = sqlite3.connect(bank)
        self.schema = [
            sql
            for (sql,) in source.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
            if not sql.startswith("CREATE TABLE 'text_index_")
        ]
        asked = {"first": first, "limit": limit}
        self.tables: dict[str, list[Any]] = {
            table: source.execute(
                f"SELECT * FROM {table} WHERE row > :first ORDER BY row LIMIT :limit",  # noqa: S608 - our own names
                asked,
            ).fetchall()
            for table in TABLES
        }
        source.close()
        self.count = len(self.tables["content"])

    @contextmanager
    def target(self, path: Path) -> Iterator[sqlite3.Connection]:
        """Yield an empty file with the same schema and the bank's durability."""
        connection = sqlite3.connect(path, isolation_level=None, cached_statements=64)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        for statement in self.schema:
            connection.execute(statement)
        try:
            yield connection
        finally:
            connection.close()

    def seconds_in_bulk(self, path: Path) -> float:
        with self.target(path) as connection:
            begun = time.perf_counter()
            for start in range(0, self.count, BATCH):
                self._write(connection, start, start + BATCH)
            return time.perf_counter() - begun

    def seconds_one_by_one(self, connection: sqlite3.Connection, number: int) -> float:
        begun = time.perf_counter()
        self._write(connection, number, number + 1)
        return time.perf_counter() - begun

    def _write(self, connection: sqlite3.Connection, start: int, end: int) -> None:
        connection.execute("BEGIN IMMEDIATE")
        for table, rows in self.tables.items():
            part = rows[start:end]
            if part:
                marks = ", ".join("?" * len(part[0]))
                connection.executemany(f"INSERT INTO {table} VALUES ({marks})", part)  # noqa: S608 - our own names
        terms = self.tables["terms"][start:end]
        connection.executemany(
            "INSERT INTO text_index (rowid, terms) VALUES (?, ?)", [(row, written) for row, _, written, *_ in terms]
        )
        connection.execute("COMMIT")
