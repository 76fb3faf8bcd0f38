"""One JSON document with lists of memories, facts and links. `pieria import --from jsonl` reads it, too."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from pieria.exporters import Exporter
from pieria.exporters.fields import encode, fact_values, link_values, memory_values

if TYPE_CHECKING:
    from pieria.bank.transfer.snapshot import Snapshot


def write(snapshot: Snapshot, path: Path) -> None:
    memories = (memory_values(memory, usage) for memory, usage in snapshot.memories())
    with path.open("w", encoding="utf-8", errors="replace") as file:
        file.write(f'{{"bank": {encode(snapshot.bank)}')
        write_list(file, "memories", memories)
        write_list(file, "facts", map(fact_values, snapshot.facts()))
        write_list(file, "links", map(link_values, snapshot.links()))
        file.write("}\n")


def write_list(file: TextIO, name: str, values: Iterable[Any]) -> None:
    """Write a member of an object whose value is a list, one element at a time."""
    file.write(f', "{name}": [')
    for number, value in enumerate(values):
        file.write(("," if number else "") + "\n" + encode(value))
    file.write("]")


EXPORTER = Exporter("json", "JSON", write)
