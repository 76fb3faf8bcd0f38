"""One search for the versions nearest to a vector, from the codes in memory to the visible versions.

Candidates come in the order of their codes and are scored from the stored vectors. The file is asked which of the best
are visible; if few are, visibility is checked before scoring. A selective condition of the filter limits the candidates
from the start.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pieria.record.changeset import FOREVER
from pieria.record.filter import Filter
from pieria.store.protocol import Near, VectorMatch
from pieria.store.sql.sieves import Sieve
from pieria.store.sql.vectors import driven, halves_of
from pieria.store.sql.visibility import compiled
from pieria.store.sqlite.codes import ByCode, ByHeart, View
from pieria.store.sqlite.kept import NOWHERE
from pieria.store.sqlite.session import SQLiteSession
from pieria.store.sqlite.statements import statements
from pieria.store.vectors import alike, singles

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Halves = NDArray[np.int16]
    Places = NDArray[np.intp]

SCORED = 2_000
"""Candidates to score: they contain the nearest, even in a bank of near copies."""
TOP = 10
"""Scoring stops early if no remaining candidate is expected to rank among this many of the best."""
OVERLOOKED = 0.02
"""How many remaining candidates may be expected to be nearer than the last of the best `TOP`."""
AT_ONCE = 128
"""Least number to score between two checks for enough; later, half as many as were scored before."""
PROBED_AT_ONCE = 16
MANY = 0.4
"""If at most this share is visible, checking visibility before scoring is faster."""
LEAST_SHARE = 0.02
"""Least share that is assumed to be visible."""
MOST = 20_000
"""After this many candidates, the search lists all visible versions instead. For rare kinds, such as windows and rules,
probing every version costs less than that list."""


class Known:
    """Visibility and spans that were already read. Searches by one filter share them as long as nothing is written."""

    def __init__(self) -> None:
        self.visible: dict[int, bool] = {}
        self.spans: dict[int, tuple[int, int] | None] = {}


class Search:
    """One search; its results so far are kept between two steps."""

    def __init__(
        self,
        session: SQLiteSession,
        view: View,
        question: Floats,
        filter: Filter,
        sieve: Sieve | None,
        known: Known,
        most: int = MOST,
    ) -> None:
        self._session = session
        self._view = view
        self._question = question
        self._filter = filter
        self._sieve = sieve
        self._most = most
        self._sql = statements("codes.sql")
        self._where, self._params = compiled(session, filter, probe=True)
        self._known = FOREVER if filter.known_at is None else filter.known_at
        self._met = known
        self._visible: dict[int, bool] = {}
        self._scored: list[tuple[float, int, int]] = []
        self._spans = self._met.spans
        self._scanned = 0
        self._probed_at_once = PROBED_AT_ONCE
        self._told: tuple[tuple[int, int], list[Near]] = (0, 0), []

    def match(self, want: int) -> VectorMatch:
        # In the end, at least `want` rows must be probed.
        self._probed_at_once = max(want, PROBED_AT_ONCE)
        whole = self._gather(want)
        return VectorMatch(self._best(want), whole, self._scanned, len(self._visible))

    def _gather(self, want: int) -> bool:
        """Collect candidates. Return whether the result is certainly the nearest."""
        if not self._view.count:
            return True
        candidates = self._ordered(None if self._sieve is None else self._view.within(self._sieve))
        if self._take(candidates, want, self._most) or len(self._best(want)) >= want:
            return candidates.scored or not candidates.left
        candidates = self._ordered(self._view.of_rows(self._listed()))
        return self._take(candidates, want, candidates.whole) or candidates.scored

    def _listed(self) -> list[int]:
        where, params = driven(self._session, self._filter)
        sql = statements("queries.sql")["sieve"].format(where=where)
        return [row for (row,) in self._session.execute(sql, {**params, "limit": -1})]

    def _ordered(self, places: Places | None) -> ByHeart | ByCode:
        order = ByCode if self._view.vectors is None else ByHeart
        found = order(self._view, self._question, places)
        self._scanned += found.whole
        return found

    def _take(self, candidates: ByHeart | ByCode, want: int, most: int) -> bool:
        """Look at further candidates until enough versions are found. Return whether there are no more."""
        taken = 0
        while taken < most:
            share = self._share()
            number = max(int(AT_ONCE / share) + 1, taken // 2)
            places = candidates.take(min(number, most - taken))
            if not len(places):
                break
            taken += len(places)
            self._look_at(places, candidates, ask_first=share <= MANY)
            if self._is_enough(candidates, want):
                break
        return not candidates.left

    def _is_enough(self, candidates: ByHeart | ByCode, want: int) -> bool:
        if not candidates.scored and len(self._scored) * self._share() < max(want, SCORED):
            best = self._best(TOP)
            if not best or candidates.overlooked(best[-1].similarity) > OVERLOOKED:
                return False
        return len(self._best(want)) >= want

    def _share(self) -> float:
        """Return the share of the probed rows that is visible."""
        asked = len(self._visible)
        return max(sum(self._visible.values()) / asked, LEAST_SHARE) if asked else 1.0

    def _look_at(self, places: Places, candidates: ByHeart | ByCode, *, ask_first: bool) -> None:
        if ask_first:
            rows = self._view.rows[places].tolist()
            self._probe(rows)
            places = places[[place for place, row in enumerate(rows) if self._visible[row]]]
        if isinstance(candidates, ByHeart):
            entries, rows = self._view.entries[places].tolist(), self._view.rows[places].tolist()
            self._scored += zip(candidates.similarities[places].tolist(), entries, rows, strict=True)
        elif len(places):
            self._score(places, candidates)

    def _score(self, places: Places, candidates: ByCode) -> None:
        lines = self._view.kept.lines(places)
        there = lines != NOWHERE
        known = places[there]
        self._note(known, self._view.kept.vectors(lines[there]), candidates)
        new = places[~there]
        if len(new):
            self._note(*self._read(new), candidates)

    def _note(self, places: Places, vectors: Floats, candidates: ByCode) -> None:
        similar = alike(vectors, self._question)
        entries, rows = self._view.entries[places].tolist(), self._view.rows[places].tolist()
        self._scored += zip(similar.tolist(), entries, rows, strict=True)
        candidates.learn(places, similar)

    def _read(self, places: Places) -> tuple[Places, Floats]:
        """Return those of the places that exist at the filter's known time, with their vectors."""
        at = dict(zip(self._view.entries[places].tolist(), range(len(places)), strict=True))
        found = self._at_hand("v.vector", list(at))
        places = places[[at[entry] for entry, *_ in found]]
        self._spans.update((entry, (start, stop)) for entry, start, stop, _ in found)
        read = halves_of([held[-1] for held in found], self._view.dimension)
        self._view.kept.keep(places, read)
        return places, singles(read)

    def _best(self, number: int) -> list[Near]:
        """Return the best visible versions scored so far, each once. Probes no more rows than necessary."""
        asked = number, len(self._scored)
        if self._told[0] != asked:
            self._told = asked, self._sorted_out(number)
        return self._told[1]

    def _sorted_out(self, number: int) -> list[Near]:
        self._scored.sort(reverse=True)
        found: dict[int, Near] = {}
        begin, size = 0, max(number, self._probed_at_once)
        while begin < len(self._scored) and len(found) < number:
            part = self._scored[begin : begin + size]
            begin, size = begin + size, 2 * size
            self._probe(row for _, _, row in part)
            seen = [each for each in part if self._visible[each[2]] and each[2] not in found]
            self._span(entry for _, entry, _ in seen)
            for score, entry, row in seen:
                span = self._spans[entry]
                if span is not None and row not in found:
                    found[row] = Near(row, score, entry, *span)
        return list(found.values())[:number]

    def _probe(self, rows: Iterable[int]) -> None:
        new = [row for row in dict.fromkeys(rows) if row not in self._visible]
        met = self._met.visible
        unknown = [row for row in new if row not in met]
        if unknown:
            met.update(dict.fromkeys(unknown, False))
            sql = self._sql["probe"].format(where=self._where)
            found = self._session.execute(sql, {**self._params, "rows": SQLiteSession.listed(sorted(unknown))})
            met.update((row, True) for (row,) in found)
        self._visible.update((row, met[row]) for row in new)

    def _span(self, entries: Iterable[int]) -> None:
        """Load missing spans; None for entries that do not exist at the filter's known time."""
        new = [entry for entry in entries if entry not in self._spans]
        if new:
            self._spans.update(dict.fromkeys(new))
            self._spans.update((entry, (start, stop)) for entry, start, stop, _ in self._at_hand("NULL", new))

    def _at_hand(self, vector: str, entries: Sequence[int]) -> list[tuple[int, int, int, bytes]]:
        sql = self._sql["by_entry"].format(vector=vector)
        asked = {"entries": SQLiteSession.listed(sorted(entries)), "known_at": self._known}
        return self._session.execute(sql, asked).fetchall()
