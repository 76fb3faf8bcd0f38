"""The codes of a bank in this process, loaded once and kept up to date for all threads.

New entries are found by their number, which only grows; deleted ones by the list of the latest deletions. Each
transaction brings the codes up to its own snapshot. Newer codes do no harm: the transaction decides what exists and is
visible.
"""

from __future__ import annotations

import sqlite3
import threading
from typing import TYPE_CHECKING, NamedTuple

from pieria.store.sql.session import UnreadableRow
from pieria.store.sqlite.blocks import KINDS, SIZE, Entries, block_of, coded, read
from pieria.store.sqlite.codes import LEAST_ROOM, Codes, View
from pieria.store.sqlite.statements import statements
from pieria.store.vectors import code_width, unpacked

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

ROOM_TO_SPARE = 1.1


class Seen(NamedTuple):
    """A transaction's snapshot: the space, and its counters of entries, deletions, changes and versions."""

    space: int
    dimension: int
    first_entry: int
    entry: int
    gone: int
    seq: int
    documents: int


class Loaded:
    """The codes of one space up to an entry and a deletion."""

    def __init__(self, seen: Seen) -> None:
        self.space = seen.space
        self.dimension = seen.dimension
        self.entry = seen.first_entry - 1
        self.gone = seen.gone
        room = max(SIZE, int((seen.entry - self.entry) * ROOM_TO_SPARE))
        self._kinds = {kind: Codes(self.dimension, room if kind == "passage" else LEAST_ROOM) for kind in KINDS}
        self._sql = statements("codes.sql")

    def advance(self, connection: sqlite3.Connection, seen: Seen) -> bool:
        """Catch up with the transaction's snapshot. Return False if too many deletions were missed."""
        if seen.gone > self.gone and not self._drop(connection, seen):
            return False
        if seen.entry > self.entry:
            self._load(connection, seen)
        for codes in self._kinds.values():
            self._learn(connection, codes)
        return True

    def _drop(self, connection: sqlite3.Connection, seen: Seen) -> bool:
        import numpy as np

        found = connection.execute(self._sql["gone"], (self.gone,)).fetchall()
        if len(found) != seen.gone - self.gone:
            return False
        gone = np.array([entry for _, entry in found], dtype=np.int64)
        for codes in self._kinds.values():
            codes.drop(gone)
        self.gone = seen.gone
        return True

    def _load(self, connection: sqlite3.Connection, seen: Seen) -> None:
        width = code_width(self.dimension)
        for block, stored in connection.execute(self._sql["blocks"], (block_of(self.entry + 1),)):
            held = read(block, stored)
            if held.codes.shape[1] != width:
                raise UnreadableRow(f"block {block} of the codes")
            self._add(held)
            self.entry = max(self.entry, (block + 1) * SIZE - 1)
        if seen.entry > self.entry:
            tail = connection.execute(self._sql["entries_from"], (self.entry + 1, seen.entry + 1))
            self._add(coded(tail, self.dimension))
            self.entry = seen.entry

    def _add(self, held: Entries) -> None:
        for kind, codes in self._kinds.items():
            new = (held.kinds == KINDS[kind]) & (held.entries > self.entry)
            if new.any():
                codes.add(held.entries[new], held.rows[new], held.codes[new])

    def _learn(self, connection: sqlite3.Connection, codes: Codes) -> None:
        unknown = codes.unknown()
        if len(unknown):
            codes.learn(self._fetched(connection, unknown))

    def _fetched(self, connection: sqlite3.Connection, entries: NDArray[np.int64]) -> Floats:
        """Return vectors in the order of the entries; zeros for deleted ones."""
        import json

        import numpy as np

        found = connection.execute(self._sql["raw"], {"entries": json.dumps(entries.tolist())}).fetchall()
        vectors = np.zeros((len(entries), self.dimension), dtype=np.float32)
        if found:
            places = np.searchsorted(entries, [entry for entry, _ in found])
            vectors[places] = unpacked([vector for _, vector in found], self.dimension)
        return vectors

    def view(self, kind: str) -> View:
        return self._kinds[kind].view()

    def copy(self) -> Loaded:
        import copy

        other = copy.copy(self)
        other._kinds = {kind: codes.copy() for kind, codes in self._kinds.items()}
        return other


class Scan:
    def __init__(self, loaded: Loaded | None = None) -> None:
        self._loaded = loaded
        self._lock = threading.Lock()

    def view(self, connection: sqlite3.Connection, seen: Seen, kind: str) -> View:
        with self._lock:
            return self._level(connection, seen).view(kind)

    def _level(self, connection: sqlite3.Connection, seen: Seen) -> Loaded:
        loaded = self._loaded
        if loaded is not None and loaded.space > seen.space:
            return _loaded_anew(connection, seen)
        if loaded is not None and loaded.space == seen.space:
            try:
                if loaded.advance(connection, seen):
                    return loaded
            except BaseException:
                self._loaded = None
                raise
        self._loaded = _loaded_anew(connection, seen)
        return self._loaded

    def apart(self) -> Scan:
        """Return a private copy for a transaction that may be rolled back."""
        with self._lock:
            return Scan(None if self._loaded is None else self._loaded.copy())


def _loaded_anew(connection: sqlite3.Connection, seen: Seen) -> Loaded:
    loaded = Loaded(seen)
    loaded.advance(connection, seen)
    return loaded
