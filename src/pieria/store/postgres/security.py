"""Row security by bank: the server shows a transaction only the rows of the bank it names."""

from __future__ import annotations

from pieria.errors import UnsuitableError
from pieria.store.postgres.driver import Connection
from pieria.store.postgres.migrate import LOCK
from pieria.store.postgres.statements import statements

HOLDS = "bank = current_setting('pieria.bank', true)::integer"


def secure(connection: Connection) -> None:
    """Add the policy to every table that lacks it, and enforce it for the owner too. Raise `UnsuitableError` if it
    would not bind this user.
    """
    sql = statements("bank.sql")
    if connection.execute(sql["passes_by"].encode()).fetchone() == (True,):
        raise UnsuitableError(
            "open",
            "row security does not apply to this user, who is a superuser or bypasses it",
            hint="Connect as an ordinary user who owns the schema, or leave the setting row_security off.",
        )
    if not _open_tables(connection):
        return
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        for table in _open_tables(connection):
            connection.execute(f"DROP POLICY IF EXISTS by_bank ON {table}".encode())
            connection.execute(f"CREATE POLICY by_bank ON {table} USING ({HOLDS})".encode())
            connection.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY".encode())


def _open_tables(connection: Connection) -> list[str]:
    found = connection.execute(statements("bank.sql")["tables"].encode()).fetchall()
    return [str(name) for name, is_secured in found if not is_secured]
