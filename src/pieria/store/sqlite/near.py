"""What is near a vector, as one read transaction sees it: from the codes in memory to the visible versions.

Candidates come in the order of their codes. Which of them may be seen is asked of the file, part by part, and those are
scored from the stored vectors. How many pass tells how many more to ask; where few do, the rows of the filter's
narrowest condition are listed instead, and only their codes are looked at.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

from pieria.record.changeset import FOREVER
from pieria.record.filter import Filter
from pieria.store.protocol import Kind, Near, Pending, Space, Span, VectorMatch
from pieria.store.sqlite.codes import ByCode, ByHeart, View
from pieria.store.sqlite.connection import UnreadableRow
from pieria.store.sqlite.driving import driven, listed
from pieria.store.sqlite.scan import Scan, Standing
from pieria.store.sqlite.statements import statements
from pieria.store.sqlite.visibility import compiled
from pieria.store.vectors import alike, normalised, unpacked

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

SCORED = 600
"""Among so many by their codes the nearest are found; in a bank of near copies they are not among far fewer."""
TOP = 10
"""Fewer are scored where what is left cannot come before so many of those found."""
SURE = 3.0
"""Standard errors by which what is left must fall behind, if the last that were scored brought nothing either."""
SURE_AT_ONCE = 6.0
"""The same if they did."""
AT_ONCE = 128
"""So many are to be scored before it is asked again whether that is enough."""
LISTED = 12_000
NARROW = 4
"""A condition that lets fewer through than `LISTED` rows, and than this part of all, is followed by its list."""
LEAST_SHARE = 0.02
"""For lack of any that passed, so many are taken to pass."""
PROBED = 20_000
"""After so many candidates it is left to a sieve to find more that may be seen."""
LOOKED_THROUGH = 16
"""Times the reach: so many states of a session are looked at for neighbours on either side."""


class Vectors:
    def __init__(self, connection: sqlite3.Connection, scan: Scan) -> None:
        self._connection = connection
        self._scan = scan
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
        standing = self._standing()
        if standing is None:
            return VectorMatch([])
        question = normalised([vector], standing.dimension)[0]
        view = self._scan.view(self._connection, standing, what)
        return Search(self._connection, view, question, filter).match(want)

    def _standing(self) -> Standing | None:
        found = self._connection.execute(self._sql["space"]).fetchone()
        if found is None:
            return None
        held = dict(self._connection.execute(statements("queries.sql")["head"]))
        return Standing(found[0], found[2], found[3], held["vector_entry"], held["vector_gone"])

    def similarities(self, vector: Collection[float], rows: Sequence[int], what: Kind) -> dict[int, Span]:
        space = self.space()
        if space is None:
            return {}
        question = normalised([vector], space.dimension)[0]
        found = self._of_rows(rows, what, space)
        if not found:
            return {}
        similar = alike(_unpacked([stored for *_, stored in found], space.dimension), question)
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
            lines = _unpacked([stored for *_, stored in found], space.dimension)
            for (row, number, *_), line in zip(found, lines, strict=True):
                held.setdefault(row, []).append((number, line))
        return held

    def _of_rows(self, rows: Sequence[int], what: Kind, space: Space) -> list[tuple[int, int, int, int, bytes]]:
        asked = {"rows": json.dumps(sorted(set(rows))), "what": what, "space": space.number}
        return self._connection.execute(self._sql["by_row"], asked).fetchall()

    def around(self, rows: Sequence[int], filter: Filter, reach: int) -> dict[int, list[tuple[int, int]]]:
        known = statements("filter.sql")["known_now" if filter.known_at is None else "known_at"]
        where, params = compiled(filter, probe=True)
        sql = self._sql["place_in_session"].format(known=known)
        asked = {"rows": json.dumps(list(rows)), "known_at": filter.known_at}
        places = self._connection.execute(sql, asked).fetchall()
        ways = {way: self._sql[way].format(known=known, where=where) for way in ("before", "after")}
        params = {**params, "known_at": filter.known_at, "reach": reach, "seen": reach * LOOKED_THROUGH}
        found: dict[int, list[tuple[int, int]]] = {row: [] for row in rows}
        for row, session, scope, at in places:
            params |= {"around": session, "within": scope, "at": at, "row": row}
            before = [other for (other,) in self._connection.execute(ways["before"], params)]
            after = [other for (other,) in self._connection.execute(ways["after"], params)]
            found[row] = [(-n, other) for n, other in reversed(list(enumerate(before, 1)))]
            found[row] += list(enumerate(after, 1))
        return found


class Search:
    """One look for what is near, with what it has found so far."""

    def __init__(self, connection: sqlite3.Connection, view: View, question: Floats, filter: Filter) -> None:
        self._connection = connection
        self._view = view
        self._question = question
        self._filter = filter
        self._sql = statements("vectors.sql")
        self._where, self._params = compiled(filter, probe=True)
        self._visible: dict[int, bool] = {}
        self._best: dict[int, tuple[float, int, int, int]] = {}
        self._scanned = 0

    def match(self, want: int) -> VectorMatch:
        whole = self._gather(want)
        nearest = sorted(self._best.items(), key=itemgetter(1), reverse=True)
        found = [Near(row, *best) for row, best in nearest[:want]]
        return VectorMatch(found, whole, self._scanned, len(self._visible), self._view.median(self._question))

    def _gather(self, want: int) -> bool:
        """Whether what was found is for certain the nearest."""
        if not self._view.count:
            return True
        rows = listed(self._connection, self._filter, min(LISTED, self._view.count // NARROW))
        if rows is not None:
            return self._search_all(rows, want)
        candidates = self._ordered(None)
        if self._take(candidates, want, PROBED) or len(self._best) >= want:
            return candidates.scored or not candidates.left
        return self._search_all(self._sieved(), want)

    def _search_all(self, rows: list[int], want: int) -> bool:
        """Among these rows alone, of which all that may be seen are some."""
        candidates = self._ordered(self._view.of_rows(rows))
        return self._take(candidates, want, candidates.whole) or candidates.scored

    def _sieved(self) -> list[int]:
        where, params = driven(self._connection, self._filter)
        sql = self._sql["rows_by"].format(where=where)
        return [row for (row,) in self._connection.execute(sql, {**params, "limit": -1})]

    def _ordered(self, places: NDArray[np.intp] | None) -> ByHeart | ByCode:
        order = ByCode if self._view.vectors is None else ByHeart
        found = order(self._view, self._question, places)
        self._scanned += found.whole
        return found

    def _take(self, candidates: ByHeart | ByCode, want: int, most: int) -> bool:
        """Looks at the next candidates until enough versions are found; whether there are no more candidates."""
        target = want if candidates.scored else max(want, SCORED)
        asked = passed = 0
        while len(self._best) < target and asked < most:
            share = max(passed / asked, LEAST_SHARE) if asked else 1.0
            missing = min(target - len(self._best), AT_ONCE)
            places = candidates.take(min(int(missing / share) + 1, most - asked))
            if not len(places):
                break
            asked += len(places)
            before = self._tenth()
            passed += self._look_at(places, candidates)
            tenth = self._tenth()
            errors = SURE if tenth == before else SURE_AT_ONCE
            if candidates.whole > SCORED and len(self._best) >= want and candidates.settled(tenth, errors):
                break
        return not candidates.left

    def _tenth(self) -> float:
        """How similar the last of the best few is."""
        scores = sorted((similarity for similarity, *_ in self._best.values()), reverse=True)
        return scores[min(TOP, len(scores)) - 1] if scores else 1.0

    def _look_at(self, places: NDArray[np.intp], candidates: ByHeart | ByCode) -> int:
        """How many of them may be seen."""
        rows = self._view.rows[places].tolist()
        new = [row for row in dict.fromkeys(rows) if row not in self._visible]
        if new:
            self._visible.update(dict.fromkeys(new, False))
            sql = self._sql["probe"].format(where=self._where)
            found = self._connection.execute(sql, {**self._params, "rows": json.dumps(sorted(new))})
            self._visible.update((row, True) for (row,) in found)
        kept = [n for n, row in enumerate(rows) if self._visible.get(row)]
        if kept:
            self._score(places[kept], candidates)
        return len(kept)

    def _score(self, places: NDArray[np.intp], candidates: ByHeart | ByCode) -> None:
        entries = self._view.entries[places].tolist()
        sql = self._sql["by_entry"].format(vector="NULL" if candidates.scored else "v.vector")
        known = FOREVER if self._filter.known_at is None else self._filter.known_at
        found = self._connection.execute(sql, {"entries": json.dumps(sorted(entries)), "known_at": known}).fetchall()
        if isinstance(candidates, ByHeart):
            similar = dict(zip(entries, candidates.similarities[places].tolist(), strict=True))
        elif found:
            scores = alike(_unpacked([held[4] for held in found], self._view.dimension), self._question).tolist()
            similar = {entry: score for (entry, *_), score in zip(found, scores, strict=True)}
            self._teach(candidates, similar, dict(zip(entries, places.tolist(), strict=True)))
        for entry, row, start, stop, _ in found:
            score = similar[entry]
            if row not in self._best or score > self._best[row][0]:
                self._best[row] = (score, entry, start, stop)

    def _teach(self, candidates: ByCode, similar: dict[int, float], places: dict[int, int]) -> None:
        import numpy as np

        known = np.array([places[entry] for entry in similar], dtype=np.intp)
        candidates.learn(known, np.array(list(similar.values()), dtype=np.float32))


def _unpacked(stored: Sequence[bytes], dimension: int) -> Floats:
    try:
        return unpacked(stored, dimension)
    except (TypeError, ValueError) as problem:
        raise UnreadableRow("a vector is not of its space's dimension") from problem
