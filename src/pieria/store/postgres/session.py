"""A transaction on one bank of a server, as the shared code sees it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg

from pieria.errors import ClosedError
from pieria.store.postgres.driver import Connection
from pieria.store.postgres.halves import read
from pieria.store.postgres.statements import statements
from pieria.store.sql.session import Values

Cursor = psycopg.Cursor[tuple[Any, ...]]
AT_ONCE = 1_000
"""Lines of a long answer that are fetched at a time."""
_NOTHING: dict[str, Any] = {}


class PostgresSession:
    """Every statement is told the bank. What comes as a list of values has the names 1, 2, 3..."""

    unlimited = None
    picks_indexes = True
    statements = staticmethod(statements)

    def __init__(self, connection: Connection, bank: int, *, reads: bool) -> None:
        """`reads`: it sees one snapshot, and changes nothing."""
        self.connection = connection
        self.bank = bank
        self.hides: bool | None = None
        self._remembered: dict[str, list[tuple[Any, ...]]] | None = {} if reads else None
        self._process: int | None = os.getpid()

    def execute(self, sql: str, values: Values = _NOTHING, /) -> Cursor:
        self._check()
        return self.connection.execute(sql.encode(), self._named(values))

    def execute_once(self, sql: str, values: Values = _NOTHING, /) -> list[tuple[Any, ...]]:
        """Planned for these very values."""
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
        """The names of the columns with each line of an answer that may be longer than memory."""
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
        """Statements that need no answer do not wait for one."""
        self._check()
        with self.connection.pipeline():
            yield

    def packed(self, stored: bytes) -> bytes:
        return read(stored)

    def listed(self, values: Iterable[Any]) -> list[Any] | str:
        """Numbers in the server's own writing of a list, since the driver takes its time over each of them."""
        listed = list(values)
        if not all(type(value) is int for value in listed):
            return listed
        return f"{{{','.join(map(str, listed))}}}"

    def paired(self, pairs: Iterable[Sequence[Any]]) -> str:
        return json.dumps(list(pairs))

    def end(self) -> None:
        """Its transaction is over: nothing is asked through it any more."""
        self._process = None

    @property
    def _is_open(self) -> bool:
        """Not in a child of the process that began it either, with which it shares the connection."""
        return self._process == os.getpid()

    def _check(self) -> None:
        if not self._is_open:
            raise ClosedError("bank", hint="Its transaction is over.")

    def _named(self, values: Values) -> dict[str, Any]:
        if isinstance(values, Mapping):
            return {**values, "bank": self.bank}
        return {"bank": self.bank, **{str(place): value for place, value in enumerate(values, 1)}}
