"""A cache of recently used texts: their terms as numbers, in order.

Many queries are compared with the same texts. Numbers are compared all at once. The terms of a row change only with the
analyser or by a purge. The cache holds no text, only its terms and its glance.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from pieria.language.glance import BEGINNING, END, glance
from pieria.runtime import effort
from pieria.store.sql.session import Session, UnreadableRow

if TYPE_CHECKING:
    from pieria.store.sql.tally import Texts, Wording

MOST_TERMS = 1_000_000
"""Limit of cached terms; as numbers they take four bytes each."""
MOST_WORDS = 200_000
"""Limit of different terms with a number."""
READ_AT_ONCE = 4 << 20
READ_EACH = 4_096
"""Limits of the characters of terms that one look-up reads: in total, or for each text if that is more."""
READ_ANYHOW = 1 << 16
"""Characters that a look-up reads even past its deadline, so that there is always an answer."""


class _Line(NamedTuple):
    row: int
    length: int
    terms: str
    begin: str
    end: str
    characters: int


class Wordings:
    """Shared by a store's threads. No thread holds the lock while it reads the bank."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._begin(0)

    def clear(self) -> None:
        """Empty the cache, so that memory holds no erased text and repaired rows are read again."""
        with self._lock:
            self._begin(0)

    def of(self, session: Session, rows: Sequence[int], analyser: int) -> Texts:
        """Return as many of these rows as may be read at once. Only read transactions fill the cache: a write
        transaction may be rolled back.
        """
        from pieria.store.sql.tally import Texts

        with self._lock:
            if analyser != self._analyser or len(self._numbers) > MOST_WORDS:
                self._begin(analyser)
            numbers, kept = self._numbers, self._kept
            found = {row: kept[row] for row in rows if row in kept}
        missing = [row for row in dict.fromkeys(rows) if row not in found]
        if missing:
            lines = _lines(session, missing)
            with self._lock:
                read = {line.row: _wording(line, numbers) for line in lines}
                if session.reads and kept is self._kept:
                    self._keep(read)
            found |= read
        return Texts({row: found[row] for row in rows if row in found}, numbers)

    def _begin(self, analyser: int) -> None:
        self._numbers: defaultdict[str, int] = defaultdict(count().__next__)
        self._kept: dict[int, Wording] = {}
        self._terms, self._analyser = 0, analyser

    def _keep(self, read: dict[int, Wording]) -> None:
        """Add texts to the cache, dropping those read longest ago."""
        for row, wording in read.items():
            if row not in self._kept:
                self._kept[row] = wording
                self._terms += len(wording.numbers)
        while self._terms > MOST_TERMS:
            self._terms -= len(self._kept.pop(next(iter(self._kept))).numbers)


def _lines(session: Session, rows: Sequence[int]) -> list[_Line]:
    sql = session.statements("queries.sql")["wordings"]
    asked = {"rows": session.listed(rows), "begin": BEGINNING, "end": END}
    most, read = max(READ_AT_ONCE, len(rows) * READ_EACH), 0
    found: list[_Line] = []
    for line in map(_Line._make, session.execute(sql, asked)):
        if not all(isinstance(value, str) for value in (line.terms, line.begin, line.end)):
            raise UnreadableRow(f"the text of row {line.row} or its terms are none")
        found.append(line)
        read += len(line.terms)
        if read >= most or (read >= READ_ANYHOW and effort.is_late()):
            break
    return found


def _wording(line: _Line, numbers: Mapping[str, int]) -> Wording:
    import numpy as np

    from pieria.store.sql.tally import STOP, Wording

    terms = line.terms.split(" ") if line.terms else []
    each = np.array([*(numbers[term] for term in terms), STOP], dtype=np.int32)
    return Wording(each, line.length, len(set(terms)), glance(line.begin, line.end, line.characters))
