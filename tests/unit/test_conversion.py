"""A converted bank is compared with the file it was made from, row by row."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pieria.errors import CorruptError
from pieria.store.sqlite.conversion import _compare


@pytest.mark.parametrize("rows", [["one"], ["one", "two", "three"], ["one", "other"]])
def test_a_copy_with_other_rows_is_refused(rows: list[str]) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("ATTACH DATABASE ':memory:' AS made")
        for name, texts in (("main", ["one", "two"]), ("made", rows)):
            connection.execute(f"CREATE TABLE {name}.note (text TEXT)")
            connection.executemany(f"INSERT INTO {name}.note VALUES (?)", [(text,) for text in texts])
        with pytest.raises(CorruptError, match="note"):
            _compare(connection, Path("bank.pieria"), "seal", None)
