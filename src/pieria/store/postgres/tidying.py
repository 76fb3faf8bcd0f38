"""What a server does for its tables by itself, but later than it is needed: it takes away the rows that were marked as
gone, and counts what it plans by.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress

from psycopg.errors import Diagnostic, LockNotAvailable

from pieria.store.postgres.driver import Connection
from pieria.store.postgres.statements import statements

AGAIN = "`pieria doctor --repair` tries again"
BEYOND = (
    "the server's write-ahead log, its standbys and its own backups: they keep what was erased until they are recycled"
)
"""What no statement reaches."""
LOCKED = "55P03"
"""What the server calls a table that another is at."""
AGAIN_SECONDS = 0.05
FAR_OFF = 10
"""Times fewer rows than there are make bad plans."""
LOCK_MILLISECONDS = 2_000
"""Longer than the server's own tidying takes to get out of the way."""
MANY = 1_000
"""Of fewer rows any plan is a good one."""


def tidied(connection: Connection, seconds: float, again: str = AGAIN) -> list[str]:
    """Tables and their indexes, all at once. Waits so long for whoever stands in the way. Returns what could not be
    tidied up, and how it comes to be `again`.
    """
    deadline = time.monotonic() + seconds
    if readers := _looking_back(connection, deadline):
        return [f"what {readers} transactions of others may still read; {again}"]
    tables = connection.execute(statements("bank.sql")["tables"].encode()).fetchall()
    found = (_refused(connection, str(table), deadline, again) for table, _ in tables)
    return [said for said in found if said is not None]


def _looking_back(connection: Connection, deadline: float) -> int:
    """What a transaction may still see the server does not take away, and says nothing of that."""
    sql = statements("bank.sql")
    [(horizon,)] = connection.execute(sql["horizon"].encode()).fetchall()
    while True:
        [(number,)] = connection.execute(sql["looking_back"].encode(), {"horizon": horizon}).fetchall()
        if not number or time.monotonic() >= deadline:
            return int(number)
        time.sleep(AGAIN_SECONDS)


def _refused(connection: Connection, table: str, deadline: float, again: str) -> str | None:
    """What kept the table from being tidied up: the server passes over it, and only warns."""
    warned: list[tuple[str | None, str | None]] = []

    def note(said: Diagnostic) -> None:
        if said.severity_nonlocalized == "WARNING":
            warned.append((said.sqlstate, said.message_primary))

    connection.add_notice_handler(note)
    try:
        while True:
            warned.clear()
            connection.execute(f"VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF, SKIP_LOCKED) {table}".encode())
            if not warned:
                return None
            state, said = warned[0]
            if state != LOCKED:
                return f"{said}; {again} as its owner"
            if time.monotonic() >= deadline:
                return f"{said}; {again}"
            time.sleep(AGAIN_SECONDS)
    finally:
        connection.remove_notice_handler(note)


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
