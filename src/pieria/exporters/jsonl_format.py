"""JSON lines: every memory, fact and link. `pieria import --from jsonl` reads them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pieria.exporters import Exporter
from pieria.exporters.fields import encode, fact_values, link_values, memory_values

if TYPE_CHECKING:
    from pieria.bank.transfer.snapshot import Snapshot


def write(snapshot: Snapshot, path: Path) -> None:
    memories = (memory_values(memory, usage) for memory, usage in snapshot.memories())
    facts: Iterator[dict[str, Any]] = map(fact_values, snapshot.facts())
    with path.open("w", encoding="utf-8", errors="replace") as file:
        for values in chain(memories, facts, map(link_values, snapshot.links())):
            file.write(encode(values) + "\n")


EXPORTER = Exporter("jsonl", "JSON lines", write)
