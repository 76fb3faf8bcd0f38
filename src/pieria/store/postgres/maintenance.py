"""What a server does for its tables by itself, but later than it is needed: it counts what it plans by."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from psycopg.errors import LockNotAvailable

from pieria.store.postgres.driver import Connection
from pieria.store.postgres.statements import statements

FAR_OFF = 10
"""Times fewer rows than there are make bad plans."""
LOCK_MILLISECONDS = 2_000
"""Longer than the server's own tidying takes to get out of the way."""
MANY = 1_000
"""Of fewer rows any plan is a good one."""


def has_grown(before: Mapping[str, int], after: Mapping[str, int]) -> bool:
    """Past a power of two, and of much."""
    return any(
        after[name] >= MANY and after[name].bit_length() > before[name].bit_length()
        for name in ("documents", "vector_entry")
    )


def count_anew(connection: Connection, bank: int, held: Mapping[str, int]) -> None:
    """Unless the server plans by about as much. By itself it counts a minute later, and what was planned for a handful
    of rows takes minutes with thousands. A table at which another is for long is left for another time.
    """
    sql = statements("bank.sql")
    expected = {"state": held["documents"], "embedded": held["vector_entry"]}
    with connection.transaction():
        connection.execute(f"SET LOCAL pieria.bank = {bank}".encode())
        if all(_planned(connection, table, bank) * FAR_OFF >= number for table, number in expected.items()):
            return
    for table, _ in connection.execute(sql["tables"].encode()).fetchall():
        with suppress(LockNotAvailable), connection.transaction():
            connection.execute(f"SET LOCAL lock_timeout = {LOCK_MILLISECONDS}".encode())
            connection.execute(f"ANALYZE {table}".encode())


def _planned(connection: Connection, table: str, bank: int) -> int:
    asked = statements("bank.sql")["planned"].format(table=table, bank=bank)
    [(explained,)] = connection.execute(asked.encode()).fetchall()
    return int(explained[0]["Plan"]["Plan Rows"])
