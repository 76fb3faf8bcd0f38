"""Copies a whole bank between stores row by row, keeping every number and time."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from pieria.errors import ConflictError
from pieria.store.protocol import Progress, Reader
from pieria.store.sql.session import Session
from pieria.store.sql.tables import TABLES, statement

AT_ONCE = 2_000
"""Rows that are held in memory at a time."""
OF_THE_FILE = {"unscrubbed"}
"""Counters that belong to the store and not to the bank."""


class CopyReads:
    _session: Session

    def tables(self) -> dict[str, int]:
        return {name: self._session.execute(statement(self._session, "count", name)).fetchone()[0] for name in TABLES}

    def lines(self, table: str) -> Iterator[Sequence[Any]]:
        stream = self._session.stream(f"copy_{table}", statement(self._session, "lines", table))
        if TABLES[table].vector:
            return ((*line[:-1], self._session.packed(line[-1])) for _, line in stream)
        return (line for _, line in stream)

    def counters(self) -> dict[str, int]:
        return dict(self._session.execute(self._session.statements("queries.sql")["head"]))


class CopyWrites(CopyReads):
    _counters: dict[str, int]

    def fill(self, source: Reader, progress: Progress | None = None) -> dict[str, int]:
        if any(self.tables().values()):
            hint = "Name a bank that does not exist yet."
            raise ConflictError("the target bank of the copy is not empty", hint=hint)
        lines = source.tables()
        whole, done = sum(lines.values()), 0
        for table in TABLES:
            found = iter(source.lines(table))
            while batch := list(islice(found, AT_ONCE)):
                self._put(table, batch)
                done += len(batch)
                if progress is not None:
                    progress(done, whole)
        held = {name: value for name, value in source.counters().items() if name not in OF_THE_FILE}
        counters = {**self._counters, **{name: value for name, value in held.items() if name in self._counters}}
        self._project(counters)
        self._keep(counters)
        self._count_quarantined()
        return lines

    def _put(self, table: str, lines: Sequence[Sequence[Any]]) -> None:
        """Insert some rows of a table."""
        self._session.executemany(statement(self._session, "put", table), lines)

    @abstractmethod
    def _keep(self, counters: dict[str, int]) -> None:
        """Write changed counters."""

    @abstractmethod
    def _count_quarantined(self) -> None:
        """Count the quarantined items."""

    @abstractmethod
    def _project(self, counters: dict[str, int]) -> None:
        """Build the projections of the tables."""
