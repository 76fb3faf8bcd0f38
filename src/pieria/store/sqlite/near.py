"""Vector search in a SQLite bank within one transaction, by the codes that the process holds."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from pieria.record.filter import Filter
from pieria.store.protocol import Kind, Nearness, VectorMatch
from pieria.store.sql.sieves import Sieves
from pieria.store.sql.vectors import VectorReads
from pieria.store.sqlite.nearest import MOST, Known, Search
from pieria.store.sqlite.scan import Scan, Seen
from pieria.store.sqlite.session import SQLiteSession
from pieria.store.sqlite.statements import statements
from pieria.store.vectors import alike, normalised

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]


class SQLiteVectors(VectorReads):
    def __init__(self, session: SQLiteSession, scan: Scan, sieves: Sieves) -> None:
        super().__init__(session)
        self._met: list[tuple[Filter, Known]] = []
        self._file = session
        self._scan = scan
        self._sieves = sieves

    def apart(self) -> SQLiteVectors:
        """Return the same search over a private copy of the codes."""
        return SQLiteVectors(self._file, self._scan.apart(), self._sieves)

    def near(self, vector: Collection[float], filter: Filter, want: int, what: Kind) -> VectorMatch:
        seen = self._seen()
        if seen is None:
            return VectorMatch([])
        question = normalised([vector], seen.dimension)[0]
        view = self._scan.view(self._file.connection, seen, what)
        sieve = self._sieves.of(self._file, filter, seen.seq, seen.documents)
        most = MOST if what == "passage" else view.count + 1
        return Search(self._file, view, question, filter, sieve, self._known(filter), most).match(want)

    def nearness(self, vectors: Sequence[Collection[float]], rows: Sequence[int], kinds: Sequence[Kind]) -> Nearness:
        """Return similarities, without reading the file if all vectors are in memory."""
        import numpy as np

        seen = self._seen()
        if seen is None or not rows or not vectors or not self._file.reads:
            return super().nearness(vectors, rows, kinds)
        questions = normalised(vectors, seen.dimension)
        told: dict[Kind, NDArray[np.float64]] = {}
        for kind in kinds:
            view = self._scan.view(self._file.connection, seen, kind)
            if view.vectors is None:
                told |= super().nearness(vectors, rows, [kind])
                continue
            places = view.of_rows(list(rows))
            lines = np.full(int(max(rows)) + 1, -1)
            lines[np.array(rows)] = np.arange(len(rows))
            told[kind] = np.full((len(rows), len(questions)), np.nan)
            held = view.vectors[places]
            similar = np.stack([alike(held, question) for question in questions], axis=1).astype(np.float64)
            np.fmax.at(told[kind], lines[view.rows[places]], similar)
        return told

    def _known(self, filter: Filter) -> Known:
        """Return what searches by the same filter have learnt in this read transaction."""
        if not self._file.reads:
            return Known()
        known = next((known for met, known in self._met if met == filter), None)
        if known is None:
            known = Known()
            self._met.append((filter, known))
        return known

    def _seen(self) -> Seen | None:
        for number, _, dimension, first_entry, _ in self._file.remembered(self._sql["space"]):
            held = dict(self._file.remembered(statements("queries.sql")["head"]))
            counted = (held[name] for name in ("vector_entry", "vector_gone", "seq", "documents"))
            return Seen(number, dimension, first_entry, *counted)
        return None
