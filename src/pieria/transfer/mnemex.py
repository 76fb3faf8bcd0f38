"""Reads the store of Mnemex, two files of JSON lines, into lines of an export. It knows no bank and writes nothing.

The last line of an id counts. Invalid values are reported and left out; a row is left out only if nothing remains.
Vectors are not imported: the bank computes its own.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pieria.errors import InputError, TransferError
from pieria.record import check
from pieria.record.ids import derived_id
from pieria.record.json_text import parsed
from pieria.record.memory import GIVEN_STATUSES
from pieria.record.time import instant, iso
from pieria.record.trust import HEARSAY, TRUST
from pieria.store.files import unreadable
from pieria.transfer.lines import Problem

SYSTEM = "mnemex"
MEMORIES, RELATIONS = "memories.jsonl", "relations.jsonl"
WORTH_COMPACTING = 100
"""Superseded lines above which the original advises to compact."""
LONGEST_LINE = 64 << 20

Row = Mapping[str, Any]
Value = TypeVar("Value")


class Line(NamedTuple):
    """One line of an export, with its file and line number in the store."""

    file: str
    number: int
    values: dict[str, Any]


@dataclass(slots=True)
class File:
    """One file of the store: the last row of every id, with its line number."""

    name: str
    rows: dict[str, tuple[int, Row]] = field(default_factory=dict)
    lines: int = 0
    bytes: int = 0
    problems: list[Problem] = field(default_factory=list)

    def as_dict(self) -> dict[str, int]:
        return {
            "active": len(self.rows),
            "total_lines": self.lines,
            "file_size_bytes": self.bytes,
            "compaction_savings": self.lines - len(self.rows),
        }


@dataclass(slots=True)
class Store:
    """The result of reading. A memory is its content, state and usage."""

    memories: list[tuple[Line, Line, Line]] = field(default_factory=list)
    links: list[Line] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def folder_of(path: Path) -> Path | None:
    """Return the folder of the store at this path; None if there is none."""
    folder = path.parent if path.name in (MEMORIES, RELATIONS) else path
    return folder if (folder / MEMORIES).is_file() else None


def stats(path: Path) -> dict[str, Any]:
    """Return the numbers of rows and lines, and whether the original would advise to compact."""
    memories, relations = _files(path)
    savings = [file.lines - len(file.rows) for file in (memories, relations)]
    return {
        "memories": memories.as_dict(),
        "relations": relations.as_dict(),
        "should_compact": max(savings) > WORTH_COMPACTING,
        "bad_lines": len(memories.problems) + len(relations.problems),
    }


def read(path: Path, place: str, now: datetime) -> Store:
    """Read the whole store. `place` is the name of the bank; `now` is used for missing times. Raise `TransferError` if
    there is no store."""
    memories, relations = _files(path)
    found = Store(problems=[*memories.problems, *relations.problems])
    for id, (number, row) in memories.rows.items():
        found.memories.append(_Memory(found, number, row, iso(now)).lines(id, place))
    for id, (number, row) in relations.rows.items():
        link = _Row(found, RELATIONS, number, row).link(id, memories.rows.keys())
        if link is not None:
            found.links.append(link)
    return found


def _files(path: Path) -> tuple[File, File]:
    folder = folder_of(path)
    if folder is None:
        hint = f"Name the folder that holds {MEMORIES}, such as ~/.config/cortexgraph/jsonl."
        raise TransferError(path, f"there is no {MEMORIES} in it", hint=hint)
    return _file(folder / MEMORIES, "content"), _file(folder / RELATIONS, "relation_type")


def _file(path: Path, needed: str) -> File:
    found = File(path.name)
    try:
        found.bytes = path.stat().st_size
        with path.open("rb") as file:
            while line := file.readline(LONGEST_LINE):
                found.lines += 1
                if line.strip():
                    _take(found, line, needed)
    except FileNotFoundError:
        return found
    except OSError as problem:
        raise unreadable(path, problem) from problem
    return found


def _take(file: File, line: bytes, needed: str) -> None:
    try:
        row = parsed(line)
    except ValueError:
        file.problems.append(Problem(file.lines, file.name, "a JSON object", "a damaged line"))
        return
    id = row.get("id") if isinstance(row, dict) else None
    if not isinstance(id, str) or not id.strip():
        file.problems.append(Problem(file.lines, f"{file.name} id", "an id", "none"))
    elif row.get("_deleted") is True:
        file.rows.pop(id, None)
    elif not isinstance(row.get(needed), str) or not row[needed].strip():
        file.problems.append(Problem(file.lines, f"{file.name} {needed}", "a text", "none"))
    else:
        file.rows[id] = file.lines, {name: value for name, value in row.items() if name != "embed"}


class _Row:
    """One row, read as far as its values are valid."""

    def __init__(self, store: Store, file: str, number: int, row: Row) -> None:
        self._store, self._file, self._number, self._row = store, file, number, row

    def line(self, values: dict[str, Any]) -> Line:
        return Line(self._file, self._number, {name: it for name, it in values.items() if it is not None})

    def value(self, name: str, checker: Callable[..., Value], *more: Any, of: Row | None = None) -> Value | None:
        """Return the checked value; None if it is missing or invalid. Report an invalid one."""
        given = (self._row if of is None else of).get(name)
        if given is None or given in ("", [], {}):
            return None
        try:
            return checker(given, name, *more)
        except InputError as problem:
            self.tell(problem)
            return None

    def within(self, name: str, low: float, high: float, usual: float) -> float:
        """Return the number within bounds. Report one out of bounds."""
        given = self._row.get(name, usual)
        if isinstance(given, int | float) and not isinstance(given, bool) and given == given:
            if low <= given <= high:
                return float(given)
            self.tell(InputError(name, f"a number from {low:g} to {high:g}", given))
            return min(high, max(low, float(given)))
        self.tell(InputError(name, "a number", given))
        return usual

    def count(self, name: str) -> int:
        return self.value(name, check.whole) or 0

    def moment(self, name: str) -> str | None:
        found = self.value(name, instant)
        return None if found is None else iso(found)

    def tell(self, problem: InputError) -> None:
        told = Problem.of(self._number, problem)
        self._store.problems.append(
            Problem(self._number, f"{self._file} {told.parameter}", told.expected, told.received)
        )

    def link(self, id: str, known: Container[object]) -> Line | None:
        source, target = self._row.get("from_memory_id"), self._row.get("to_memory_id")
        for name, end in (("from_memory_id", source), ("to_memory_id", target)):
            if end not in known:
                self.tell(InputError(name, "the id of a memory in the store", end))
                return None
        if source == target:
            self.tell(InputError("to_memory_id", "another memory's id", target))
            return None
        return self.line(
            {
                "line": "link", "id": derived_id("", SYSTEM, id), "source_is": "memory", "source": source,
                "relation": self._row["relation_type"].strip(), "target_is": "memory", "target": target,
                "weight": self.within("strength", 0.0, 1.0, 1.0), "ended": "",
                "meta": self.value("metadata", _object),
            }
        )  # fmt: skip


class _Memory(_Row):
    def __init__(self, store: Store, number: int, row: Row, now: str) -> None:
        super().__init__(store, MEMORIES, number, row)
        self._now = now

    def lines(self, id: str, place: str) -> tuple[Line, Line, Line]:
        meta = self.value("meta", _mapping) or {}
        status = self.value("status", check.one_of, GIVEN_STATUSES) or "active"
        kept = {
            **(self.value("extra", _object, of=meta) or {}),
            "imported_from": SYSTEM,
            "promoted_to": self.value("promoted_to", check.text),
            "promoted_at": self.moment("promoted_at"),
        }
        content = {
            "line": "content", "id": id, "version": 1, "text": self._row["content"],
            "tags": list(self._names("tags", meta)) or None, "entities": list(self._names("entities")) or None,
            "context": self.value("context", check.text, of=meta),
            "meta": {name: value for name, value in kept.items() if value is not None},
        }  # fmt: skip
        created = self.moment("created_at") or self._now
        state = {
            "line": "state", "id": id, "version": 1, "kind": "note", "place": f"{place}/note", "scope": "bank",
            "source": self.value("source", check.name, of=meta), "at": created, "status": status,
            "tier": "settled" if status == "promoted" else "working", "importance": 0.5,
            "strength": self.within("strength", 0.0, 2.0, 1.0), "trust": TRUST[HEARSAY],
            "via": HEARSAY, "pinned": False, "ended": "",
        }  # fmt: skip
        usage = {
            "line": "usage", "id": id, "accesses": self.count("use_count"),
            "last_access": self.moment("last_used") or created, "reviews": self.count("review_count"),
            "last_review": self.moment("last_review_at"), "crossings": self.count("cross_domain_count"),
            "rewards": 0.0, "rewarded": 0,
        }  # fmt: skip
        return self.line(content), self.line(state), self.line(usage)

    def _names(self, name: str, of: Row | None = None) -> Iterator[str]:
        for each in self.value(name, _listed, of=of) or ():
            try:
                yield check.name(each, name)
            except InputError as problem:
                self.tell(problem)


def _object(value: object, parameter: str) -> Row:
    """Return an object that a bank can store unchanged."""
    kept = _mapping(value, parameter)
    check.mapping(kept, parameter)
    return kept


def _mapping(value: object, parameter: str) -> Row:
    if not isinstance(value, dict):
        raise InputError(parameter, "an object", value)
    return value


def _listed(value: object, parameter: str) -> list[Any]:
    if not isinstance(value, list):
        raise InputError(parameter, "a list of texts", value)
    return value
