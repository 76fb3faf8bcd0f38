"""Updates the planner's statistics earlier than the server would."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from psycopg.errors import LockNotAvailable

from pieria.store.postgres.driver import Connection
from pieria.store.postgres.statements import statements

FAR_OFF = 10
"""Plans are bad if the planner expects this many times fewer rows than there are."""
LOCK_MILLISECONDS = 2_000
"""Longer than autovacuum takes to give way."""
MANY = 1_000
"""With fewer rows any plan is good."""


def has_grown(before: Mapping[str, int], after: Mapping[str, int]) -> bool:
    """Return whether a large table has grown past a power of two."""
    return any(
        after[name] >= MANY and after[name].bit_length() > before[name].bit_length()
        for name in ("documents", "vector_entry")
    )


def count_anew(connection: Connection, bank: int, held: Mapping[str, int]) -> None:
    """Analyze the tables, unless the planner's row counts are about right.

    Autovacuum would do so a minute later, and a plan for a handful of rows takes minutes with thousands. A table that
    is locked for long is skipped.
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
