"""The vectors of a bank and the neighbours in its sessions, as seen by one read transaction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from pieria.record.filter import Filter
from pieria.store.protocol import Kind, Nearness, Pending, Space, Span, VectorMatch
from pieria.store.sql.session import Session, UnreadableRow
from pieria.store.sql.visibility import COUNTED, Compiled, alone, compiled
from pieria.store.sql.visibility import company as company_of
from pieria.store.vectors import alike, halves, normalised, singles

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Halves = NDArray[np.int16]

LOOKED_THROUGH = 16
"""Multiple of the reach: the states of a session that are searched for neighbours on either side."""
Stored = tuple[int, int, int, int, bytes]
"""Row, number, start, stop, and the vector packed by `pieria.store.vectors`."""
NARROW = 1_000
"""Up to this many rows are read faster through their index than by scanning in order."""


class VectorReads(ABC):
    def __init__(self, session: Session) -> None:
        self._session = session
        self._sql = session.statements("vectors.sql")

    def space(self) -> Space | None:
        for number, name, dimension, _, is_whole, *_ in self._session.remembered(self._sql["space"]):
            return Space(number, name, dimension, bool(is_whole))
        return None

    def pending(self, limit: int) -> list[Pending]:
        found: list[Pending] = []
        for what in ("passage", "window"):
            if len(found) < limit:
                rows = self._session.execute(self._sql["pending"], (what, limit - len(found)))
                found += map(Pending._make, rows)
        return found

    def unembedded(self, rows: Sequence[int], newest: int) -> list[int]:
        among = self._session.execute(self._sql["pending_among"], (self._session.listed(rows), "passage"))
        waiting = {row for (row,) in among}
        last = self._session.execute(self._sql["pending"], ("passage", newest))
        return list(dict.fromkeys([*filter(waiting.__contains__, rows), *(row for row, _ in last)]))

    def pending_count(self) -> int:
        [(found,)] = self._session.remembered(self._sql["pending_count"])
        return int(found)

    @abstractmethod
    def near(self, vector: Collection[float], filter: Filter, want: int, what: Kind) -> VectorMatch:
        """See the protocol."""

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

    def nearness(self, vectors: Sequence[Collection[float]], rows: Sequence[int], kinds: Sequence[Kind]) -> Nearness:
        import numpy as np

        space = self.space()
        told = {kind: np.full((len(rows), len(vectors)), np.nan) for kind in kinds}
        if space is None or not rows or not vectors:
            return told
        lines = {row: line for line, row in enumerate(rows)}
        asked = {"rows": self._session.listed(sorted(lines)), "kinds": self._session.listed(kinds)}
        found = self._session.execute(self._sql["by_rows"], {**asked, "space": space.number}).fetchall()
        if found:
            held = vectors_of([self._session.packed(stored) for *_, stored in found], space.dimension)
            similar = _against(held, normalised(vectors, space.dimension))
            for kind, of in told.items():
                places = [place for place, (_, what, _) in enumerate(found) if what == kind]
                np.fmax.at(of, [lines[found[place][0]] for place in places], similar[places])
        return told

    def vectors(self, rows: Sequence[int], what: Kind) -> dict[int, list[tuple[int, Floats]]]:
        found, lines = self._read(rows, what)
        held: dict[int, list[tuple[int, Floats]]] = {}
        for (row, number, *_), line in zip(found, lines, strict=True):
            held.setdefault(row, []).append((number, line))
        return held

    def stacked(self, rows: Sequence[int], what: Kind) -> tuple[list[int], Floats]:
        found, lines = self._read(rows, what)
        return [row for row, *_ in found], lines

    def _read(self, rows: Sequence[int], what: Kind) -> tuple[list[Stored], Floats]:
        import numpy as np

        space = self.space()
        if space is None:
            return [], np.zeros((0, 0), dtype=np.float32)
        found = self._of_rows(rows, what, space)
        return found, vectors_of([stored for *_, stored in found], space.dimension)

    def _of_rows(self, rows: Sequence[int], what: Kind, space: Space) -> list[Stored]:
        asked = {"rows": self._session.listed(sorted(set(rows))), "what": what, "space": space.number}
        return self._session.execute(self._sql["by_row"], asked).fetchall()

    def around(
        self, rows: Sequence[int], filter: Filter, reach: int, *, company: bool
    ) -> dict[int, list[tuple[int, int]]]:
        known = self._session.statements("filter.sql")["known_now" if filter.known_at is None else "known_at"]
        where, params = compiled(self._session, filter, probe=True)
        sql = self._sql["around"].format(
            known=known, where=where, company=company_of(self._session) if company else "1 = 1"
        )
        asked = {"rows": self._session.listed(rows), "known_at": filter.known_at}
        asked |= {**params, "reach": reach, "seen": reach * LOOKED_THROUGH}
        found: dict[int, list[tuple[int, int]]] = {row: [] for row in rows}
        for row, before, after in self._session.execute(sql, asked):
            earlier = [(-distance, other) for distance, other in _counted(before)]
            found[row] = [*reversed(earlier), *_counted(after)]
        return found


def _against(vectors: Floats, questions: Floats) -> NDArray[np.float64]:
    import numpy as np

    return np.stack([alike(vectors, question) for question in questions], axis=1).astype(np.float64)


def _counted(joined: str | None) -> list[tuple[int, int]]:
    return list(enumerate(map(int, joined.split(",")), 1)) if joined else []


def vectors_of(stored: Sequence[bytes], dimension: int) -> Floats:
    return singles(halves_of(stored, dimension))


def halves_of(stored: Sequence[bytes], dimension: int) -> Halves:
    try:
        return halves(stored, dimension)
    except (TypeError, ValueError) as problem:
        raise UnreadableRow("a vector does not have the dimension of its space") from problem


def driver(session: Session, filter: Filter) -> str | None:
    """Return the field that lets the fewest versions through; None if each lets many through."""
    fewest, best = NARROW + 1, None
    for field in COUNTED:
        asked = alone(session, filter, field)
        if asked is not None:
            sql = session.statements("queries.sql")["count_to"].format(where=asked.where)
            number = session.execute(sql, {**asked.params, "limit": fewest}).fetchone()[0]
            if number < fewest:
                fewest, best = number, field
    return best


def driven(session: Session, filter: Filter) -> Compiled:
    """Return the predicate for a scan that uses the best index."""
    if session.picks_indexes:
        return compiled(session, filter)
    return compiled(session, filter, driver=driver(session, filter))
