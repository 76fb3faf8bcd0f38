"""The SQLite store's checks of itself: the file, the rules of the record, and each projection against its source."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from pieria.store.protocol import Finding
from pieria.store.sql.checks import REPAIR, RULES, analyser_finding, finding, purge_finding, rule_finding
from pieria.store.sql.reader import counters
from pieria.store.sqlite.blocks import SIZE, agree, block_of, coded
from pieria.store.sqlite.session import SQLiteSession
from pieria.store.sqlite.statements import statements

if TYPE_CHECKING:
    from pieria.store.sqlite.store import SQLiteStore


def findings(store: SQLiteStore) -> list[Finding]:
    sql = statements("queries.sql")
    found = []
    # Reading takes long in a large file, and nobody is kept from writing by it.
    with store.looking() as connection:
        said = [row[0] for row in connection.execute("PRAGMA integrity_check(5)")]
        found.append(finding("file", said == ["ok"], "integrity check passed", "; ".join(said)))
        for file, rules in RULES.items():
            for rule, meaning in rules.items():
                broken = connection.execute(statements(file)[f"check.{rule}"]).fetchone()[0]
                found.append(rule_finding(rule, broken, meaning))
        found.append(_codes(connection))
        held = counters(SQLiteSession(connection))
        found.append(purge_finding(held["unscrubbed"], store.now(), "of what was purged nothing is left in the file"))
        found.append(analyser_finding(held, store.analyser))
    with store.rehearsing() as connection:
        found.append(_text_index(connection, sql["check_index"]))
    return found


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
    except sqlite3.DatabaseError as problem:
        return Finding("text index", False, f"it differs from the record ({problem})", REPAIR)
    return Finding("text index", True, "it agrees with the record")
