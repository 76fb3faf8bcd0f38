"""The vectors of a SQLite bank as one read transaction sees them, and who stands next to whom in a session."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from pieria.record.filter import Filter
from pieria.store.protocol import Kind, Pending, Space, Span, VectorMatch
from pieria.store.sqlite.nearest import MOST, Search, vectors_of
from pieria.store.sqlite.scan import Scan, Seen
from pieria.store.sqlite.sieves import Sieves
from pieria.store.sqlite.statements import statements
from pieria.store.sqlite.visibility import compiled
from pieria.store.vectors import alike, normalised

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

LOOKED_THROUGH = 16
"""Times the reach: so many states of a session are looked at for neighbours on either side."""


class Vectors:
    def __init__(self, connection: sqlite3.Connection, scan: Scan, sieves: Sieves) -> None:
        self._connection = connection
        self._scan = scan
        self._sieves = sieves
        self._sql = statements("vectors.sql")

    def space(self) -> Space | None:
        found = self._connection.execute(self._sql["space"]).fetchone()
        return None if found is None else Space(found[0], found[1], found[2], bool(found[4]))

    def pending(self, limit: int) -> list[Pending]:
        return list(map(Pending._make, self._connection.execute(self._sql["pending"], (limit,))))

    def pending_count(self) -> int:
        found: int = self._connection.execute(self._sql["pending_count"]).fetchone()[0]
        return found

    def near(self, vector: Collection[float], filter: Filter, want: int, what: Kind) -> VectorMatch:
        seen = self._seen()
        if seen is None:
            return VectorMatch([])
        question = normalised([vector], seen.dimension)[0]
        view = self._scan.view(self._connection, seen, what)
        sieve = self._sieves.of(self._connection, filter, seen.seq, seen.documents)
        most = MOST if what == "passage" else view.count + 1
        return Search(self._connection, view, question, filter, sieve, most).match(want)

    def _seen(self) -> Seen | None:
        found = self._connection.execute(self._sql["space"]).fetchone()
        if found is None:
            return None
        held = dict(self._connection.execute(statements("queries.sql")["head"]))
        counted = (held[name] for name in ("vector_entry", "vector_gone", "seq", "documents"))
        return Seen(found[0], found[2], found[3], *counted)

    def similarities(self, vector: Collection[float], rows: Sequence[int], what: Kind) -> dict[int, Span]:
        space = self.space()
        if space is None:
            return {}
        question = normalised([vector], space.dimension)[0]
        found = self._of_rows(rows, what, space)
        if not found:
            return {}
        similar = alike(vectors_of([stored for *_, stored in found], space.dimension), question)
        best: dict[int, Span] = {}
        for (row, _, start, stop, _), similarity in zip(found, similar.tolist(), strict=True):
            if row not in best or similarity > best[row].similarity:
                best[row] = Span(similarity, start, stop)
        return best

    def vectors(self, rows: Sequence[int], what: Kind) -> dict[int, list[tuple[int, Floats]]]:
        space = self.space()
        found = [] if space is None else self._of_rows(rows, what, space)
        held: dict[int, list[tuple[int, Floats]]] = {}
        if space is not None and found:
            lines = vectors_of([stored for *_, stored in found], space.dimension)
            for (row, number, *_), line in zip(found, lines, strict=True):
                held.setdefault(row, []).append((number, line))
        return held

    def _of_rows(self, rows: Sequence[int], what: Kind, space: Space) -> list[tuple[int, int, int, int, bytes]]:
        asked = {"rows": json.dumps(sorted(set(rows))), "what": what, "space": space.number}
        return self._connection.execute(self._sql["by_row"], asked).fetchall()

    def around(
        self, rows: Sequence[int], filter: Filter, reach: int, *, company: bool
    ) -> dict[int, list[tuple[int, int]]]:
        known = statements("filter.sql")["known_now" if filter.known_at is None else "known_at"]
        where, params = compiled(filter, probe=True)
        sql = self._sql["around"].format(known=known, where=where, company=self._sql["company"] if company else "1")
        asked = {"rows": json.dumps(list(rows)), "known_at": filter.known_at}
        asked |= {**params, "reach": reach, "seen": reach * LOOKED_THROUGH}
        found: dict[int, list[tuple[int, int]]] = {row: [] for row in rows}
        for row, before, after in self._connection.execute(sql, asked):
            earlier = [(-distance, other) for distance, other in _counted(before)]
            found[row] = [*reversed(earlier), *_counted(after)]
        return found


def _counted(joined: str | None) -> list[tuple[int, int]]:
    return list(enumerate(map(int, joined.split(",")), 1)) if joined else []
