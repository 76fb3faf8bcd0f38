"""The text index of a bank: from terms to the visible versions that hold them, with counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import Any, NamedTuple, TypeVar

from pieria.record import effort
from pieria.record.filter import Filter
from pieria.store.parts import Run, Terms
from pieria.store.protocol import Candidate, Head, TextMatch
from pieria.store.sql.session import Session, UnreadableRow
from pieria.store.sql.sieves import Sieve, Sieves
from pieria.store.sql.visibility import compiled
from pieria.store.text import is_crowded, rarest_first, rough_order, weight

Counted = TypeVar("Counted", bound=Hashable)
FREQUENT = 2_000
"""Counting a frequent term costs as much as its postings are long; from here on the count is kept for a while."""
DRIFT = 0.02
"""How far a bank may grow before a kept count is taken anew: the weight it gives moves by as little."""
SEARCHED = 24
"""Terms for which a text is searched one by one; for more it is taken apart."""
SHORT = 1_500
"""Characters of terms up to which a text is short."""
PART, MOST_PARTS = 1_300, 64
"""Characters of the terms of one part of a long text, and parts that are looked at by themselves."""
NONE: Mapping[Any, int] = {}
LONG = 1_000
"""Terms from which on a text is counted by `Counter`."""
PAIRED = 20_000
"""Terms of a text among which pairs are counted: in longer texts nearly all of them meet somewhere."""
READ_AT_ONCE = 4 << 20
READ_EACH = 4_096
"""Characters of texts that one look-up reads before it is content with what it found; or so many of each text that is
wanted, if that is more."""
READ_ANYHOW = 1 << 16
"""Characters that a look-up reads however late it is, so that any deadline brings an answer."""
SIEVE = 1_000
WIDER = 8
ENOUGH = 8
"""A wider look-up is worth its cost only while fewer than this part of the wanted candidates was found."""


class Frequency(NamedTuple):
    """How many texts hold a term, and whether they repeat it so often that only their rows are listed."""

    texts: int
    is_crowded: bool


class Frequencies:
    """Counts of frequent terms, with the bank's size when they were taken. A store's threads share one."""

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


def counts(session: Session, rows: Sequence[int], terms: Collection[str], runs: Collection[Run]) -> dict[int, Terms]:
    """From the terms as they were written, which stand in the order of the text."""
    wanted = Sought(terms, runs)
    found = session.execute(session.statements("queries.sql")["terms_of"], {"rows": session.listed(rows)})
    counted: dict[int, Terms] = {}
    share = Share(len(rows))
    for row, length, written in found:
        counted[row] = wanted.counted(length, _split(row, written))
        if share.is_used_up(written):
            break
    return counted


def holding(session: Session, rows: Sequence[int], terms: Collection[str]) -> dict[int, list[str]]:
    wanted = {term: f" {term} " for term in terms}
    found = session.execute(session.statements("queries.sql")["terms_of"], {"rows": session.listed(rows)})
    held: dict[int, list[str]] = {}
    for row, _, written in found:
        line = f" {_checked(row, written)} "
        held[row] = [term for term, apart in wanted.items() if apart in line]
    return held


class Share:
    """What one look-up may read. Whoever wants many texts may read them if they are short."""

    def __init__(self, want: int) -> None:
        self._read = 0
        self._most = max(READ_AT_ONCE, want * READ_EACH)

    def is_used_up_before(self, written: str) -> bool:
        """Whether so much was read that this one should not be; if not, note that it is."""
        used_up = self._read >= self._most or (self._read >= READ_ANYHOW and effort.is_late())
        self._read += len(written)
        return used_up

    def is_used_up(self, written: str) -> bool:
        """Note one more text that was read, and tell whether no other should be."""
        self._read += len(written)
        return self._read >= self._most or (self._read >= READ_ANYHOW and effort.is_late())


class Sought:
    """The terms that a question asks for, and which runs of them."""

    def __init__(self, terms: Collection[str], runs: Collection[Run]) -> None:
        self.terms = list(dict.fromkeys(terms))
        self._each = frozenset(self.terms)
        self._pairs = frozenset(run for run in runs if len(run) == 2)
        self._longer = [run for run in runs if len(run) > 2]
        self._apart = {term: f" {term} " for term in self.terms}
        self._lines: dict[str, list[tuple[Run, str]]] = {}
        for run in runs:
            for term in self._each.intersection(run):
                self._lines.setdefault(term, []).append((run, f" {'  '.join(run)} "))

    def found_in(self, length: int, written: str) -> Terms:
        """The same of terms as they were written. A long text is searched for each term instead of taken apart.

        How many are different is told of short texts; of a long one it is how many there are.
        """
        if len(written) <= SHORT or len(self._apart) > SEARCHED:
            held = _split(0, written)
            distinct = set(held)
            there = self._each & distinct
            if not there:
                return Terms(length, len(distinct), NONE, NONE)
            counts = {term: held.count(term) for term in there}
            line = f" {'  '.join(held)} "
            return Terms(length, len(distinct), counts, self._runs_in(line, there))
        line = f" {written} ".replace(" ", "  ")
        found = {term: number for term, apart in self._apart.items() if (number := line.count(apart))}
        return Terms(length, length, found, self._runs_in(line, found), self._parts_of(line, found) if found else ())

    def _parts_of(self, line: str, there: Collection[str]) -> list[tuple[int, Mapping[str, int]]]:
        """One behind the other, each about as long as what one vector stands for."""
        found: list[tuple[int, Mapping[str, int]]] = []
        begin = 0
        while begin < len(line) and len(found) < MOST_PARTS:
            end = line.find(" ", begin + PART)
            end = len(line) if end < 0 else end + 1
            counts = {term: n for term in there if (n := line.count(self._apart[term], begin, end))}
            if counts:
                found.append(((line.count(" ", begin, end) + 1) // 2, counts))
            # The space behind a term is the next one's as well.
            begin = end - 1 if end < len(line) else end
        return found

    def _runs_in(self, line: str, there: Collection[str]) -> dict[Run, int]:
        """Only such runs are looked for of which a term is there."""
        runs = {run: apart for term in there for run, apart in self._lines.get(term, ())}
        return {run: number for run, apart in runs.items() if (number := line.count(apart))}

    def counted(self, length: int, held: list[str]) -> Terms:
        """In one pass over the text: it may be long, and so may the question."""
        counts = _numbers(filter(self._each.__contains__, held), len(held))
        distinct = set(held)
        runs: dict[Run, int] = {}
        if self._pairs and (counts or self._longer):
            begin = held[:PAIRED]
            runs.update(_numbers(filter(self._pairs.__contains__, pairwise(begin)), len(begin)))
        there = [run for run in self._longer if distinct.issuperset(run)]
        line = f" {'  '.join(held)} " if there else ""
        for run in there:
            if number := _number_of(run, line):
                runs[run] = number
        return Terms(length, len(distinct), counts, runs)


def _split(row: int, written: object) -> list[str]:
    line = _checked(row, written)
    return line.split(" ") if line else []


def _checked(row: int, written: object) -> str:
    if not isinstance(written, str):
        raise UnreadableRow(f"the terms of row {row} are no text")
    return written


def _number_of(run: Run, line: str) -> int:
    """Return how often a run stands in a line, word after word. Occurrences that overlap count once."""
    return line.count(f" {'  '.join(run)} ")


def _numbers(found: Iterable[Counted], most: int) -> dict[Counted, int]:
    """How often each is among them; `Counter` takes longer for the few that most texts hold."""
    if most > LONG:
        return dict(Counter(found))
    counts: dict[Counted, int] = {}
    for each in found:
        counts[each] = counts.get(each, 0) + 1
    return counts


class TextIndex:
    """The index as one read transaction sees it."""

    def __init__(self, session: Session, frequencies: Frequencies, sieves: Sieves, head: Head) -> None:
        self._session = session
        self._frequencies = frequencies
        self._sieves = sieves
        self._head = head
        self._sql = session.statements("queries.sql")
        self._broken_off = False
        """Not all that was found was read, for it is long or there is no time left."""

    def match(self, asked: Sought, filter: Filter, want: int, budget: int) -> TextMatch:
        self._broken_off = False
        each = self._frequencies.each(self._session, asked.terms, self._head.documents)
        frequencies = {term: found.texts for term, found in each.items()}
        crowded = frozenset(term for term, found in each.items() if found.is_crowded)
        # So few rows hold a term that probing them is the shortest way, whatever the filter lets through.
        sieve = None
        found = None
        if sum(frequencies.values()) > want:
            sieve = self._sieves.of(self._session, filter, self._head.seq, self._head.documents)
            most = min(budget, sum(frequencies.values()))
            found = self._through_sieve(asked, filter, sieve, want, most)
        looked_up = [term for term in asked.terms if frequencies[term]]
        cut: list[str] = []
        exact = True
        if found is None:
            found, looked_up, cut, exact = self._through_postings(
                asked, frequencies, crowded, filter, sieve, want, budget
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
        """Every row that holds the rarest of the terms."""
        frequencies = self._frequencies.of(self._session, terms, self._head.documents)
        rarest = min(frequencies, key=lambda term: (frequencies[term], term))
        return self._postings([rarest], "rows_holding")[rarest]

    def _through_sieve(
        self, asked: Sought, filter: Filter, sieve: Sieve | None, want: int, postings: int
    ) -> list[Candidate] | None:
        """All that a selective filter lets through, or None when it is not known to be selective.

        Where so many postings promise enough that pass the sieve, they are the shorter way.
        """
        if sieve is not None and sieve.number <= SIEVE:
            promised = postings * sieve.number // max(1, self._head.documents)
            if sieve.number <= 2 * want or promised < 2 * want // ENOUGH:
                return list(self._candidates(list(sieve.rows()), asked, filter))
        return None if filter.standing is None else self._listed(asked, filter)

    def _listed(self, asked: Sought, filter: Filter) -> list[Candidate] | None:
        where, params = compiled(self._session, filter)
        sql = self._sql["sieve"].format(where=where)
        rows = [row for (row,) in self._session.execute(sql, {**params, "limit": SIEVE + 1})]
        if len(rows) > SIEVE:
            return None
        return list(self._candidates(rows, asked, filter))

    def _through_postings(
        self,
        asked: Sought,
        frequencies: dict[str, int],
        crowded: frozenset[str],
        filter: Filter,
        sieve: Sieve | None,
        want: int,
        budget: int,
    ) -> tuple[list[Candidate], list[str], list[str], bool]:
        """Candidates by the rarest terms; wider, up to everything, while too few of them are visible."""
        probed: dict[int, Candidate | None] = {}
        before: list[str] | None = None
        while True:
            looked_up, cut = rarest_first(frequencies, budget)
            if cut and looked_up == before:
                looked_up.append(cut.pop(0))
            postings, whole = self._all_postings(looked_up, frequencies, crowded, budget)
            if sieve is not None:
                postings = [(gain, sieve.kept(rows)) for gain, rows in postings]
            found = self._first_visible(rough_order(postings), asked, filter, want, probed)
            everything = whole and not cut
            if len(found) >= want // ENOUGH or everything or self._broken_off:
                return found, looked_up, cut, everything and len(found) < want
            if before is None:
                # So much is hidden that all the rest may be soon listed; a list that grows long is broken off.
                listed = self._listed(asked, filter)
                if listed is not None:
                    return listed, [*looked_up, *cut], [], True
            before = looked_up
            budget *= WIDER

    def _all_postings(
        self, looked_up: list[str], frequencies: dict[str, int], crowded: frozenset[str], budget: int
    ) -> tuple[list[tuple[float, list[int]]], bool]:
        """Each term's weight and rows; of a term with more rows than the budget its newest, and then not the whole."""
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
        self, ordered: Iterator[int], asked: Sought, filter: Filter, want: int, probed: dict[int, Candidate | None]
    ) -> list[Candidate]:
        """`probed` holds what was looked at already, by row, and None for what is not to be seen."""
        found: list[Candidate] = []
        while part := list(islice(ordered, want)):
            new = [row for row in part if row not in probed]
            if new:
                probed.update(dict.fromkeys(new))
                probed.update((candidate.row, candidate) for candidate in self._candidates(new, asked, filter))
            found += [candidate for row in part if (candidate := probed[row]) is not None]
            if len(found) >= want or self._broken_off:
                break
        return found

    def _candidates(self, rows: Sequence[int], asked: Sought, filter: Filter) -> Iterator[Candidate]:
        where, params = compiled(self._session, filter, probe=True)
        sql = self._sql["probe_terms"].format(where=where)
        share = Share(len(rows))
        for row, length, written in self._session.execute(sql, {**params, "rows": self._session.listed(rows)}):
            held = asked.counted(length, _split(row, written))
            if held.counts:
                yield Candidate(row, held)
            if share.is_used_up(written):
                self._broken_off = True
                return

    def _postings(self, terms: Sequence[str], statement: str = "postings") -> dict[str, list[int]]:
        """Of each term the rows in ascending order; with the usual statement a row as often as it holds the term."""
        if not terms:
            return {}
        found = self._session.execute(self._sql[statement], {"terms": self._session.listed(terms)})
        return {term: list(map(int, joined.split(","))) if joined else [] for term, joined in found}

    def _newest_postings(self, term: str, limit: int) -> list[int]:
        asked = {"match": f'"{term}"', "term": term, "limit": limit}
        joined = self._session.execute(self._sql["newest_postings"], asked).fetchone()[0]
        return list(map(int, joined.split(",")))[::-1] if joined else []
