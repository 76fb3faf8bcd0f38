"""Which versions the conditions of a filter let through, each kept in memory: the others need not be asked about.

Whatever met the condition at any time stays in its sieve, so that what is not in it cannot be seen, now or as of any
past moment; of what is in it the predicate decides. The journal tells whose states came since it was made.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pieria.record.filter import Filter
from pieria.store.sql.session import Session
from pieria.store.sql.visibility import COUNTED, SIEVES, Compiled, alone

FIELDS = tuple(field for field in (*SIEVES, *reversed(COUNTED)) if field != "standing")
"""Those first that mostly let few through. Standing rules are noted anew with the text index, of which the journal
tells nothing."""
NARROW = 1_000
"""So few are asked about one by one: no other condition needs a sieve beside."""
AT_FIRST = 12_000
"""More are listed only for a condition that comes again."""
PART = 4
"""One that lets more than this part of all versions through is no sieve."""
KEPT = 16
FOLLOWED = 500
"""After more changes than this a sieve is made anew."""
ROOM = 4_096

Key = tuple[str, tuple[tuple[str, str], ...]]


@dataclass(slots=True)
class Sieve:
    """Of a condition that lets too many through only the number is known that it exceeds."""

    seq: int
    number: int
    marks: bytearray | None = None
    """1 at each row that is let through. Never shrinks, so that whoever looks into it may do so unlocked."""

    def kept(self, rows: Iterable[int]) -> list[int]:
        """Those of them that it lets through."""
        assert self.marks is not None
        # Read once: another thread may put a longer one in its place meanwhile.
        marks = self.marks
        beyond = len(marks)
        return [row for row in rows if row < beyond and marks[row]]

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
    """Those that were asked for of late. A store's threads share them; none holds the lock while it reads the bank."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[Key, Sieve] = OrderedDict()

    def of(self, session: Session, filter: Filter, seq: int, documents: int) -> Sieve | None:
        """All of them as one; None where no condition lets few enough through. `seq` is the latest change's."""
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
    """What both let through, as they are now."""
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
