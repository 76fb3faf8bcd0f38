"""A write transaction on a SQLite file: what FTS5 wants of it, and the codes of its own vectors."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from pieria.record.filter import Filter
from pieria.store.protocol import Kind, VectorMatch
from pieria.store.sql.sieves import Sieves
from pieria.store.sql.tables import TABLES
from pieria.store.sql.text import Frequencies
from pieria.store.sql.writer import SQLWriter
from pieria.store.sqlite.embedded import SQLiteVectorRows
from pieria.store.sqlite.near import SQLiteVectors
from pieria.store.sqlite.reader import SQLiteReader
from pieria.store.sqlite.scan import Scan
from pieria.store.sqlite.session import SQLiteSession
from pieria.store.sqlite.statements import statements
from pieria.store.sqlite.sums import SUMMED, copied_sum, row_sum, with_sums

DEEP = 2_000
"""Bytes of the index's record of its levels, of which each takes two."""


class SQLiteWriter(SQLiteReader, SQLWriter):
    def __init__(
        self, session: SQLiteSession, frequencies: Frequencies, scan: Scan, now: Callable[[], int], analyser: int
    ) -> None:
        self._file = session
        self._committed = SQLiteVectors(session, scan, Sieves())
        self._changed_vectors = self._apart = False
        super().__init__(session, frequencies, self._committed, now, analyser)

    def near(self, vector: Collection[float], filter: Filter, want: int, what: Kind = "passage") -> VectorMatch:
        """What this transaction has written is looked at as well, in codes that no other ever sees."""
        if self._changed_vectors and not self._apart:
            self._vectors = self._committed.apart()
            self._apart = True
        return super().near(vector, filter, want, what)

    def sift_windows(self) -> None:
        """Takes away the windows of a bank of an earlier schema that hold more than whoever sees their turn sees."""
        counters = dict(self._counters)
        self._vector_rows(counters).sift()
        self._keep(counters)

    def _vector_rows(self, counters: dict[str, int]) -> SQLiteVectorRows:
        self._changed_vectors = True
        return SQLiteVectorRows(self._file, counters)

    def _index(self, terms: Sequence[tuple[int, int, str]]) -> None:
        self._many("index_terms", [(row, written) for row, _, written in terms])

    def _unindex(self, row: int) -> None:
        self._file.execute(self._sql["unindex_terms"], (row,))

    def _unindexed(self) -> None:
        """Deleted terms stay in the index's older segments until these are merged."""
        index = statements("index.sql")
        self._file.execute(index["merge_index"])
        # Every merge makes the index a level deeper, and at 2,000 levels FTS5 takes it for damaged.
        if self._file.execute(index["index_depth"]).fetchone()[0] > DEEP:
            self._index_anew()

    def _project(self, counters: dict[str, int]) -> None:
        super()._project(counters)
        self._vector_rows(counters).seal_all()

    def _index_anew(self) -> None:
        self._file.execute(self._sql["rebuild_index"])

    def _cut_body(self, row: int, body: str | None) -> None:
        content = self.contents([row])[row]._replace(body=body)
        self._file.execute(self._sql["cut_body"], (body, row_sum("content", (row, *content)), row))

    def _put(self, table: str, lines: Sequence[Sequence[Any]]) -> None:
        if table not in SUMMED:
            super()._put(table, lines)
            return
        columns = TABLES[table].columns
        sql = statements("sums.sql")["put.summed"].format(
            table=table, columns=", ".join(columns), values=", ".join("?" * len(columns))
        )
        self._file.executemany(sql, [(*line, copied_sum(table, line)) for line in lines])

    def _many(self, statement: str, rows: Iterable[Any]) -> None:
        super()._many(statement, with_sums(statement, rows))
