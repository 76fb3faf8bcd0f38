"""Read records from large or broken files: JSON lines, or the elements of one JSON array, one at a time.

Unreadable records are reported with their number, and reading continues. This module does not know what records mean.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from pieria.mining.said import Heard, Left, Said, Wrong, excerpt, wrong
from pieria.record.json_text import parsed

LONGEST = 64 << 20
"""Bytes of one record. A pasted image may take tens of millions."""
PART = 1 << 20
UNFINISHED = "a last line that is still being written"
_MARK = b"\xef\xbb\xbf"
_SHAPES = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[\]{}]|"', re.DOTALL)
_BLANK = re.compile(rb"\s*+")
_SCALAR = re.compile(rb"[^\s,\[\]{}]+")


class Record(NamedTuple):
    number: int
    value: Any


def json_lines(path: Path, heard: Heard) -> Iterator[Record | Wrong | Left]:
    """Yield the record of each line. An unreadable last line without a line end is still being written."""
    with path.open("rb") as file:
        number = done = 0
        while line := file.readline(LONGEST):
            number += 1
            done += len(line)
            heard(done)
            whole = line.endswith(b"\n")
            if not whole and len(line) == LONGEST:
                yield Wrong(number, f"expected a line of at most {LONGEST >> 20} MiB", excerpt(_shown(line)))
                _skip_line(file)
                continue
            read = _read(number, line.removeprefix(_MARK) if number == 1 else line)
            if isinstance(read, Wrong) and not whole:
                yield Left(UNFINISHED)
            elif read is not None:
                yield read


def said_in_lines(path: Path, heard: Heard, line: Callable[[Record], Said | None]) -> Iterator[Said]:
    """Yield what each line says, and the problems of unreadable lines."""
    for record in json_lines(path, heard):
        if not isinstance(record, Record):
            yield record
        elif (said := line(record)) is not None:
            yield said


def _skip_line(file: BinaryIO) -> None:
    while (part := file.readline(PART)) and not part.endswith(b"\n"):
        pass


def json_elements(path: Path, heard: Heard) -> Iterator[Record | Wrong]:
    """Yield the elements of an array, or the values of a file without an array."""
    with path.open("rb") as file:
        yield from _Elements(file, heard).all()


def json_members(path: Path, heard: Heard) -> Iterator[tuple[str, Record | Wrong]]:
    """Yield each member of an object with its key: the elements of arrays one at a time, other values whole.

    The elements of an array, and values of a file that holds neither, have the key "".
    """
    with path.open("rb") as file:
        yield from _Elements(file, heard).members()


def _read(number: int, written: bytes) -> Record | Wrong | None:
    if not written.strip():
        return None
    try:
        return Record(number, parsed(written))
    except ValueError as problem:
        why = "UTF-8" if isinstance(problem, UnicodeDecodeError) else "JSON"
        return Wrong(number, f"expected {why} ({problem})", excerpt(_shown(written)))


def _shown(written: bytes) -> str:
    return written[:10_000].decode("utf-8", "replace")


class _Elements:
    """Reads only as far as the current element, and keeps nothing of earlier ones."""

    def __init__(self, file: BinaryIO, heard: Heard) -> None:
        self._file = file
        self._heard = heard
        self._done = 0
        self._held = b""
        self._at = 0
        self._number = 0
        self._ended = False

    def all(self) -> Iterator[Record | Wrong]:
        self._begin()
        yield from self._array() if self._next() == b"[" else self._values()
        yield from self._rest("array")

    def members(self) -> Iterator[tuple[str, Record | Wrong]]:
        self._begin()
        if self._next() != b"{":
            yield from (("", found) for found in (self._array() if self._next() == b"[" else self._values()))
            yield from (("", found) for found in self._rest("array"))
            return
        self._at += 1
        while (char := self._next()) not in (b"}", b""):
            if char == b",":
                self._at += 1
                continue
            key = self._element()
            if not (isinstance(key, Record) and isinstance(key.value, str)) or self._next() != b":":
                yield "", wrong(self._number, "a key and its value", _shown(self._held[self._at :]))
                return
            self._at += 1
            yield from ((key.value, found) for found in self._member())
            if self._ended:
                return
        self._at += 1
        yield from (("", found) for found in ([self._cut_off("object")] if not char else self._rest("object")))

    def _member(self) -> Iterator[Record | Wrong]:
        """Yield the elements of the array that comes next, or the value."""
        if self._next() != b"[":
            yield self._element()
            return
        number, self._number = self._number, 0
        yield from self._array()
        self._number = number

    def _begin(self) -> None:
        self._more()
        self._held = self._held.removeprefix(_MARK)

    def _rest(self, what: str) -> Iterator[Wrong]:
        if not self._ended and self._next():
            yield wrong(self._number + 1, f"nothing behind the {what}", _shown(self._held[self._at :]))

    def _cut_off(self, what: str) -> Wrong:
        self._ended = True
        return wrong(self._number + 1, f"a bracket that closes the {what}; the file ends before it")

    def _array(self) -> Iterator[Record | Wrong]:
        self._at += 1
        while (char := self._next()) not in (b"]", b""):
            if char == b"," and self._number:
                self._at += 1
                continue
            found = self._element()
            yield found
            if self._ended:
                return
        if not char:
            yield self._cut_off("array")
            return
        self._at += 1

    def _values(self) -> Iterator[Record | Wrong]:
        """Yield top-level values. Most files hold one, some several."""
        while not self._ended and self._next():
            yield self._element()

    def _element(self) -> Record | Wrong:
        """Return the next element. If it has no end, the rest of the file cannot be read."""
        self._number += 1
        begin = self._at
        end = self._end()
        if end is None:
            shown = excerpt(_shown(self._held[self._at :]))
            longest = len(self._held) - self._at >= LONGEST
            self._held, self._at, self._ended = b"", 0, True
            why = f"an element of at most {LONGEST >> 20} MiB" if longest else "an element that ends"
            return Wrong(self._number, f"expected {why}; what follows it cannot be read either", shown)
        begin = self._at
        written, self._at = self._held[begin:end], end
        read = _read(self._number, written)
        assert read is not None
        return read

    def _end(self) -> int | None:
        """Return the offset after the current element; None if it has no end."""
        if self._held[self._at : self._at + 1] not in b'"[{':
            return self._end_of_scalar()
        depth, at = 0, self._at
        while True:
            found = _SHAPES.search(self._held, at)
            if found is None or found[0] == b'"':
                # The string, or what follows, is not completely read yet.
                at = (len(self._held) if found is None else found.start()) - self._at
                if len(self._held) - self._at >= LONGEST or not self._more():
                    return None
                at += self._at
                continue
            depth += {b"[": 1, b"{": 1, b"]": -1, b"}": -1}.get(found[0], 0)
            at = found.end()
            if depth <= 0:
                return at

    def _end_of_scalar(self) -> int | None:
        while (found := _SCALAR.match(self._held, self._at)) and found.end() == len(self._held) and self._more():
            pass
        return found.end() if found else None

    def _next(self) -> bytes:
        """Return the next character that is not blank; nothing at the end."""
        while True:
            blank = _BLANK.match(self._held, self._at)
            assert blank is not None
            self._at = blank.end()
            if self._at < len(self._held):
                return self._held[self._at : self._at + 1]
            if not self._more():
                return b""

    def _more(self) -> bool:
        """Read at least as many bytes as are buffered, and drop what was consumed."""
        part = self._file.read(max(PART, len(self._held) - self._at))
        self._done += len(part)
        self._heard(self._done)
        self._held = self._held[self._at :] + part
        self._at = 0
        return bool(part)
