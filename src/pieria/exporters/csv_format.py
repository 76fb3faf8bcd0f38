"""A table of memories for spreadsheets, one row each. Facts are rows of their own: the sentences that state them."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

from pieria.exporters import Exporter
from pieria.exporters.fields import encode, stamp
from pieria.record.memory import Memory

if TYPE_CHECKING:
    from pieria.bank.transfer.snapshot import Snapshot

COLUMNS = (
    "id", "kind", "title", "text", "tags", "at", "author", "session", "place", "source", "importance", "confidence",
    "valid_from", "valid_until", "status", "pinned", "accesses", "meta",
)  # fmt: skip
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""A cell that begins so is a formula to a spreadsheet."""


def write(snapshot: Snapshot, path: Path) -> None:
    with path.open("w", encoding="utf-8", errors="replace", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(COLUMNS)
        for memory, usage in snapshot.memories():
            rows.writerow([_safe(cell) for cell in (*_cells(memory), usage.accesses, _json(memory))])
        for fact in snapshot.facts():
            text = f"{fact.subject} {fact.predicate} {fact.object}"
            cells = {"id": fact.id, "kind": "fact", "text": text, "at": stamp(fact.known_from),
                     "source": fact.source, "confidence": fact.confidence, "valid_from": stamp(fact.valid_from),
                     "valid_until": stamp(fact.valid_until)}  # fmt: skip
            rows.writerow([_safe(cells.get(column)) for column in COLUMNS])
    snapshot.leave("links, which a table of memories cannot hold", sum(1 for _ in snapshot.links(counted=False)))


def _cells(memory: Memory) -> tuple[object, ...]:
    return (
        memory.id, memory.kind, memory.title, memory.text, "; ".join(memory.tags), stamp(memory.at), memory.author,
        memory.session, memory.place, memory.source, memory.importance, memory.confidence,
        stamp(memory.times.valid_from), stamp(memory.times.valid_until), memory.standing.status,
        "yes" if memory.pinned else "",
    )  # fmt: skip


def _json(memory: Memory) -> str:
    told = {**memory.body, **memory.meta}
    return encode(told) if told else ""


def _safe(cell: object) -> object:
    """Return the cell so that no spreadsheet runs it."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


EXPORTER = Exporter("csv", "a table", write)
