"""Indexes over the vectors of banks that have outgrown being compared whole, each bank's its own.

An index is nothing but speed: a bank answers without it. It is built when somebody asks for it, while others read and
write, and building it twice, or again after it was broken off, does no harm.
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
"""So many vectors are compared in about 15 ms; from there on it is the index that costs less."""
LONGEST = 4_000
"""Numbers of a vector that pgvector indexes."""
CHECK = "vector index"
BUILDING = 0x5058
"""Sets the locks of those who build apart from those of banks' turns."""


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
    """Takes away what is of no use any more and builds what is wanted. Returns the names of what was built.

    On a connection of its own, which is closed then. Where another process is at it, nothing is done.
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
    """Drops every index of a bank that is about to be removed, and lets nobody build another as long as the connection
    lasts. Whoever is broken off leaves a bank that is compared whole.

    Beside others: within the removing transaction it would hold up the questions of all other banks.
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
