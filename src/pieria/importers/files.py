"""Read JSON of other systems: one record at a time, so that memory does not grow with the file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pieria.errors import TransferError
from pieria.importers.items import Left, Problem
from pieria.importers.source import Source
from pieria.mining.conversations.records import Record, json_lines, json_members
from pieria.mining.said import Left as Unfinished
from pieria.mining.said import Wrong
from pieria.record.json_text import parsed

_LOOKED_AT = 1 << 16


class Found(NamedTuple):
    """A value of a file. `key` is the member of the object that holds it, or its array; `where` is for problems."""

    key: str
    value: Any
    where: str


def json_values(source: Source, path: Path) -> Iterator[Found | Problem | Left]:
    """Yield the values of a file of JSON, or of JSON lines.

    The elements of an array come one at a time, as do those of arrays in an object, with the object's key.
    """
    try:
        source.total += path.stat().st_size
        before = source.done
        records = _lines(path, source, before) if _holds_lines(path) else _members(path, source, before)
        for key, record in records:
            if isinstance(record, Record):
                place = f"{key}[{record.number - 1}]" if key else f"record {record.number:,}"
                yield Found(key, record.value, f"{path.name}, {place}")
            elif isinstance(record, Wrong):
                number = "" if record.record is None else f", record {record.record:,}"
                yield Problem(f"{path.name}{number}", record.reason, record.excerpt)
            else:
                yield Left(record.reason)
    except OSError as problem:
        raise TransferError(path, f"it cannot be read ({problem.strerror or problem})") from problem


def _lines(path: Path, source: Source, before: int) -> Iterator[tuple[str, Record | Wrong | Unfinished]]:
    return (("", record) for record in json_lines(path, lambda at: source.heard(before + at)))


def _members(path: Path, source: Source, before: int) -> Iterator[tuple[str, Record | Wrong | Unfinished]]:
    yield from json_members(path, lambda at: source.heard(before + at))


def _holds_lines(path: Path) -> bool:
    """Return whether the first line is a whole object: then each line is one."""
    with path.open("rb") as file:
        start = file.read(_LOOKED_AT)
    first, _, rest = start.lstrip(b"\xef\xbb\xbf \t\r\n").partition(b"\n")
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        return True
    if not first.startswith(b"{") or not rest.strip():
        return False
    try:
        return isinstance(parsed(first), dict)
    except ValueError:
        return False
