"""A bank as the lines of an export: its journal, with the rows of each change after it.

It reads one snapshot and holds one change at a time. The caller decides where the lines go.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

from pieria.errors import CorruptError
from pieria.record.changeset import FACTS_STATED, FOREVER, PASSING
from pieria.record.time import micros
from pieria.record.usage import Usage
from pieria.store.protocol import Reader
from pieria.transfer.lines import FORMAT
from pieria.transfer.lines import written_line as line_of

USAGE_BATCH = 500
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode

Row = dict[str, Any]
T = TypeVar("T")


class Ahead(Generic[T]):
    """An iterator with a look at the next item. `next` is None at the end."""

    def __init__(self, items: Iterator[T]) -> None:
        self._items = items
        self.next: T | None = next(items, None)

    def take(self) -> T:
        taken = self.next
        assert taken is not None
        self.next = next(self._items, None)
        return taken


class Export:
    """The lines of one export. `counts` and `done` grow as lines are taken."""

    def __init__(self, reader: Reader, bank: str, exported_at: str) -> None:
        self._reader = reader
        self._head = reader.head()
        self._bank = bank
        self._exported_at = exported_at
        self.counts: Counter[str] = Counter()
        self.total = self._head.documents + self._head.seq
        self._has_usage = next(reader.dump("usage"), None) is not None

    @property
    def done(self) -> int:
        """Return how many of `total` are written: versions and changes."""
        return self.counts["content"] + self.counts["change"]

    def header(self) -> bytes:
        return _written(
            {
                "pieria": "export",
                "format": FORMAT,
                "bank": self._bank,
                "exported_at": self._exported_at,
                "seq": self._head.seq,
                "contents": self._head.documents,
                "analyser": self._head.analyser,
            }
        )

    def body(self) -> Iterator[bytes]:
        """Yield every line between header and end. Raise `CorruptError` if a row belongs to no change."""
        purged = Ahead(iter(sorted(self._reader.dump("purged"), key=lambda row: (row["at"], row["id"]))))
        contents = Ahead(self._reader.dump("content"))
        states, links, facts = (Ahead(self._reader.dump(table)) for table in ("state", "link", "fact"))
        for change in self._reader.dump("journal"):
            at = change["at"]
            yield self._line("change", change)
            while purged.next is not None and purged.next["at"] == at:
                yield self._line("purged", {"id": purged.take()["id"], "known_from": at})
            yield from self._memories(at, states, contents)
            while links.next is not None and links.next["known_from"] == at:
                yield self._line("link", links.take())
            while facts.next is not None and facts.next["known_from"] == at:
                yield self._line("fact", facts.take())
        rests: list[tuple[str, Ahead[Row]]] = [
            ("purged id", purged), ("state", states), ("version", contents), ("link", links), ("fact", facts),
        ]  # fmt: skip
        for name, rest in rests:
            if rest.next is not None:
                raise _no_change(name)
        yield from self._usage_of_nothing()
        for record in self._reader.dump("record"):
            if record["collection"] not in (*PASSING, FACTS_STATED):
                yield self._line("record", record)

    def end(self, sha256: str) -> bytes:
        return _written({"line": "end", "counts": dict(self.counts), "sha256": sha256})

    def _memories(self, at: int, states: Ahead[Row], contents: Ahead[Row]) -> Iterator[bytes]:
        last: list[str] = []
        while states.next is not None and states.next["known_from"] == at:
            state = states.take()
            if contents.next is not None and contents.next["row"] <= state["row"]:
                content = contents.take()
                if content["row"] != state["row"]:
                    raise _no_change("version")
                yield self._line("content", content)
            yield self._line("state", state)
            if self._has_usage and state["known_until"] == FOREVER:
                last.append(state["id"])
        for start in range(0, len(last), USAGE_BATCH):
            used = self._reader.usage(last[start : start + USAGE_BATCH])
            for id, usage in sorted(used.items()):
                yield self._line("usage", _usage_row(id, usage))

    def _usage_of_nothing(self) -> Iterator[bytes]:
        """Yield usage of ids that are no memory of this bank, and so have no change."""
        if not self._has_usage:
            return
        batch: list[Row] = []
        for row in self._reader.dump("usage"):
            batch.append(row)
            if len(batch) == USAGE_BATCH:
                yield from self._without_memory(batch)
                batch = []
        yield from self._without_memory(batch)

    def _without_memory(self, batch: list[Row]) -> Iterator[bytes]:
        held = self._reader.states([row["id"] for row in batch])
        for row in batch:
            if row["id"] not in held:
                yield self._line("usage", row)

    def _line(self, what: str, row: Row) -> bytes:
        self.counts[what] += 1
        return _written(line_of(what, row))


def _usage_row(id: str, usage: Usage) -> Row:
    return {
        "id": id,
        "accesses": usage.accesses,
        "last_access": None if usage.last_access is None else micros(usage.last_access),
        "reviews": usage.reviews,
        "last_review": None if usage.last_review is None else micros(usage.last_review),
        "crossings": usage.crossings,
        "rewards": usage.rewards,
        "rewarded": usage.rewarded,
        "spaced": usage.spaced,
    }


def _written(line: Row) -> bytes:
    return _encode(line).encode() + b"\n"


def _no_change(what: str) -> CorruptError:
    reason = f"a {what} in it belongs to no change of the journal"
    return CorruptError("export", reason, hint="Run `pieria doctor`. A backup still copies the whole bank.")
