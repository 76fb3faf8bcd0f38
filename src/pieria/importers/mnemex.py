"""Mnemex, also called CortexGraph: the folder of its store, two files of JSON lines.

The last line of an id counts, and a line may delete it. Vectors are not read: a bank makes its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pieria.errors import InputError, TransferError
from pieria.importers import Importer
from pieria.importers.files import json_values
from pieria.importers.items import Item, Left, LinkItem, MemoryItem, Problem
from pieria.importers.source import Source
from pieria.importers.values import moment_of, name_of, names_of, number_of, object_of, text_of, without_nothing
from pieria.mining.said import excerpt
from pieria.record import check
from pieria.record.draft import NewMemory
from pieria.record.memory import GIVEN_STATUSES
from pieria.record.time import iso
from pieria.record.usage import Usage

MEMORIES, RELATIONS = "memories.jsonl", "relations.jsonl"
FOLDERS = ("CORTEXGRAPH_STORAGE_PATH", "MNEMEX_STORAGE_PATH")
EXPECTS = f"the folder of a store of Mnemex or CortexGraph, with {MEMORIES}, such as ~/.config/cortexgraph/jsonl"
DELETED = "memories and relations deleted in Mnemex"
TO_ITSELF = "relations of a memory to itself"
OPEN = "relations whose memory is not in the store"
STRENGTH = 2.0
"""The greatest strength of a memory."""
HOMES = (
    *("id", "content", "meta", "created_at", "last_used", "use_count", "strength", "status", "embed", "entities"),
    *("review_priority", "last_review_at", "review_count", "cross_domain_count"),
)
"""Fields with a place in a bank, or that a bank derives. Others go to `meta`."""
Row = Mapping[str, Any]


def read(source: Source) -> Iterator[Item]:
    folder = source.path.parent if source.path.name in (MEMORIES, RELATIONS) else source.path
    if not (folder / MEMORIES).is_file():
        raise TransferError(folder, f"there is no {MEMORIES} in it", hint=f"Expected {EXPECTS}.")
    known: dict[str, int] = {}
    for found in _last(source, folder / MEMORIES, known):
        yield found if isinstance(found, Problem | Left) else _memory(*found)
    if (folder / RELATIONS).is_file():
        for found in _last(source, folder / RELATIONS, {}):
            yield found if isinstance(found, Problem | Left) else _link(*found, known)


def _last(source: Source, path: Path, last: dict[str, int]) -> Iterator[tuple[Row, str] | Problem | Left]:
    """Yield the last row of each id with its place, after what cannot be read. `last` gets the ids."""
    deleted = 0
    for number, found in enumerate(json_values(source, path)):
        if isinstance(found, Problem | Left):
            yield found
            continue
        id = name_of(found.value.get("id")) if isinstance(found.value, Mapping) else None
        if id is None:
            yield Problem(found.where, "expected an object with id", excerpt(found.value))
        elif found.value.get("_deleted") is True:
            deleted += last.pop(id, None) is not None
        else:
            last[id] = number
    if deleted:
        yield Left(DELETED, deleted)
    chosen = set(last.values())
    for number, found in enumerate(json_values(source, path)):
        if number in chosen and not isinstance(found, Problem | Left):
            yield found.value, found.where


def _memory(row: Row, where: str) -> Item:
    text = text_of(row.get("content"))
    if text is None:
        return Problem(where, "expected an object with content", excerpt(row))
    theirs, extra = object_of(row.get("meta")), {}
    try:
        extra = object_of(theirs.get("extra"))
        check.mapping(extra, "extra")
    except InputError:
        return Problem(where, "expected in meta.extra what a bank can store", excerpt(row))
    status = row.get("status")
    new = NewMemory(
        text,
        tags=names_of(theirs.get("tags")),
        entities=names_of(row.get("entities")),
        source=name_of(theirs.get("source")),
        context=text_of(theirs.get("context")),
        at=moment_of(row.get("created_at")),
        strength=number_of(row.get("strength"), 1.0, 0.0, STRENGTH),
        meta=extra | _kept(row),
    )
    usage = Usage(
        _count(row, "use_count"), moment_of(row.get("last_used")) or moment_of(row.get("created_at")),
        _count(row, "review_count"), moment_of(row.get("last_review_at")), _count(row, "cross_domain_count"),
    )  # fmt: skip
    known = status if isinstance(status, str) and status in GIVEN_STATUSES else "active"
    return MemoryItem(str(row["id"]), new, known, "settled" if known == "promoted" else "working", usage)


def _kept(row: Row) -> dict[str, Any]:
    """Return the fields without a place in a bank, times in words."""
    promoted = moment_of(row.get("promoted_at"))
    rest = {name: value for name, value in row.items() if name not in HOMES}
    return without_nothing(rest | {"promoted_at": None if promoted is None else iso(promoted)})


def _count(row: Row, name: str) -> int:
    return int(number_of(row.get(name), 0, 0, 10**9))


def _link(row: Row, where: str, known: Mapping[str, int]) -> Item:
    source, target, relation = row.get("from_memory_id"), row.get("to_memory_id"), name_of(row.get("relation_type"))
    if not isinstance(source, str) or not isinstance(target, str) or relation is None:
        return Problem(where, "expected from_memory_id, to_memory_id and relation_type", excerpt(row))
    if source == target:
        return Left(TO_ITSELF)
    if source not in known or target not in known:
        return Left(OPEN)
    made = moment_of(row.get("created_at"))
    kept = {"origin": str(row["id"]), "created_at": None if made is None else iso(made)}
    meta = object_of(row.get("metadata")) | without_nothing(kept)
    return LinkItem(str(row["id"]), source, relation, target, number_of(row.get("strength"), 1.0), meta=meta)


def find(environment: Mapping[str, str], home: Path) -> Path | None:
    """Return the folder that a variable names, or the usual one, if a store is there."""
    named = [Path(environment[name]).expanduser() for name in FOLDERS if environment.get(name)]
    folders = [*named, home / ".config" / "cortexgraph" / "jsonl", home / ".config" / "mnemex" / "jsonl"]
    return next((folder for folder in folders if (folder / MEMORIES).is_file()), None)


IMPORTER = Importer("mnemex", "Mnemex", EXPECTS, read, find)
