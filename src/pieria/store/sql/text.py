"""The text index of a bank: finds the visible versions that contain given terms, with counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from pieria.record.filter import Filter
from pieria.store.protocol import Candidate, Head, TextMatch
from pieria.store.sql.session import Session
from pieria.store.sql.sieves import Sieve, Sieves
from pieria.store.sql.visibility import compiled
from pieria.store.sql.wordings import Wordings
from pieria.store.text import is_crowded, rarest_first, rough_order, weight

if TYPE_CHECKING:
    from pieria.store.text import Rows

FREQUENT = 2_000
"""Counts of terms at least this frequent are cached: counting takes as long as the term's postings are."""
DRIFT = 0.02
"""Growth of a bank, as a fraction, until a cached count is renewed: weights change by no more."""
SIEVE = 1_000
WIDER = 8
ENOUGH = 8
"""The look-up is widened only while fewer than this fraction (1/8) of the wanted candidates was found."""


class Frequency(NamedTuple):
    """How many texts contain a term, and whether it repeats so often that rows are listed without repeats."""

    texts: int
    is_crowded: bool


class Frequencies:
    """Cached counts of frequent terms, each with the bank's size at that time. A store's threads share one."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[Frequency, int]] = {}

    def of(self, session: Session, terms: Sequence[str], documents: int) -> dict[str, int]:
        return {term: found.texts for term, found in self.each(session, terms, documents).items()}

    def each(self, session: Session, terms: Sequence[str], documents: int) -> dict[str, Frequency]:
        found = dict.fromkeys(terms, Frequency(0, False))
        unknown = []
        for term in found:
            kept = self._kept.get(term)
            if kept is not None and abs(documents - kept[1]) <= DRIFT * kept[1]:
                found[term] = kept[0]
            else:
                unknown.append(term)
        counted = session.execute(session.statements("queries.sql")["frequencies"], {"terms": session.listed(unknown)})
        for term, texts, occurrences in counted:
            found[term] = Frequency(texts, is_crowded(texts, occurrences))
            if texts >= FREQUENT:
                if len(self._kept) > 10_000:
                    self._kept.clear()
                self._kept[term] = (found[term], documents)
        return found


class TextIndex:
    """The index as seen by one read transaction."""

    def __init__(
        self, session: Session, frequencies: Frequencies, sieves: Sieves, wordings: Wordings, head: Head
    ) -> None:
        self._session = session
        self._frequencies = frequencies
        self._sieves = sieves
        self._wordings = wordings
        self._head = head
        self._sql = session.statements("queries.sql")
        self._broken_off = False
        """True if some texts were not read: they are too long or time ran out."""

    def match(self, terms: Sequence[str], filter: Filter, want: int, budget: int) -> TextMatch:
        self._broken_off = False
        each = self._frequencies.each(self._session, terms, self._head.documents)
        frequencies = {term: found.texts for term, found in each.items()}
        crowded = frozenset(term for term, found in each.items() if found.is_crowded)
        # If few rows contain a term, probing them is fastest, and no sieve is needed.
        sieve = None
        found = None
        if sum(frequencies.values()) > want:
            sieve = self._sieves.of(self._session, filter, self._head.seq, self._head.documents)
            most = min(budget, sum(frequencies.values()))
            found = self._through_sieve(terms, filter, sieve, want, most)
        looked_up = [term for term in terms if frequencies[term]]
        cut: list[str] = []
        exact = True
        if found is None:
            found, looked_up, cut, exact = self._through_postings(
                terms, frequencies, crowded, filter, sieve, want, budget
            )
        return TextMatch(
            documents=self._head.documents,
            terms=self._head.terms,
            frequencies=frequencies,
            candidates=found,
            looked_up=tuple(looked_up),
            cut=tuple(cut),
            exact=exact and not self._broken_off,
        )

    def rarest_rows(self, terms: Sequence[str]) -> list[int]:
        """Return every row that contains the rarest of the terms."""
        frequencies = self._frequencies.of(self._session, terms, self._head.documents)
        rarest = min(frequencies, key=lambda term: (frequencies[term], term))
        [(_, joined)] = self._session.execute(self._sql["rows_holding"], {"terms": self._session.listed([rarest])})
        return list(map(int, joined.split(","))) if joined else []

    def _through_sieve(
        self, terms: Sequence[str], filter: Filter, sieve: Sieve | None, want: int, postings: int
    ) -> list[Candidate] | None:
        """Return all candidates that pass a selective filter, or None if the filter is not known to be selective.

        None too if the postings probably yield enough candidates that pass the sieve: reading them is faster then.
        """
        if sieve is not None and sieve.number <= SIEVE:
            promised = postings * sieve.number // max(1, self._head.documents)
            if sieve.number <= 2 * want or promised < 2 * want // ENOUGH:
                return self._candidates(list(sieve.rows()), terms, filter)
        return None if filter.standing is None else self._listed(terms, filter)

    def _listed(self, terms: Sequence[str], filter: Filter) -> list[Candidate] | None:
        where, params = compiled(self._session, filter)
        sql = self._sql["sieve"].format(where=where)
        rows = [row for (row,) in self._session.execute(sql, {**params, "limit": SIEVE + 1})]
        if len(rows) > SIEVE:
            return None
        return self._candidates(rows, terms, filter)

    def _through_postings(
        self,
        terms: Sequence[str],
        frequencies: dict[str, int],
        crowded: frozenset[str],
        filter: Filter,
        sieve: Sieve | None,
        want: int,
        budget: int,
    ) -> tuple[list[Candidate], list[str], list[str], bool]:
        """Return candidates with the rarest terms; adds further terms while too few candidates are visible."""
        probed: dict[int, Candidate | None] = {}
        before: list[str] | None = None
        while True:
            looked_up, cut = rarest_first(frequencies, budget)
            if cut and looked_up == before:
                looked_up.append(cut.pop(0))
            postings, whole = self._all_postings(looked_up, frequencies, crowded, budget)
            if sieve is not None:
                postings = [(gain, sieve.kept(rows)) for gain, rows in postings]
            found = self._first_visible(rough_order(postings), terms, filter, want, probed)
            everything = whole and not cut
            if len(found) >= want // ENOUGH or everything or self._broken_off:
                return found, looked_up, cut, everything and len(found) < want
            if before is None:
                # So few are visible that listing them may be fast. The listing stops at a limit.
                listed = self._listed(terms, filter)
                if listed is not None:
                    return listed, [*looked_up, *cut], [], True
            before = looked_up
            budget *= WIDER

    def _all_postings(
        self, looked_up: list[str], frequencies: dict[str, int], crowded: frozenset[str], budget: int
    ) -> tuple[list[tuple[float, Rows]], bool]:
        """Return each term's weight and rows, and whether all are listed. Over the budget, a term lists its newest."""
        whole = [term for term in looked_up if frequencies[term] <= budget]
        listed = self._postings([term for term in whole if term not in crowded])
        listed |= self._postings([term for term in whole if term in crowded], "rows_holding")
        postings = [
            (
                weight(self._head.documents, frequencies[term]),
                listed[term] if term in listed else self._newest_postings(term, budget),
            )
            for term in looked_up
        ]
        return postings, len(listed) == len(looked_up)

    def _first_visible(
        self,
        ordered: Sequence[int],
        terms: Sequence[str],
        filter: Filter,
        want: int,
        probed: dict[int, Candidate | None],
    ) -> list[Candidate]:
        """Return the first visible candidates. `probed` caches candidates by row, with None for rows not visible."""
        found: list[Candidate] = []
        for start in range(0, len(ordered), want):
            part = ordered[start : start + want]
            new = [row for row in part if row not in probed]
            if new:
                probed.update(dict.fromkeys(new))
                probed |= {candidate.row: candidate for candidate in self._candidates(new, terms, filter)}
            found += [candidate for row in part if (candidate := probed[row]) is not None]
            if len(found) >= want or self._broken_off:
                break
        return found

    def _candidates(self, rows: Sequence[int], terms: Sequence[str], filter: Filter) -> list[Candidate]:
        where, params = compiled(self._session, filter, probe=True)
        sql = self._sql["probe_rows"].format(where=where)
        seen = [row for (row,) in self._session.execute(sql, {**params, "rows": self._session.listed(rows)})]
        texts = self._wordings.of(self._session, seen, self._head.analyser)
        self._broken_off |= len(texts.of) < len(seen)
        held = texts.each(terms)
        return [Candidate(row, of) for row, of in held.items() if of.counts]

    def _postings(self, terms: Sequence[str], statement: str = "postings") -> dict[str, Rows]:
        """Return each term's rows in ascending order; the usual statement repeats a row for each occurrence."""
        if not terms:
            return {}
        found = self._session.execute(self._sql[statement], {"terms": self._session.listed(terms)})
        return {term: _parsed(joined) for term, joined in found}

    def _newest_postings(self, term: str, limit: int) -> Rows:
        asked = {"match": f'"{term}"', "term": term, "limit": limit}
        joined = self._session.execute(self._sql["newest_postings"], asked).fetchone()[0]
        return _parsed(joined)[::-1]


def _parsed(joined: str | None) -> Rows:
    """Return the rows of a text with commas."""
    import numpy as np

    return np.fromstring(joined, dtype=np.int64, sep=",") if joined else np.empty(0, dtype=np.int64)
