"""A checksum of each table of a bank's file: kept by triggers while we write, added up again by `doctor`.

The triggers belong to the connection, not to the file. The tables come from the schema, so a new one has a checksum.
"""

from __future__ import annotations

import sqlite3
from zlib import crc32

from pieria.store.sqlite.statements import statements

FILE = "sums.sql"


def watch(connection: sqlite3.Connection) -> None:
    """Keep the checksums with each write of this connection. Do nothing where it does so, or the file has none yet."""
    sql = statements(FILE)
    if connection.execute(sql["is_watched"]).fetchone()[0] or not connection.execute(sql["is_kept"]).fetchone()[0]:
        return
    register(connection)
    for table, columns in _tables(connection).items():
        new, old = (", ".join(f'{side}."{column}"' for column in columns) for side in ("NEW", "OLD"))
        for trigger in ("on_insert", "on_update", "on_delete"):
            connection.execute(sql[trigger].format(table=table, new=new, old=old))


def renew(connection: sqlite3.Connection) -> None:
    """Take what the tables hold now for right, as after a change of the schema."""
    sql = statements(FILE)
    if not connection.execute(sql["is_kept"]).fetchone()[0]:
        return
    connection.execute(sql["forget"])
    connection.executemany(sql["put"], list(added_up(connection).items()))


def differing(connection: sqlite3.Connection) -> list[str]:
    """Return the tables that do not hold what was written to them."""
    kept, found = dict(connection.execute(statements(FILE)["kept"])), added_up(connection)
    return sorted(name for name in kept.keys() | found.keys() if kept.get(name) != found.get(name))


def added_up(connection: sqlite3.Connection) -> dict[str, int]:
    register(connection)
    sql = statements(FILE)
    found = {}
    for table, columns in _tables(connection).items():
        row = ", ".join(f'"{column}"' for column in columns)
        found[table] = connection.execute(sql["add_up"].format(table=table, row=row)).fetchone()[0]
    return found


def register(connection: sqlite3.Connection) -> None:
    connection.create_function("pieria_sum", -1, _sum, deterministic=True)


def _tables(connection: sqlite3.Connection) -> dict[str, list[str]]:
    sql = statements(FILE)
    names = [name for (name,) in connection.execute(sql["tables"])]
    return {name: [column for (column,) in connection.execute(sql["columns"], (name,))] for name in names}


def _sum(*values: object) -> int:
    # A trigger sees 1 where a REAL column will hold 1.0.
    return crc32(repr([int(v) if isinstance(v, float) and v.is_integer() else v for v in values]).encode())
