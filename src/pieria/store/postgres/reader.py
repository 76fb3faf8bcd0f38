"""The read transaction on a server, and the server's part of the write transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pieria.record.changeset import Applied, Changeset
from pieria.store.postgres.bulk_load import is_secured, put
from pieria.store.postgres.embedded import PostgresVectorRows
from pieria.store.postgres.erasure import mark
from pieria.store.postgres.near import PostgresVectors
from pieria.store.postgres.session import PostgresSession
from pieria.store.sql.reader import SQLReader
from pieria.store.sql.sieves import Sieves
from pieria.store.sql.text import Frequencies
from pieria.store.sql.wordings import Wordings
from pieria.store.sql.writer import SQLWriter

OF_FACTS = ("fact", "record")
"""Tables that lose words when only facts are erased."""


class PostgresReader(SQLReader):
    def __init__(self, session: PostgresSession, frequencies: Frequencies, sieves: Sieves, wordings: Wordings) -> None:
        self._server = session
        super().__init__(session, frequencies, sieves, wordings, PostgresVectors(session))

    def dump(self, table: str) -> Iterator[dict[str, Any]]:
        for columns, line in self._server.stream(f"dump_{table}", self._sql[f"dump.{table}"]):
            yield dict(zip(columns, line, strict=True))


class PostgresWriter(SQLWriter):
    def __init__(
        self, session: PostgresSession, frequencies: Frequencies, now: Callable[[], int], analyser: int
    ) -> None:
        self._server = session
        self._secured: bool | None = None
        super().__init__(session, frequencies, PostgresVectors(session), now, analyser)

    dump = PostgresReader.dump

    @property
    def counted(self) -> Mapping[str, int]:
        """Return the bank's counters as this transaction leaves them."""
        return self._counters

    def apply(self, changeset: Changeset) -> Applied:
        with self._server.pipeline():
            applied = super().apply(changeset)
            if changeset.erase or changeset.erase_facts:
                relations = None if changeset.erase else OF_FACTS
                mark(self._server, self._server.bank, self._counters["unscrubbed"], relations)
            return applied

    def _vector_rows(self, counters: dict[str, int]) -> PostgresVectorRows:
        return PostgresVectorRows(self._server, counters)

    def _index(self, terms: Sequence[tuple[int, int, str]]) -> None:
        if terms:
            asked = {"rows": [row for row, _, _ in terms], "terms": [written for _, _, written in terms]}
            self._server.execute(self._sql["index_terms"], asked)

    def _unindex(self, row: int) -> None:
        self._server.execute(self._sql["unindex_terms"], (row,))

    def _unindexed(self) -> None:
        """Nothing to do here: `scrub` has the server remove the last traces."""

    def _put(self, table: str, lines: Sequence[Sequence[Any]]) -> None:
        if self._secured is None:
            self._secured = is_secured(self._server)
        put(self._server, table, lines, secured=self._secured)

    def _index_anew(self) -> None:
        self._server.execute(self._server.statements("bank.sql")["empty_index"])
        self._server.execute(self._sql["rebuild_index"])

    def _every_content(self) -> Iterator[Sequence[Any]]:
        return (line for _, line in self._server.stream("every_content", self._sql["every_content"]))
