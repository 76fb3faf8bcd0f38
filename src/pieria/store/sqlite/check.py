"""The SQLite store's checks of itself: the file, the rules of the record, and each projection against its source."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pieria.store.protocol import Finding
from pieria.store.sql.checks import REPAIR, analyser_finding, every_rule, finding, purge_finding, rule_finding
from pieria.store.sql.reader import counters
from pieria.store.sqlite.blocks import SIZE, agree, block_of, coded
from pieria.store.sqlite.sealing import database_errors
from pieria.store.sqlite.session import SQLiteSession
from pieria.store.sqlite.statements import statements

if TYPE_CHECKING:
    from pieria.store.sqlite.store import SQLiteStore


BESIDE_RULES = 3
"""The file, the codes and the text index."""


def findings(store: SQLiteStore) -> Iterator[Finding]:
    """All that is read for these is the whole file."""
    # Reading takes long in a large one, and nobody is kept from writing by it.
    with store.looking() as connection:
        said = [row[0] for row in connection.execute("PRAGMA integrity_check(5)")]
        yield finding("file", said == ["ok"], "integrity check passed", "; ".join(said))
        for file, rule, meaning in every_rule():
            broken = connection.execute(statements(file)[f"check.{rule}"]).fetchone()[0]
            yield rule_finding(rule, broken, meaning)
        yield _codes(connection)
    with store.rehearsing() as connection:
        yield _text_index(connection, statements("queries.sql")["check_index"])


def marks(store: SQLiteStore) -> list[Finding]:
    """What the bank has noted down of itself."""
    with store.looking() as connection:
        held = counters(SQLiteSession(connection))
    return [
        purge_finding(held["unscrubbed"], store.now(), "of what was purged nothing is left in the file"),
        analyser_finding(held, store.analyser),
    ]


def _codes(connection: sqlite3.Connection) -> Finding:
    """Each block against the vectors that it was made from."""
    sql = statements("codes.sql")
    space = connection.execute(statements("vectors.sql")["space"]).fetchone()
    broken = 0
    if space is not None:
        _, _, dimension, first, _ = space
        for block in range(block_of(first), block_of(counters(SQLiteSession(connection))["vector_entry"] + 1)):
            within = (block * SIZE, (block + 1) * SIZE)
            held = coded(connection.execute(sql["entries_from"], within), dimension)
            stored = connection.execute(sql["block"], (block,)).fetchone()
            broken += not agree(block, stored and stored[0], held)
    good = "the codes of the vectors agree with them"
    return finding("codes", not broken, good, f"{broken} blocks against: {good}")


def _text_index(connection: sqlite3.Connection, statement: str) -> Finding:
    try:
        connection.execute(statement)
    except database_errors() as problem:
        return Finding("text index", False, f"it differs from the record ({problem})", REPAIR)
    return Finding("text index", True, "it agrees with the record")
