"""A transaction on one bank of a server, for the code that both stores share."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg

from pieria.errors import ClosedError
from pieria.runtime import forks
from pieria.store.postgres.driver import Connection
from pieria.store.postgres.halves import read
from pieria.store.postgres.statements import statements
from pieria.store.sql.session import Values

Cursor = psycopg.Cursor[tuple[Any, ...]]
AT_ONCE = 1_000
"""Rows of a long answer that are fetched at a time."""
_NOTHING: dict[str, Any] = {}


class PostgresSession:
    """Passes the bank to every statement. Positional values get the names 1, 2, 3 and so on."""

    unlimited = None
    picks_indexes = True
    statements = staticmethod(statements)

    def __init__(self, connection: Connection, bank: int, *, reads: bool) -> None:
        """`reads`: the transaction sees one snapshot and changes nothing."""
        self.connection = connection
        self.bank = bank
        self.hides: bool | None = None
        self._remembered: dict[str, list[tuple[Any, ...]]] | None = {} if reads else None
        self._process: int | None = os.getpid()

    def execute(self, sql: str, values: Values = _NOTHING, /) -> Cursor:
        self._check()
        return self.connection.execute(sql.encode(), self._named(values))

    def execute_once(self, sql: str, values: Values = _NOTHING, /) -> list[tuple[Any, ...]]:
        """Execute with a plan for these very values."""
        self._check()
        return self.connection.execute(sql.encode(), self._named(values), prepare=False).fetchall()

    @property
    def reads(self) -> bool:
        return self._remembered is not None

    def remembered(self, sql: str) -> list[tuple[Any, ...]]:
        if self._remembered is None:
            return self.execute(sql).fetchall()
        if sql not in self._remembered:
            self._remembered[sql] = self.execute(sql).fetchall()
        return self._remembered[sql]

    def executemany(self, sql: str, lines: Iterable[Values], /) -> None:
        self._check()
        named = list(map(self._named, lines))
        if len(named) == 1:
            self.connection.execute(sql.encode(), named[0])
        elif named:
            with self.connection.cursor() as cursor:
                cursor.executemany(sql.encode(), named)

    def stream(self, name: str, sql: str) -> Iterator[tuple[list[str], tuple[Any, ...]]]:
        """Yield column names and each row of an answer that may not fit into memory."""
        self._check()
        cursor = self.connection.cursor(name=name)
        try:
            cursor.itersize = AT_ONCE
            cursor.execute(sql.encode(), self._named(_NOTHING))
            columns = [column.name for column in cursor.description or ()]
            for line in cursor:
                yield columns, line
                self._check()
        finally:
            if self._is_open:
                cursor.close()

    @contextmanager
    def pipeline(self) -> Iterator[None]:
        """Send statements whose answers are not needed without waiting for each."""
        self._check()
        with self.connection.pipeline():
            yield

    def packed(self, stored: bytes) -> bytes:
        return read(stored)

    def listed(self, values: Iterable[Any]) -> list[Any] | str:
        """Return a list as a parameter. Whole numbers go as one array literal: the driver is slow with them."""
        listed = list(values)
        if not all(type(value) is int for value in listed):
            return listed
        return f"{{{','.join(map(str, listed))}}}"

    def paired(self, pairs: Iterable[Sequence[Any]]) -> str:
        return json.dumps(list(pairs))

    def end(self) -> None:
        """Mark the transaction as over: statements through this session then raise."""
        self._process = None

    @property
    def _is_open(self) -> bool:
        """False in a forked child too: it shares the connection with the process that began the transaction."""
        return self._process == os.getpid()

    def _check(self) -> None:
        if self._process is None:
            raise ClosedError("bank", hint="Its transaction is over.")
        forks.check(self._process, "transaction")

    def _named(self, values: Values) -> dict[str, Any]:
        if isinstance(values, Mapping):
            return {**values, "bank": self.bank}
        return {"bank": self.bank, **{str(place): value for place, value in enumerate(values, 1)}}
