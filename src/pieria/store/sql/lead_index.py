"""Chooses the condition of a filter whose index a search should use.

SQLite keeps no counts by value and takes any indexed condition for a selective one. To list the newest notes, it would
collect and sort every note. So the values are counted first, in the index alone and only up to a limit.
"""

from __future__ import annotations

from pieria.record.filter import Filter
from pieria.store.sql.session import Session
from pieria.store.sql.visibility import COUNTED, Compiled, alone, compiled

NARROW = 1_000
"""Up to this many rows are read faster through their index than by scanning in order."""


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
