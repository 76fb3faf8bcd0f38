"""Which tables of a bank's file have checksums, and over which columns. Python code writes the sums, not triggers."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from pieria.record.changeset import State
from pieria.store.sql.rows import sum_of
from pieria.store.sql.tables import TABLES
from pieria.store.sqlite.statements import statements

STEP = "sums"
"""The migration that adds the columns."""
ENDS = "known_until"
"""No sum covers this column, since closing a row changes it. An index and the rules of the record check it."""
RECORD = ("content", "state", "link", "fact", "record", "journal")
SUMMED = {
    **{table: tuple(column for column in TABLES[table].columns if column != ENDS) for table in RECORD},
    "state": ("row", *State._fields[1:], "known_from"),
    "terms": TABLES["terms"].columns,
    "vector": TABLES["vector"].columns,
}
"""The columns that a table's sum covers, in order."""
_REAL_COLUMNS = {
    "state": ("importance", "confidence", "strength", "trust"), "link": ("weight",), "fact": ("confidence",)
}  # fmt: skip
REAL = {table: tuple(map(SUMMED[table].index, names)) for table, names in _REAL_COLUMNS.items()}
"""Positions of columns that the file returns as floats."""
UNLIKE = -1
"""Replaces the sum of values that Pieria cannot have written."""
PINNED = SUMMED["state"].index("pinned")
_PLACES = {table: [TABLES[table].columns.index(name) for name in columns] for table, columns in SUMMED.items()}
WRITTEN = {
    "insert_content": "content", "insert_state": "state", "insert_link": "link", "insert_fact": "fact",
    "put_record": "record", "insert_journal": "journal", "insert_terms": "terms", "replace_terms": "terms",
    "insert_vector": "vector",
}  # fmt: skip
"""The statements that write such rows; their values are in the order of the sum, with the sum last."""


def with_sums(statement: str, rows: Iterable[Any]) -> Iterable[Any]:
    """Return the rows that a statement writes, with their sums if the table has them."""
    table = WRITTEN.get(statement)
    if table is None:
        return rows
    columns = len(SUMMED[table])
    return [(*row, row_sum(table, row[:columns])) for row in rows]


def row_sum(table: str, values: Sequence[Any]) -> int:
    """Return the sum of a row's values. Whole numbers and floats of equal value give the same sum."""
    if table in REAL:
        values = list(values)
        for place in REAL[table]:
            if values[place] is not None:
                values[place] += 0.0
        if table == "state":
            values[PINNED] += 0
    return sum_of(values)


def copied_sum(table: str, line: Sequence[Any]) -> int:
    """Return the sum of a table's row whose values are in the order of copying."""
    return row_sum(table, [line[place] for place in _PLACES[table]])


def fill(connection: sqlite3.Connection) -> None:
    """Compute sums from the current rows, for the migration that adds them."""
    for table in SUMMED:
        keys = TABLES[table].columns[: TABLES[table].keys]
        sql = statements("sums.sql")["fill"].format(table=table, key=", ".join(keys), places=", ".join("?" * len(keys)))
        connection.executemany(sql, ((made, *key) for key, _, made in _each(connection, table)))


def differing(connection: sqlite3.Connection, table: str) -> list[tuple[Any, ...]]:
    """Return the keys of the table's rows that differ from their sums."""
    return [key for key, held, made in _each(connection, table) if held != made]


def _each(connection: sqlite3.Connection, table: str) -> Iterator[tuple[tuple[Any, ...], int | None, int]]:
    """Yield each row's key, its stored sum, and the sum of its values."""
    keys = TABLES[table].keys
    sql = statements("sums.sql")["summed"].format(
        table=table, key=", ".join(TABLES[table].columns[:keys]), columns=", ".join(SUMMED[table])
    )
    with _any_text(connection):
        for row in connection.execute(sql):
            try:
                made = row_sum(table, row[keys + 1 :])
            except TypeError:
                made = UNLIKE
            yield row[:keys], row[keys], made


@contextmanager
def _any_text(connection: sqlite3.Connection) -> Iterator[None]:
    """Let the connection read text that is not UTF-8, so that damaged rows can be found."""
    held = connection.text_factory
    connection.text_factory = _lenient
    try:
        yield
    finally:
        connection.text_factory = held


def _lenient(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")
