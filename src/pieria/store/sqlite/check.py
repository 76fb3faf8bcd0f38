"""The SQLite store's checks of itself: the file, the rules of the record, and each projection against its source."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from pieria.store.protocol import Finding
from pieria.store.sqlite.blocks import SIZE, agree, block_of, coded
from pieria.store.sqlite.reader import counters
from pieria.store.sqlite.statements import statements

if TYPE_CHECKING:
    from pieria.store.sqlite.store import SQLiteStore

RULES = {
    "rows": "every version belongs to a state",
    "states": "every state has its version",
    "open": "every memory stands in exactly one state",
    "gaps": "no stretch of known time is missing",
    "terms": "the text index has every version, and its counts agree",
    "journal": "known time never runs backwards",
}
QUEUE_RULES = {"jobs": "every job is in one state, under a lease while it runs, and with its end when it has ended"}
PURGE_TAKES = 120_000_000
"""Microseconds that another process may need to rewrite the file after it erased something."""
VECTOR_RULES = {
    "passages": "every version has its vectors or is still to be embedded",
    "windows": "every turn of a session has its window or is still to be embedded",
    "strays": "no vector is of what is not there",
}
MENDED = {*VECTOR_RULES, "codes"}
"""What making the codes again, and embedding again, mends."""
REBUILT = {"terms", "text index", "analyser"}
"""What building the text index again mends."""
SCRUBBED = {"purge"}
"""What rewriting the file mends."""
REPAIR = "Run `pieria doctor --repair`."
RESTORE = "Copy the file away, then bring back a backup with `pieria restore`."


def findings(store: SQLiteStore) -> list[Finding]:
    sql = statements("queries.sql")
    found = []
    # Reading takes long in a large file, and nobody is kept from writing by it.
    with store.looking() as connection:
        said = [row[0] for row in connection.execute("PRAGMA integrity_check(5)")]
        found.append(_finding("file", said == ["ok"], "integrity check passed", "; ".join(said)))
        for file, rules in (("queries.sql", RULES), ("vectors.sql", VECTOR_RULES), ("queue.sql", QUEUE_RULES)):
            for rule, meaning in rules.items():
                broken = connection.execute(statements(file)[f"check.{rule}"]).fetchone()[0]
                found.append(_finding(rule, broken == 0, meaning, f"{broken} against: {meaning}"))
        found.append(_codes(connection))
        found.append(_purge(connection.execute(sql["unfinished_purge"]).fetchone()[0], store.now()))
        found.append(_analyser(counters(connection), store.analyser))
    with store.rehearsing() as connection:
        found.append(_text_index(connection, sql["check_index"]))
    return found


def _finding(check: str, well: bool, good: str, bad: str) -> Finding:
    remedy = REPAIR if check in REBUILT | SCRUBBED | MENDED else RESTORE
    return Finding(check, well, good if well else bad, None if well else remedy)


def _codes(connection: sqlite3.Connection) -> Finding:
    """Each block against the vectors that it was made from."""
    sql = statements("vectors.sql")
    space = connection.execute(sql["space"]).fetchone()
    broken = 0
    if space is not None:
        _, _, dimension, first, _ = space
        for block in range(block_of(first), block_of(counters(connection)["vector_entry"] + 1)):
            within = (block * SIZE, (block + 1) * SIZE)
            held = coded(connection.execute(sql["entries_from"], within), dimension)
            stored = connection.execute(sql["block"], (block,)).fetchone()
            broken += not agree(block, stored and stored[0], held)
    good = "the codes of the vectors agree with them"
    return _finding("codes", not broken, good, f"{broken} blocks against: {good}")


def _purge(since: int, now: int) -> Finding:
    """`since` is when something was erased whose traces may still be in the file; 0 when nothing was."""
    if since and now - since < PURGE_TAKES:
        return Finding("purge", True, "one is being finished at this moment")
    return _finding("purge", not since, "of what was purged nothing is left in the file", "traces may be in the file")


def _analyser(held: dict[str, int], ours: int) -> Finding:
    version = held["analyser"]
    well = version == ours or not held["documents"]
    newer = "Upgrade Pieria: a newer one made the text index."
    return Finding("analyser", well, f"version {version}", None if well else newer if version > ours else REPAIR)


def _text_index(connection: sqlite3.Connection, statement: str) -> Finding:
    try:
        connection.execute(statement)
    except sqlite3.DatabaseError as problem:
        return Finding("text index", False, f"it differs from the record ({problem})", REPAIR)
    return Finding("text index", True, "it agrees with the record")
