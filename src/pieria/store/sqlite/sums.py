"""Which rows of a bank's file have a checksum, and of which columns. Our own code writes the sums, and no trigger."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from pieria.record.changeset import State
from pieria.store.sql.sums import sum_of
from pieria.store.sql.tables import TABLES
from pieria.store.sqlite.statements import statements

STEP = "sums"
"""The migration that adds the columns."""
ENDS = "known_until"
"""It changes when a row is closed, so no sum has it: an index holds it, and so do the rules of the record."""
RECORD = ("content", "state", "link", "fact", "record", "journal")
SUMMED = {
    **{table: tuple(column for column in TABLES[table].columns if column != ENDS) for table in RECORD},
    "state": ("row", *State._fields[1:], "known_from"),
    "terms": TABLES["terms"].columns,
    "vector": TABLES["vector"].columns,
}
"""The columns that a sum is of, in its order, by table."""
_REAL_COLUMNS = {
    "state": ("importance", "confidence", "strength", "trust"), "link": ("weight",), "fact": ("confidence",)
}  # fmt: skip
REAL = {table: tuple(map(SUMMED[table].index, names)) for table, names in _REAL_COLUMNS.items()}
"""Where numbers stand that the file gives back as floats."""
UNLIKE = -1
"""In place of a sum, of values that no code of ours could have written."""
PINNED = SUMMED["state"].index("pinned")
_PLACES = {table: [TABLES[table].columns.index(name) for name in columns] for table, columns in SUMMED.items()}
WRITTEN = {
    "insert_content": "content", "insert_state": "state", "insert_link": "link", "insert_fact": "fact",
    "put_record": "record", "insert_journal": "journal", "insert_terms": "terms", "replace_terms": "terms",
    "insert_vector": "vector",
}  # fmt: skip
"""The statements that write such rows, with the values in the order of the sum, and the sum last."""


def with_sums(statement: str, rows: Iterable[Any]) -> Iterable[Any]:
    """Return what a statement writes, each row of a table that has sums with its own."""
    table = WRITTEN.get(statement)
    if table is None:
        return rows
    columns = len(SUMMED[table])
    return [(*row, row_sum(table, row[:columns])) for row in rows]


def row_sum(table: str, values: Sequence[Any]) -> int:
    """Return the sum of a row's values, whichever way Python and the file spell a number."""
    if table in REAL:
        values = list(values)
        for place in REAL[table]:
            if values[place] is not None:
                values[place] += 0.0
        if table == "state":
            values[PINNED] += 0
    return sum_of(values)


def copied_sum(table: str, line: Sequence[Any]) -> int:
    """Return the sum of a line of a table, in the order in which tables are copied."""
    return row_sum(table, [line[place] for place in _PLACES[table]])


def fill(connection: sqlite3.Connection) -> None:
    """Take what the tables hold now for right, as the migration that adds the sums does."""
    for table in SUMMED:
        keys = TABLES[table].columns[: TABLES[table].keys]
        sql = statements("sums.sql")["fill"].format(table=table, key=", ".join(keys), places=", ".join("?" * len(keys)))
        connection.executemany(sql, ((made, *key) for key, _, made in _each(connection, table)))


def differing(connection: sqlite3.Connection, table: str) -> list[tuple[Any, ...]]:
    """Return the keys of the rows of a table that do not hold what was written to them."""
    return [key for key, held, made in _each(connection, table) if held != made]


def _each(connection: sqlite3.Connection, table: str) -> Iterator[tuple[tuple[Any, ...], int | None, int]]:
    """Yield each row's key, the sum that the file has, and the sum of its values."""
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
    """Read text that is not UTF-8 as well: it was damaged, and is to be found."""
    held = connection.text_factory
    connection.text_factory = _lenient
    try:
        yield
    finally:
        connection.text_factory = held


def _lenient(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")
