"""Fill Mnemosyne by its own code, import its store, export it again, and compare what Mnemosyne reads back.

`python -m benchmarks.originals mnemosyne --round-trip` runs this in the original's environment.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

os.environ["MNEMOSYNE_NO_EMBEDDINGS"] = "1"
STORE = "mnemosyne.db"
MEMORIES = 240
SESSIONS = ("planning", "operations", "default")
VERACITIES = ("stated", "inferred", "tool", "imported", "unknown")
ROWS = (
    "id, content, source, timestamp, session_id, importance, metadata_json, valid_until, superseded_by, scope, "
    "recall_count, last_recalled, created_at"
)
COMPARED = {
    "working_memory": f"{ROWS}, veracity, consolidated_at",
    "episodic_memory": f"{ROWS}, summary_of",
    "scratchpad": "id, content, session_id, created_at, updated_at",
    "triples": "subject, predicate, object, valid_from, valid_until, source, confidence",
    "annotations": "memory_id, kind, value, source, confidence",
}
"""Columns of each table that come back. An import by Mnemosyne itself leaves out the others."""
LISTED = {("episodic_memory", "scope"), ("triples", "added")}
"""Differences that `docs/importing.md` lists: a summary of private memories is private, canonical facts are triples."""


def fill(path: Path, memories: int) -> None:
    """Make a store with memories of three sessions, a summary, triples, canonical facts and scratchpads."""
    original = import_module("mnemosyne.core.memory").Mnemosyne
    opened = [
        original(session_id=session, db_path=path, author_id=f"author-{number}", author_type="human")
        for number, session in enumerate(SESSIONS)
    ]
    ids = []
    for number in range(memories):
        ids.append(
            opened[number % 3].remember(
                f"Note {number}: the {('harbour', 'airport', 'station')[number % 3]} plan has revision {number}.",
                source=("conversation", "tool", "file")[number % 3],
                importance=(number % 11) / 10,
                metadata={"number": number, "tags": ["plan"]} if number % 2 else {},
                valid_until="2099-01-01T00:00:00" if number % 10 == 4 else None,
                scope="global" if number % 4 else "session",
                veracity=VERACITIES[number % 5],
            )
        )
    opened[0].invalidate(ids[0], replacement_id=ids[3])
    opened[1].invalidate(ids[1])
    for number, one in enumerate(opened):
        one.scratchpad_write(f"To do in session {number}.")
    opened[1].beam.sleep(force=True)
    triples = import_module("mnemosyne.core.triples").TripleStore(db_path=path)
    for number in range(40):
        triples.add("Maya", "knows", f"topic {number}", valid_from="2025-01-01", confidence=0.8, supersede=False)
    for year, city in (("2023-01-01", "Oslo"), ("2024-05-06", "Rome"), ("2025-07-08", "Lisbon")):
        triples.add("Maya", "lives_in", city, valid_from=year)
    canonical = import_module("mnemosyne.core.canonical").CanonicalStore(db_path=path)
    canonical.remember("maya", "identity", "name", "Maya Ling")


def rows(path: Path, table: str, columns: str) -> list[dict[str, Any]]:
    base = sqlite3.connect(path)
    base.row_factory = sqlite3.Row
    found = [dict(row) for row in base.execute(f"SELECT {columns} FROM {table}")]  # noqa: S608
    base.close()
    return found


def differences(table: str, before: list[dict[str, Any]], after: list[dict[str, Any]]) -> Counter[str]:
    """Return the number of differing values by column, and of rows that are missing or added."""
    if "id" not in before[0]:
        left, right = (Counter(repr(row) for row in found) for found in (before, after))
        return +Counter(missing=(left - right).total(), added=(right - left).total())
    there = {row["id"]: row for row in after}
    found = Counter(missing=len({row["id"] for row in before} - there.keys()), added=len(after) - len(before))
    for row in before:
        told = there.get(row["id"], row)
        found.update(name for name, value in row.items() if not _is_same(name, value, told[name]))
    return +found


def _is_same(name: str, one: Any, other: Any) -> bool:
    if name == "metadata_json":
        return bool(json.loads(one or "{}") == json.loads(other or "{}"))
    return bool(one == other)


def main() -> int:
    from pieria import open as open_bank
    from pieria.exporters import export_to
    from pieria.importers import import_from

    with TemporaryDirectory() as name:
        folder = Path(name)
        first, second = folder / "first" / STORE, folder / "second" / STORE
        for path in (first, second):
            path.parent.mkdir()
        fill(first, MEMORIES)
        with open_bank("trip", data=folder / "data") as bank:
            tried = import_from(bank, "mnemosyne", first.parent, dry_run=True)
            report = import_from(bank, "mnemosyne", first.parent)
            again = import_from(bank, "mnemosyne", first.parent)
            out = export_to(bank, "mnemosyne", folder / "back.json")
        import_module("mnemosyne.core.memory").Mnemosyne(session_id="x", db_path=second).import_from_file(str(out.path))
        _say(f"imported {report.as_dict()}")
        _say(f"exported {dict(out.counts)}, left {dict(out.left)}")
        failed = int(tried.memories != report.memories or set(again.memories) != {"unchanged"})
        for table, columns in COMPARED.items():
            before, after = rows(first, table, columns), rows(second, table, columns)
            found = differences(table, before, after)
            lost = {name: number for name, number in found.items() if (table, name) not in LISTED}
            failed += bool(lost)
            listed = {name: number for name, number in found.items() if name not in lost}
            _say(f"{table}: {len(before)} there, {len(after)} back; lost: {lost or 'none'}; listed: {listed or 'none'}")
    return 1 if failed else 0


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main())
