"""The vectors of a SQLite bank as one read transaction sees them: nearest by the codes that the process holds."""

from __future__ import annotations

from collections.abc import Collection

from pieria.record.filter import Filter
from pieria.store.protocol import Kind, VectorMatch
from pieria.store.sql.sieves import Sieves
from pieria.store.sql.vectors import VectorReads
from pieria.store.sqlite.nearest import MOST, Search
from pieria.store.sqlite.scan import Scan, Seen
from pieria.store.sqlite.session import SQLiteSession
from pieria.store.sqlite.statements import statements
from pieria.store.vectors import normalised


class SQLiteVectors(VectorReads):
    def __init__(self, session: SQLiteSession, scan: Scan, sieves: Sieves) -> None:
        super().__init__(session)
        self._file = session
        self._scan = scan
        self._sieves = sieves

    def apart(self) -> SQLiteVectors:
        """The same in codes that no other ever sees."""
        return SQLiteVectors(self._file, self._scan.apart(), self._sieves)

    def near(self, vector: Collection[float], filter: Filter, want: int, what: Kind) -> VectorMatch:
        seen = self._seen()
        if seen is None:
            return VectorMatch([])
        question = normalised([vector], seen.dimension)[0]
        view = self._scan.view(self._file.connection, seen, what)
        sieve = self._sieves.of(self._file, filter, seen.seq, seen.documents)
        most = MOST if what == "passage" else view.count + 1
        return Search(self._file, view, question, filter, sieve, most).match(want)

    def _seen(self) -> Seen | None:
        found = self._file.execute(self._sql["space"]).fetchone()
        if found is None:
            return None
        held = dict(self._file.execute(statements("queries.sql")["head"]))
        counted = (held[name] for name in ("vector_entry", "vector_gone", "seq", "documents"))
        return Seen(found[0], found[2], found[3], *counted)
