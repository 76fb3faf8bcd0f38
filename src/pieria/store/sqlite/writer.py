"""The write transaction on a SQLite file: its text index in FTS5, checksums, and the codes of its vectors."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
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
"""Bytes of the index's structure record above which it is rebuilt; each level takes two."""


class SQLiteWriter(SQLiteReader, SQLWriter):
    def __init__(
        self, session: SQLiteSession, frequencies: Frequencies, scan: Scan, now: Callable[[], int], analyser: int
    ) -> None:
        self._file = session
        self._committed = SQLiteVectors(session, scan, Sieves())
        self._changed_vectors = self._apart = False
        super().__init__(session, frequencies, self._committed, now, analyser)

    def near(self, vector: Collection[float], filter: Filter, want: int, what: Kind = "passage") -> VectorMatch:
        """Search this transaction's own vectors too, in a private copy of the codes."""
        if self._changed_vectors and not self._apart:
            self._vectors = self._committed.apart()
            self._apart = True
        return super().near(vector, filter, want, what)

    def sift_windows(self) -> None:
        """Delete windows of an older schema with members that some readers of their turn may not see."""
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
        """Merge the index: deleted terms stay in its older segments until then."""
        index = statements("index.sql")
        self._file.execute(index["merge_index"])
        # Every merge adds a level, and FTS5 takes an index of 2,000 levels for damaged.
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

    def _many(self, statement: str, rows: Collection[Any]) -> None:
        if rows:
            self._session.executemany(self._sql[statement], with_sums(statement, rows))
