"""Bitmaps, kept in memory, of the versions that pass a filter's conditions: all others need not be checked.

A version that ever met a condition stays in its sieve. A version outside cannot be visible, now or at any past moment.
The predicate decides about those inside. The journal tells which states to add since the sieve was built.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pieria.record.filter import Filter
from pieria.store.sql.session import Session
from pieria.store.sql.visibility import COUNTED, SIEVES, Compiled, alone

if TYPE_CHECKING:
    from pieria.store.text import Rows

FIELDS = tuple(field for field in (*SIEVES, *reversed(COUNTED)) if field != "standing")
"""Usually selective fields first. Standing rules are missing: rebuilding the text index changes them without a journal
entry."""
NARROW = 1_000
"""At most this many are checked one by one, without a further sieve."""
AT_FIRST = 12_000
"""A sieve with more rows is built only when its condition is asked again."""
PART = 4
"""A condition that passes more than this fraction (1/4) of all versions gets no sieve."""
KEPT = 16
FOLLOWED = 500
"""After more changes than this a sieve is rebuilt."""
ROOM = 4_096

Key = tuple[str, tuple[tuple[str, str], ...]]


@dataclass(slots=True)
class Sieve:
    """Rows that pass a condition. If too many pass, `marks` is None and `number` is a lower bound."""

    seq: int
    number: int
    marks: bytearray | None = None
    """1 at each row that passes. Rows are only added, so reading needs no lock."""

    def kept(self, rows: Rows) -> Rows:
        """Return those of the rows that pass."""
        import numpy as np

        assert self.marks is not None
        # Read once: another thread may replace it with a longer one meanwhile.
        marks = np.frombuffer(self.marks, np.uint8)
        inside = rows[rows < len(marks)]
        return inside[marks[inside] > 0]

    def rows(self) -> Iterator[int]:
        assert self.marks is not None
        marks, row = self.marks, 0
        while (row := marks.find(1, row + 1)) > 0:
            yield row

    def add(self, rows: Iterable[int]) -> None:
        assert self.marks is not None
        for row in rows:
            if row >= len(self.marks):
                self.marks = self.marks.ljust(row + row // 8 + ROOM, b"\0")
            self.number += 1 - self.marks[row]
            self.marks[row] = 1


class Sieves:
    """Recently used sieves, shared by a store's threads. No thread holds the lock while it reads the bank."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[Key, Sieve] = OrderedDict()

    def of(self, session: Session, filter: Filter, seq: int, documents: int) -> Sieve | None:
        """Return the intersection of the sieves; None if no condition is selective. `seq` is the latest change."""
        whole: Sieve | None = None
        for field in FIELDS:
            condition = alone(session, filter, field)
            found = None if condition is None else self._level(session, condition, seq, documents)
            if found is not None and found.marks is not None:
                whole = found if whole is None else _both(whole, found)
            if whole is not None and whole.number <= NARROW:
                break
        return whole

    def _level(self, session: Session, asked: Compiled, seq: int, documents: int) -> Sieve:
        key = (asked.where, tuple((name, str(value)) for name, value in asked.params.items()))
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None:
                self._kept.move_to_end(key)
        if kept is None:
            return self._keep(key, _made(session, asked, seq, min(AT_FIRST, documents // PART)))
        is_old = documents // PART > 2 * kept.number if kept.marks is None else seq - kept.seq > FOLLOWED
        if is_old:
            return self._keep(key, _made(session, asked, seq, documents // PART))
        if kept.marks is not None and seq > kept.seq:
            sql = session.statements("queries.sql")["rows_since"].format(where=asked.where)
            rows = [row for (row,) in session.execute(sql, {**asked.params, "seq": kept.seq})]
            with self._lock:
                kept.add(rows)
                kept.seq = max(kept.seq, seq)
        return kept

    def _keep(self, key: Key, made: Sieve) -> Sieve:
        with self._lock:
            self._kept[key] = made
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return made


def _both(one: Sieve, other: Sieve) -> Sieve:
    """Return the intersection of two sieves at this moment."""
    assert one.marks is not None
    assert other.marks is not None
    size = min(len(one.marks), len(other.marks))
    kept = int.from_bytes(one.marks[:size], "little") & int.from_bytes(other.marks[:size], "little")
    marks = bytearray(kept.to_bytes(size, "little"))
    return Sieve(min(one.seq, other.seq), marks.count(1), marks)


def _made(session: Session, asked: Compiled, seq: int, most: int) -> Sieve:
    sql = session.statements("queries.sql")["count_to"].format(where=asked.where)
    if session.execute(sql, {**asked.params, "limit": most + 1}).fetchone()[0] > most:
        return Sieve(seq, most)
    made = Sieve(seq, 0, bytearray(ROOM))
    sql = session.statements("queries.sql")["sieve"].format(where=asked.where)
    made.add(
        sorted((row for (row,) in session.execute(sql, {**asked.params, "limit": session.unlimited})), reverse=True)
    )
    return made
