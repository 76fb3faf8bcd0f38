"""The checks of a SQLite bank: the file, the rules of the record, and each projection against its source."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pieria.store.protocol import Finding
from pieria.store.sql.checks import REPAIR, RESTORE, analyser_finding, every_rule, finding, purge_finding, rule_finding
from pieria.store.sql.reader import counters
from pieria.store.sqlite.blocks import SIZE, agree, block_of, coded
from pieria.store.sqlite.migrate import differs_from_schema
from pieria.store.sqlite.seal_driver import database_errors
from pieria.store.sqlite.session import SQLiteSession
from pieria.store.sqlite.statements import statements
from pieria.store.sqlite.sums import RECORD, differing

if TYPE_CHECKING:
    from pieria.store.sqlite.store import SQLiteStore


BESIDE_RULES = 7
"""Checks besides the rules: file, schema, the sums of record, terms and vectors, codes, text index."""
NAMED = 5
"""Differing items that a finding names."""


def findings(store: SQLiteStore) -> Iterator[Finding]:
    """Yield the findings that take reading the whole file."""
    # Reading a large file takes long, but blocks no writer.
    with store.new_reader() as connection:
        said = [row[0] for row in connection.execute("PRAGMA integrity_check(5)")]
        yield finding("file", said == ["ok"], "integrity check passed", "; ".join(said))
    with store.looking() as connection:
        yield _schema(connection)
        yield _sums(connection)
        yield _derived(connection, "terms", "term sums", "the terms of every version match their checksums")
        yield _derived(connection, "vector", "vector sums", "every vector matches its checksum")
        for file, rule, meaning in every_rule():
            broken = connection.execute(statements(file)[f"check.{rule}"]).fetchone()[0]
            yield rule_finding(rule, broken, meaning)
        yield _codes(connection)
    with store.rehearsing() as connection:
        yield _text_index(connection, statements("queries.sql")["check_index"])


def marks(store: SQLiteStore) -> list[Finding]:
    """Return the findings that follow from the bank's counters."""
    with store.looking() as connection:
        held = counters(SQLiteSession(connection))
    return [
        purge_finding(held["unscrubbed"], store.now(), "the file holds no purged data"),
        analyser_finding(held, store.analyser),
    ]


def _schema(connection: sqlite3.Connection) -> Finding:
    names = differs_from_schema(connection)
    return finding("schema", not names, "the tables have the expected schema", f"differing: {', '.join(names[:NAMED])}")


def _sums(connection: sqlite3.Connection) -> Finding:
    """Compare each row of the record with its checksum."""
    broken = {table: keys for table in RECORD if (keys := differing(connection, table))}
    good = "every row of the record matches its checksum"
    told = finding("sums", not broken, good, f"differ from their checksums: {', '.join(_counted(broken))}")
    damaged = _memories(connection, broken.get("content", []))
    if not damaged:
        return told
    named = f"{told.detail}; memories: {', '.join(damaged[:NAMED])}"
    return replace(told, detail=named, remedy=f"{RESTORE} Or purge those memories.")


def _counted(broken: dict[str, list[tuple[Any, ...]]]) -> Iterator[str]:
    for table, keys in broken.items():
        yield f"{len(keys)} row{'' if len(keys) == 1 else 's'} of `{table}`"


def _memories(connection: sqlite3.Connection, keys: list[tuple[Any, ...]]) -> list[str]:
    """Return the ids of damaged versions, taken from their states."""
    sql = statements("sums.sql")["ids"]
    return sorted({str(id) for key in keys for (id,) in connection.execute(sql, key)})


def _derived(connection: sqlite3.Connection, table: str, check: str, good: str) -> Finding:
    """Compare a derived table with its checksums. It can be repaired if the record is intact."""
    broken = len(differing(connection, table))
    return finding(check, not broken, good, f"{broken} row{'' if broken == 1 else 's'} of `{table}` differ")


def _codes(connection: sqlite3.Connection) -> Finding:
    """Compare each block with the vectors it was made from."""
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
    return finding("codes", not broken, good, f"{broken} blocks violate: {good}")


def _text_index(connection: sqlite3.Connection, statement: str) -> Finding:
    try:
        connection.execute(statement)
    except database_errors() as problem:
        return Finding("text index", False, f"it differs from the record ({problem})", REPAIR)
    return Finding("text index", True, "it agrees with the record")
