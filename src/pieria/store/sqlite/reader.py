"""The read transaction on a SQLite file. Copies and exports of whole tables are checked against checksums."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pieria.record.changeset import Content
from pieria.store.sql.reader import SQLReader
from pieria.store.sql.session import DamagedMemory, UnreadableRow
from pieria.store.sql.tables import TABLES
from pieria.store.sqlite.seal_driver import operational_errors
from pieria.store.sqlite.statements import statements
from pieria.store.sqlite.sums import SUMMED, copied_sum, row_sum


class SQLiteReader(SQLReader):
    def contents(self, rows: Sequence[int]) -> dict[int, Content]:
        try:
            return super().contents(rows)
        except operational_errors() as problem:
            if "UTF-8" not in str(problem):
                raise
            raise UnreadableRow("a text is not UTF-8") from problem

    def lines(self, table: str) -> Iterator[Sequence[Any]]:
        if table not in SUMMED:
            yield from super().lines(table)
            return
        columns, keys, _ = TABLES[table]
        sql = statements("sums.sql")["lines.summed"].format(
            table=table, columns=", ".join(columns), keys=", ".join(columns[:keys])
        )
        for *line, held in self._session.execute(sql):
            if held != copied_sum(table, line):
                raise _unlike(table, line[0], line[1])
            yield line

    def dump(self, table: str) -> Iterator[dict[str, Any]]:
        for line in super().dump(table):
            if table in SUMMED and line.pop("sum") != row_sum(table, [line[column] for column in SUMMED[table]]):
                raise _unlike(table, *list(line.values())[:2])
            yield line


def _unlike(table: str, first: Any, second: Any) -> UnreadableRow:
    if table == "content":
        return DamagedMemory(first, second)
    return UnreadableRow(f"{first} in {table} differs from its checksum")
