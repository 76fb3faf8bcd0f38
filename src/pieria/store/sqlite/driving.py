"""Which condition of a filter shall lead a search to its rows.

SQLite keeps no counts by value, and takes any indexed condition for a selective one: a list of the newest notes would
collect and sort every note. So the values are counted first, in the index alone and no further than it takes to tell.
"""

from __future__ import annotations

import sqlite3

from pieria.record.filter import Filter
from pieria.store.sqlite.statements import statements
from pieria.store.sqlite.visibility import COUNTED, Compiled, alone, compiled

NARROW = 1_000
"""As many rows are read sooner by themselves than found among all others."""


def driver(connection: sqlite3.Connection, filter: Filter) -> str | None:
    """The field that lets the fewest versions through; None where each lets many."""
    fewest, best = NARROW + 1, None
    for field in COUNTED:
        asked = alone(filter, field)
        if asked is not None:
            sql = statements("queries.sql")["count_to"].format(where=asked.where)
            number = connection.execute(sql, {**asked.params, "limit": fewest}).fetchone()[0]
            if number < fewest:
                fewest, best = number, field
    return best


def driven(connection: sqlite3.Connection, filter: Filter) -> Compiled:
    """The predicate for a scan, with its rows found the shortest way."""
    return compiled(filter, driver=driver(connection, filter))
