"""Carries a store of CortexGraph here and back: memories in every status, used and reviewed, and relations."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

MEMORIES, RELATIONS = 240, 180
MADE = 1_767_225_600
DAY = 86_400
TYPES = ("related", "causes", "supports", "contradicts", "has_decision", "consolidated_from")
LISTED = ("embed", "review_priority")
"""Fields that are computed again: they are no loss."""


def opened(folder: Path) -> Any:
    store = import_module("cortexgraph.storage.jsonl_storage").JSONLStorage(storage_path=folder)
    store.connect()
    return store


def fill(store: Any, *, memories: int, relations: int) -> None:
    models: Any = import_module("cortexgraph.storage.models")
    uuids: Any = import_module("uuid")
    ids = [str(uuids.uuid5(uuids.NAMESPACE_URL, f"memory {number}")) for number in range(memories)]
    for number, id in enumerate(ids):
        status = ("active", "active", "promoted", "archived")[number % 4]
        meta = models.MemoryMetadata(
            tags=["team", f"topic-{number % 9}"], source=("chat", None)[number % 2],
            context=(None, "stand-up")[number % 2], extra={"ticket": number, "parts": ["a", "b"]},
        )  # fmt: skip
        made = MADE + number * DAY // 3
        reviewed = number % 3 == 0
        store.save_memory(
            models.Memory(
                id=id, content=f"Note {number}: Maya chose plan {number * 7}.\n\nÉ 東京.", meta=meta, created_at=made,
                last_used=made + 5 * DAY, use_count=number % 6, strength=1.0 + number % 10 / 10, status=status,
                promoted_at=made + DAY if status == "promoted" else None,
                promoted_to=f"STM/note-{number}.md" if status == "promoted" else None, entities=["Maya", "plan"],
                last_review_at=made + 4 * DAY if reviewed else None, review_count=2 if reviewed else 0,
                cross_domain_count=number % 2, review_priority=0.5, embed=[0.5] * 8,
            )
        )  # fmt: skip
    for number in range(relations):
        store.create_relation(
            models.Relation(
                id=str(uuids.uuid5(uuids.NAMESPACE_URL, f"relation {number}")), from_memory_id=ids[number],
                to_memory_id=ids[(number * 7 + 1) % memories], relation_type=TYPES[number % len(TYPES)],
                strength=number % 10 / 10, created_at=MADE + number, metadata={"by": "hand"},
            )
        )  # fmt: skip


def differences(before: Iterable[Any], after: Iterable[Any], *, key: str = "id") -> Counter[str]:
    """Return the number of differing values by field, and of rows that are missing or added."""
    left, right = ({row[key]: row for row in (one.model_dump(mode="json") for one in rows)} for rows in (before, after))
    found = Counter(missing=len(left.keys() - right.keys()), added=len(right.keys() - left.keys()))
    for id in left.keys() & right.keys():
        found.update(name for name, value in left[id].items() if value != right[id][name])
    return +found


def main() -> int:
    from pieria import open as open_bank
    from pieria.exporters import export_to
    from pieria.importers import import_from

    with TemporaryDirectory() as name:
        folder = Path(name)
        first = opened(folder / "first")
        fill(first, memories=MEMORIES, relations=RELATIONS)
        with open_bank("trip", data=folder / "data") as bank:
            tried = import_from(bank, "mnemex", folder / "first", dry_run=True)
            report = import_from(bank, "mnemex", folder / "first")
            again = import_from(bank, "mnemex", folder / "first")
            out = export_to(bank, "mnemex", folder / "second")
        second = opened(out.path)
        _say(f"imported {report.as_dict()}")
        _say(f"exported {dict(out.counts)}, left {dict(out.left)}")
        failed = int(tried.memories != report.memories or set(again.memories) != {"unchanged"})
        failed += _compared("memories", first.list_memories(), second.list_memories())
        failed += _compared("relations", first.get_all_relations(), second.get_all_relations())
    return 1 if failed else 0


def _compared(what: str, before: list[Any], after: list[Any]) -> int:
    found = differences(before, after)
    lost = {name: number for name, number in found.items() if name not in LISTED}
    listed = {name: number for name, number in found.items() if name in LISTED}
    _say(f"{what}: {len(before)} there, {len(after)} back; lost: {lost or 'none'}; listed: {listed or 'none'}")
    return bool(lost)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main())
