"""Keeps the codes of a SQLite bank in step with its vectors, in the same transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from pieria.store.sql.embedded import VectorRows
from pieria.store.sqlite.blocks import SIZE, block_of, coded, parts, width_of, written
from pieria.store.sqlite.session import SQLiteSession
from pieria.store.sqlite.statements import statements
from pieria.store.sqlite.sums import differing, with_sums

REMEMBERED_GONE = 20_000
"""A process that missed more deletions than this reloads the codes."""


class SQLiteVectorRows(VectorRows):
    def __init__(self, session: SQLiteSession, counters: dict[str, int]) -> None:
        super().__init__(session, counters)
        self._connection = session.connection
        self._sql = _with_codes()

    def sift(self) -> None:
        """Delete windows with members that some readers of their turn may not see, and mark them as pending."""
        sql = self._sql["windows_in_other_company"].format(company=self._sql["company"])
        found = self._session.execute(sql).fetchall()
        self._remove([entry for entry, _ in found])
        self._note((row, "window") for _, row in found if self._entries("turn_of_row", row))
        self._counters["unsifted"] = 0

    def mend(self) -> None:
        self._drop_damaged()
        super().mend()
        self._connection.execute(self._sql["mend.drop_blocks"])
        self.seal_all()
        # More deletions than are remembered, so that every process reloads the codes.
        self._counters["vector_gone"] += REMEMBERED_GONE + 1
        self._many("forget_gone", [(self._counters["vector_gone"],)])

    def _drop_damaged(self) -> None:
        """Delete vectors that differ from their checksums, and mark what they belong to as pending."""
        for (entry,) in differing(self._connection, "vector"):
            self._many("mend.pending_of", [(self._counters["seq"], entry)])
            self._erase_lines([entry])

    def seal_all(self) -> None:
        """Write every complete block of the current space."""
        held = self._current()
        if held is not None:
            self._stored(held[3] - 1, self._counters["vector_entry"], held[2])

    def _stored(self, before: int, last: int, dimension: int) -> None:
        for block in range(block_of(before + 1), block_of(last + 1)):
            self._seal(block, dimension)

    def _leaving(self) -> None:
        """Delete the codes first: without its vector, an erased memory's code could not be found."""
        self._connection.execute(self._sql["drop_old_blocks"])

    def _seal(self, block: int, dimension: int) -> None:
        """Write a complete block: from now on processes load its codes instead of its vectors."""
        range_of = (block * SIZE, (block + 1) * SIZE)
        held = coded(self._connection.execute(self._sql["entries_from"], range_of), dimension)
        if len(held.entries):
            self._many("put_block", [(block, written(held))])

    def _remove(self, entries: Sequence[int]) -> None:
        """Delete vectors with their codes, and record that for all processes that have loaded them."""
        if not entries:
            return
        self._erase_entries(entries)
        gone = self._counters["vector_gone"]
        self._many("note_gone", enumerate(entries, gone + 1))
        self._counters["vector_gone"] = gone + len(entries)
        self._many("forget_gone", [(self._counters["vector_gone"] - REMEMBERED_GONE,)])

    def _erase_entries(self, entries: Sequence[int]) -> None:
        self._erase_lines(entries)
        by_block: dict[int, list[int]] = {}
        for entry in entries:
            by_block.setdefault(block_of(entry), []).append(entry)
        for block, held in by_block.items():
            if self._connection.execute(self._sql["has_block"], (block,)).fetchone()[0]:
                self._blank(block, held)

    def _blank(self, block: int, entries: Sequence[int]) -> None:
        """Blank the entries in place: a block is large, and windows are rebuilt often."""
        with self._connection.blobopen("codes", "codes", block) as blob:
            width = width_of(len(blob))
            for entry in entries:
                for offset, length in parts(entry, width):
                    blob.seek(offset)
                    blob.write(bytes(length))

    def _many(self, statement: str, lines: Iterable[Any]) -> None:
        super()._many(statement, with_sums(statement, lines))


@cache
def _with_codes() -> Mapping[str, str]:
    return {**statements("vectors.sql"), **statements("codes.sql")}
