"""A transaction on a SQLite file for the shared code. It exposes the connection's own methods directly."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pieria.store.sqlite.statements import statements


class SQLiteSession:
    unlimited = -1
    picks_indexes = False
    statements = staticmethod(statements)

    def __init__(self, connection: sqlite3.Connection, *, reads: bool = False) -> None:
        """`reads`: the transaction sees one snapshot and changes nothing."""
        self.connection = connection
        self.hides: bool | None = None
        self._remembered: dict[str, list[Any]] | None = {} if reads else None
        self.execute = connection.execute
        self.executemany = connection.executemany

    def remembered(self, sql: str) -> list[Any]:
        if self._remembered is None:
            return self.execute(sql).fetchall()
        if sql not in self._remembered:
            self._remembered[sql] = self.execute(sql).fetchall()
        return self._remembered[sql]

    @property
    def reads(self) -> bool:
        return self._remembered is not None

    def stream(self, name: str, sql: str) -> Iterator[tuple[list[str], Sequence[Any]]]:
        found = self.connection.execute(sql)
        columns = [column[0] for column in found.description]
        return ((columns, line) for line in found)

    @staticmethod
    def packed(stored: bytes) -> bytes:
        return stored

    @staticmethod
    def listed(values: Iterable[Any]) -> str:
        return json.dumps(list(values))

    @staticmethod
    def paired(pairs: Iterable[Sequence[Any]]) -> str:
        return json.dumps(list(pairs))
