"""Mnemex, also called CortexGraph: the folder of its store, two files of JSON lines.

The last line of an id counts, and a line may delete it. Vectors are not read: a bank makes its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import nan
from pathlib import Path
from typing import Any

from pieria.errors import InputError, TransferError
from pieria.importers import Importer
from pieria.importers.files import Found, json_values
from pieria.importers.items import Item, Left, MemoryItem, Problem
from pieria.importers.source import Source
from pieria.importers.values import moment_of, name_of, names_of, number_of, object_of, text_of, without_nothing
from pieria.mining.said import excerpt
from pieria.record import check
from pieria.record.draft import NewLink, NewMemory
from pieria.record.link import End
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
MOST_USES = 10**9
HOMES = (
    *("id", "content", "meta", "created_at", "last_used", "use_count", "strength", "status", "embed", "entities"),
    *("review_priority", "last_review_at", "review_count", "cross_domain_count"),
)
"""Fields with a place in a bank, or that a bank derives. Others go to `meta`."""
WORTH_COMPACTING = 100
"""Superseded lines in a file above which the original advises to compact."""
Row = Mapping[str, Any]


def _is_number(greatest: float) -> Callable[[Any], object]:
    return lambda value: number_of(value, nan, 0.0, greatest) == value


def _extra(meta: Row) -> dict[str, Any] | None:
    """Return the user's own fields, or None if a bank cannot keep them."""
    extra = object_of(meta.get("extra"))
    try:
        check.mapping(extra, "extra")
    except InputError:
        return None
    return extra


VALID: Mapping[str, Callable[[Any], object]] = {
    "meta": lambda value: object_of(value) and _extra(object_of(value)) is not None,
    "entities": names_of,
    "status": GIVEN_STATUSES.__contains__,
    "strength": _is_number(STRENGTH),
    **dict.fromkeys(("created_at", "last_used", "last_review_at", "promoted_at"), moment_of),
    **dict.fromkeys(("use_count", "review_count", "cross_domain_count"), _is_number(MOST_USES)),
}
"""Tests of a memory's fields. An invalid value is replaced, and reports count it."""
VALID_IN_RELATIONS: Mapping[str, Callable[[Any], object]] = {"strength": _is_number(1.0), "metadata": object_of}


@dataclass(slots=True)
class _File:
    """One file of the store. `scan` finds the last row of each id, and `rows` reads those rows."""

    path: Path
    needed: str
    """The field without which a row is broken."""
    last: dict[str, int] = field(default_factory=dict)
    """The number of the last row of each id."""
    lines: int = 0

    def scan(self, source: Source) -> Iterator[Problem | Left]:
        """Yield what cannot be read, and the number of deleted rows."""
        deleted = 0
        for found in self._values(source):
            self.lines += 1
            if isinstance(found, Problem | Left):
                yield found
                continue
            row = found.value if isinstance(found.value, Mapping) else {}
            id = name_of(row.get("id"))
            if id is not None and row.get("_deleted") is True:
                deleted += self.last.pop(id, None) is not None
            elif id is None or text_of(row.get(self.needed)) is None:
                yield Problem(found.where, f"expected an object with id and {self.needed}", excerpt(found.value))
            else:
                self.last[id] = self.lines
        if deleted:
            yield Left(DELETED, deleted)

    def rows(self, source: Source) -> Iterator[tuple[Row, str]]:
        chosen = set(self.last.values())
        for number, found in enumerate(self._values(source), start=1):
            if number in chosen and not isinstance(found, Problem | Left):
                yield found.value, found.where

    def _values(self, source: Source) -> Iterator[Found | Problem | Left]:
        return json_values(source, self.path) if self.path.is_file() else iter(())

    def as_dict(self) -> dict[str, int]:
        return {
            "active": len(self.last),
            "total_lines": self.lines,
            "file_size_bytes": self.path.stat().st_size if self.path.is_file() else 0,
            "compaction_savings": self.lines - len(self.last),
        }


def read(source: Source) -> Iterator[Item]:
    files = _files(source.path)
    if files is None:
        raise TransferError(source.path, f"there is no {MEMORIES} in it", hint=f"Expected {EXPECTS}.")
    memories, relations = files
    yield from memories.scan(source)
    for row, _ in memories.rows(source):
        yield from _invalid(row, VALID)
        yield _memory(row)
    yield from relations.scan(source)
    for row, where in relations.rows(source):
        yield from _invalid(row, VALID_IN_RELATIONS)
        yield _link(row, where, memories.last)


def stats(path: Path) -> dict[str, Any] | None:
    """Return the numbers of rows and lines, and whether the original would advise to compact; None without a store."""
    files = _files(path)
    if files is None:
        return None
    source = Source(path)
    found = [one for file in files for one in file.scan(source)]
    counts = {name: file.as_dict() for name, file in zip(("memories", "relations"), files, strict=True)}
    return {
        "system": IMPORTER.name,
        **counts,
        "should_compact": max(each["compaction_savings"] for each in counts.values()) > WORTH_COMPACTING,
        "bad_lines": sum(isinstance(one, Problem) for one in found),
    }


def _files(path: Path) -> tuple[_File, _File] | None:
    """Return the files of memories and of relations; None if there is no store."""
    folder = path.parent if path.name in (MEMORIES, RELATIONS) else path
    if not (folder / MEMORIES).is_file():
        return None
    return _File(folder / MEMORIES, "content"), _File(folder / RELATIONS, "relation_type")


def _invalid(row: Row, tests: Mapping[str, Callable[[Any], object]]) -> Iterator[Left]:
    return (Left(f"invalid values of {name}") for name, test in tests.items() if row.get(name) and not test(row[name]))


def _memory(row: Row) -> MemoryItem:
    theirs = object_of(row.get("meta"))
    status = row.get("status")
    new = NewMemory(
        row["content"],
        tags=names_of(theirs.get("tags")),
        entities=names_of(row.get("entities")),
        source=name_of(theirs.get("source")),
        context=text_of(theirs.get("context")),
        at=moment_of(row.get("created_at")),
        strength=number_of(row.get("strength"), 1.0, 0.0, STRENGTH),
        meta=(_extra(theirs) or {}) | _kept(row),
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
    return int(number_of(row.get(name), 0, 0, MOST_USES))


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
    ends = End("memory", source), End("memory", target)
    return NewLink(str(row["id"]), ends[0], relation, ends[1], number_of(row.get("strength"), 1.0), meta=meta)


def find(environment: Mapping[str, str], home: Path) -> Path | None:
    """Return the folder that a variable names, or the usual one, if a store is there."""
    named = [Path(environment[name]).expanduser() for name in FOLDERS if environment.get(name)]
    folders = [*named, home / ".config" / "cortexgraph" / "jsonl", home / ".config" / "mnemex" / "jsonl"]
    return next((folder for folder in folders if (folder / MEMORIES).is_file()), None)


IMPORTER = Importer("mnemex", "Mnemex", EXPECTS, read, find)
