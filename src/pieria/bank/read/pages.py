"""Cursors for pages of memories in an order of the store.

A cursor belongs to one query: another order or other filters refuse it.
"""

from __future__ import annotations

import hashlib

from pieria.record.changeset import FOREVER
from pieria.record.cursor import foreign, is_share, is_whole, parts_of, written
from pieria.record.filter import Filter
from pieria.record.memory import Memory
from pieria.record.time import micros


def _order_value(memory: Memory, order: str) -> float:
    if order == "important":
        return memory.importance
    return micros(memory.known_from if order == "changed" else memory.at)


def mark_of(bank: str, order: str, filter: Filter) -> str:
    """Return a digest of bank, order and filters, to check a cursor. The time of asking is not in it."""
    said = repr((bank, order, filter.having(now=0)))
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def cursor_after(last: Memory, mark: str, order: str) -> str:
    return written([mark, _order_value(last, order), last.row])


def after_in(cursor: str, mark: str, order: str) -> tuple[float, int]:
    expected = f"the cursor of a page in the order {order}, with the same filters"
    made_for, value, row = parts_of(cursor, expected, 3)
    is_value = is_share(value) if order == "important" else is_whole(value, -FOREVER, FOREVER)
    if made_for != mark or not is_value or not is_whole(row):
        raise foreign(cursor, expected)
    return value, row
