"""Vector indexes, one set for each bank that is too large to be compared whole.

An index only adds speed: a bank gives its answers without it. It is built on request while others read and write.
Building twice, or again after an interruption, does no harm.
"""

from __future__ import annotations

from typing import NamedTuple

from pieria.errors import BusyError
from pieria.store.postgres.driver import Connection
from pieria.store.postgres.near import index_name
from pieria.store.postgres.session import PostgresSession
from pieria.store.postgres.statements import statements
from pieria.store.protocol import Finding
from pieria.store.sql.checks import REPAIR

OUTGROWN = 20_000
"""This many vectors are compared in about 15 ms; beyond that an index costs less."""
LONGEST = 4_000
"""Highest dimension that pgvector indexes."""
CHECK = "vector index"
BUILDING = 0x5058
"""Separates the locks for building indexes from those for writing to banks."""


class Kind(NamedTuple):
    what: str
    vectors: int
    space: int
    dimension: int
    indexed: bool

    @property
    def wants_index(self) -> bool:
        return self.vectors > OUTGROWN and self.dimension <= LONGEST and not self.indexed


def _kinds(session: PostgresSession) -> list[Kind]:
    return list(map(Kind._make, session.execute(session.statements("indexing.sql")["kinds"]).fetchall()))


def index_finding(session: PostgresSession) -> Finding:
    kinds = _kinds(session)
    unfinished = [name for name, is_left in session.execute(session.statements("indexing.sql")["built"]) if is_left]
    wanted = [kind for kind in kinds if kind.wants_index]
    if wanted:
        said = ", ".join(f"{kind.vectors:,} {kind.what}s" for kind in wanted)
        return Finding(CHECK, True, f"compared one by one, which takes long: {said}", REPAIR)
    if unfinished:
        return Finding(CHECK, True, f"unfinished or of a former space: {', '.join(unfinished)}", REPAIR)
    indexed = [f"{kind.vectors:,} {kind.what}s" for kind in kinds if kind.indexed]
    return Finding(CHECK, True, f"serves {', '.join(indexed)}" if indexed else "needless: the bank is compared whole")


def build(connection: Connection, bank: int) -> list[str]:
    """Drop useless indexes and build missing ones. Return the names of those built.

    Needs a connection of its own, which the caller closes. Does nothing if another process is building.
    """
    sql = statements("indexing.sql")
    [(alone,)] = connection.execute(sql["lock"].format(namespace=BUILDING, bank=bank).encode()).fetchall()
    if not alone:
        return []
    connection.execute(sql["unhurried"].format(bank=bank).encode())
    asked = {"bank": bank}
    for name, is_left in connection.execute(sql["built"].encode(), asked).fetchall():
        if is_left:
            connection.execute(sql["drop"].format(name=name).encode())
    kinds = map(Kind._make, connection.execute(sql["kinds"].encode(), asked).fetchall())
    return [_built(connection, bank, kind) for kind in kinds if kind.wants_index]


def unindex(connection: Connection, bank: int, seconds: float) -> None:
    """Drop every index of a bank before its removal, and block new ones until the connection closes.

    If interrupted, the bank is compared whole. Indexes are dropped concurrently: within the removing transaction that
    would block the queries of all other banks.
    """
    sql = statements("indexing.sql")
    [(alone,)] = connection.execute(sql["lock"].format(namespace=BUILDING, bank=bank).encode()).fetchall()
    if not alone:
        hint = "Remove the bank once that is done; nothing was changed."
        raise BusyError("remove", "another process is building an index of this bank", hint=hint)
    connection.execute(sql["unhurried"].format(bank=bank).encode())
    connection.execute(f"SET lock_timeout = {max(1, round(1000 * seconds))}".encode())
    for name, _ in connection.execute(sql["built"].encode(), {"bank": bank}).fetchall():
        connection.execute(sql["drop"].format(name=name).encode())


def _built(connection: Connection, bank: int, kind: Kind) -> str:
    sql = statements("indexing.sql")
    name = index_name(bank, kind.space, kind.what)
    connection.execute(sql["memory"].encode(), {"vectors": kind.vectors, "dimension": kind.dimension})
    made = sql["build"].format(name=name, bank=bank, space=kind.space, kind=kind.what, dimension=kind.dimension)
    connection.execute(made.encode())
    connection.execute(sql["analyse"].encode())
    return name
