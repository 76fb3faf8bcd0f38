"""Vector search in a bank on PostgreSQL, within one transaction.

A bank without a vector index is compared whole. With an index, the nearest come from it. If the filter rejects too many
of them, the search goes on without it. Similarities are always computed from the stored vectors, so that they agree in
every store.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pieria.record.changeset import FOREVER
from pieria.record.filter import Filter
from pieria.store.postgres.halves import halved, read
from pieria.store.postgres.session import PostgresSession
from pieria.store.protocol import Kind, Near, Space, VectorMatch
from pieria.store.sql.vectors import Stored, VectorReads, vectors_of
from pieria.store.sql.visibility import compiled
from pieria.store.vectors import alike, normalised

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

AHEAD = 2
"""Multiple of `want` to fetch first: most rows pass the filter, and a text has several passages."""
LEAST = 80
WIDTH = 100
"""Size of the index's candidate list: it misses less than 1 % of the ten nearest."""
WIDER = 1_000
"""The same if the filter rejects most rows, so that visible ones are far down: pgvector's maximum."""
FEW = 4_000
"""Up to this many visible versions are compared one by one."""
MOST = 20_000
"""After this many rejected rows the index gives up, and the search goes on without it."""


def index_name(bank: int, space: int, kind: str) -> str:
    return f"embedded_near_{bank}_{space}_{kind}"


class PostgresVectors(VectorReads):
    def __init__(self, session: PostgresSession) -> None:
        super().__init__(session)
        self._server = session

    def near(self, vector: Collection[float], filter: Filter, want: int, what: Kind) -> VectorMatch:
        space = self.space()
        if space is None or (what == "lead" and not self._has_leads()):
            return VectorMatch([])
        question = normalised([vector], space.dimension)[0]
        return Search(self._server, space, question, filter, what).match(want)

    def _has_leads(self) -> bool:
        return any(line[-1] for line in self._session.remembered(self._sql["space"]))

    def _of_rows(self, rows: Sequence[int], what: Kind, space: Space) -> list[Stored]:
        found = super()._of_rows(rows, what, space)
        return [(*line[:-1], self._server.packed(line[-1])) for line in found]


class Search:
    """One search; its results so far are kept between two steps."""

    def __init__(self, session: PostgresSession, space: Space, question: Floats, filter: Filter, what: Kind) -> None:
        self._session = session
        self._sql = session.statements("near.sql")
        self._space = space
        self._question = question
        self._filter = filter
        self._where, self._params = compiled(session, filter, probe=True)
        self._params["known"] = FOREVER if filter.known_at is None else filter.known_at
        self._params["question"] = halved(question)
        self._vectors = self._sql["vectors"].format(bank=session.bank, space=space.number, kind=what)
        self._index = index_name(session.bank, space.number, what)
        self._found: dict[int, Near] = {}
        self._scanned = self._probed = 0

    def match(self, want: int) -> VectorMatch:
        if self._filter.ids is None:
            indexed = self._uses_index(WIDTH)
            whole = self._first(max(AHEAD * want, LEAST), indexed=indexed)
            if whole or len(self._found) >= want:
                return self._told(want, exact=not indexed)
        else:
            indexed = False
        seen = self._number_of_seen()
        if seen <= FEW:
            self._widening("each", want)
            self._probed = max(self._probed, seen)
            return self._told(want, exact=True)
        if indexed:
            self._uses_index(WIDER)
            with self._without("enable_sort"):
                self._widening("seen", want, indexed=True)
            if len(self._found) >= want:
                return self._told(want, exact=False)
        with self._without("enable_nestloop"):
            self._widening("seen", want)
        self._probed = self._counted()[1]
        return self._told(want, exact=True)

    def _uses_index(self, width: int) -> bool:
        """Set the size of the index's candidate list. Return whether there is an index."""
        asked = {"index": self._index, "width": str(width), "most": str(MOST)}
        return bool(self._execute(self._sql["index"], asked)[0][0])

    def _first(self, number: int, *, indexed: bool) -> bool:
        """Fetch the `number` nearest. Return whether there are no more vectors."""
        lines = self._lines("first", number, indexed=indexed)
        self._note([line for line in lines if line[-1] is not None])
        whole = not indexed and len(lines) < number
        self._probed = len({row for _, row, *_ in lines})
        self._scanned = len(lines) if indexed or whole else self._counted()[0]
        return whole

    def _number_of_seen(self) -> int:
        """Return the number of visible versions, counted up to `FEW + 1`."""
        sql = self._sql["number"].format(where=self._where)
        return int(self._execute(sql, {**self._params, "number": FEW + 1})[0][0])

    @contextmanager
    def _without(self, way: str) -> Iterator[None]:
        """Turn one method of the planner off."""
        self._execute(self._sql["plan"], {"way": way, "value": "off"})
        yield
        self._execute(self._sql["plan"], {"way": way, "value": "on"})

    def _widening(self, statement: str, want: int, *, indexed: bool = False) -> None:
        """Fetch more and more vectors until `want` versions are found: a version may have any number of vectors."""
        number = 2 * want
        while True:
            lines = self._lines(statement, number, indexed=indexed)
            self._note(lines)
            self._scanned = max(self._scanned, len(lines))
            if len(self._found) >= want or len(lines) < number:
                return
            number *= AHEAD

    def _lines(self, statement: str, number: int, *, indexed: bool) -> list[tuple[Any, ...]]:
        distance = self._sql["distance.indexed" if indexed else "distance"].format(dimension=self._space.dimension)
        sql = self._sql[statement].format(vectors=self._vectors, distance=distance, where=self._where)
        return self._execute(sql, {**self._params, "number": number})

    def _counted(self) -> tuple[int, int]:
        """Return the number of vectors and of versions with vectors."""
        [(vectors, versions)] = self._execute(self._sql["counted"].format(vectors=self._vectors), {})
        return vectors, versions

    def _execute(self, sql: str, params: dict[str, Any]) -> list[tuple[Any, ...]]:
        """Execute with a new plan: the best one depends on the query."""
        return self._session.execute_once(sql, params)

    def _note(self, lines: Sequence[tuple[Any, ...]]) -> None:
        if not lines:
            return
        similar = alike(vectors_of([read(sent) for *_, sent in lines], self._space.dimension), self._question)
        for (entry, row, start, stop, _), similarity in zip(lines, similar.tolist(), strict=True):
            best = self._found.get(row)
            if best is None or (similarity, entry) > (best.similarity, best.entry):
                self._found[row] = Near(row, similarity, entry, start, stop)

    def _told(self, want: int, *, exact: bool) -> VectorMatch:
        best = sorted(self._found.values(), key=lambda near: (near.similarity, near.entry), reverse=True)
        return VectorMatch(best[:want], exact, self._scanned, self._probed)
