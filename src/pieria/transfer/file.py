"""Files of imports and exports: written aside and renamed when complete, read line by line, with their digest.

The content of lines does not belong here, except to tell what a file is that is no export.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from io import BufferedIOBase
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, NamedTuple, Self

from pieria.errors import InputError, TransferError
from pieria.record.address import check_length
from pieria.store.files import flush, made_aside, storage_error, unreadable

LONGEST_LINE = 128 << 20
EXPORT_BEGINS = b'{"pieria":"export"'
_LOOKED_AT = 4096
_BINARIES = (
    (b"\x1f\x8b", "a gzip archive; unpack it first"),
    (b"PK\x03\x04", "a zip archive; unpack it first"),
    (b"\xfd7zXZ", "an xz archive; unpack it first"),
    (b"(\xb5/\xfd", "a Zstandard archive; unpack it first"),
    (b"%PDF", "a PDF document"),
    (b"\xff\xfe", "text in UTF-16; an export is UTF-8"),
    (b"\xfe\xff", "text in UTF-16; an export is UTF-8"),
)
_OTHERS = (
    (b'"mnemosyne_export"', "It is an export of Mnemosyne: `pieria call mnemosyne_import` reads it."),
    (b'"observations"', "It may be an export of open-mem: the tool mem-import reads it."),
)
"""Marks near the beginning of other systems' exports, and the command that reads those."""
ELSEWHERE = "docs/importing.md tells how to import from other programs."


def given_path(value: object, parameter: str = "path") -> Path:
    """Return the path that a caller gave. Raise `InputError` if it is no usable path."""
    if not isinstance(value, str | os.PathLike) or not os.fspath(value).strip():
        raise InputError(parameter, "the path of a file", value)
    named = os.fspath(value)
    if not isinstance(named, str) or "\0" in named:
        raise InputError(parameter, "the path of a file", value)
    try:
        path = Path(named).expanduser().absolute()
    except RuntimeError:
        raise InputError(parameter, "a path in the home of a user there is", value) from None
    check_length(str(path), parameter)
    return path


def may_be_replaced(path: Path) -> bool:
    """Return whether an export may replace this file: the caller may not own it."""
    try:
        if not path.is_file() or not path.stat().st_size:
            return True
        with path.open("rb") as file:
            return file.read(len(EXPORT_BEGINS)) == EXPORT_BEGINS
    except OSError as problem:
        raise unreadable(path, problem) from problem


class Aside:
    """A private file that gets its name only when it is complete. `keep` renames it."""

    def __init__(self, path: Path, operation: str) -> None:
        self._path = path
        self._operation = operation
        self._digest = hashlib.sha256()
        self.bytes = 0
        try:
            self._aside = made_aside(path)
            self._file: BinaryIO = self._aside.open("wb")
        except OSError as problem:
            raise storage_error(operation, path, problem) from problem

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()

    def write(self, line: bytes) -> None:
        self._digest.update(line)
        self.bytes += len(line)
        try:
            self._file.write(line)
        except OSError as problem:
            raise storage_error(self._operation, self._path, problem) from problem

    def keep(self) -> None:
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            os.replace(self._aside, self._path)
            flush(self._path.parent)
        except OSError as problem:
            raise storage_error(self._operation, self._path, problem) from problem

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._file.close()
        except OSError as problem:
            # A failed write was reported already, so report a failed close only if nothing failed before.
            if error is None:
                raise storage_error(self._operation, self._path, problem) from problem
        finally:
            self._aside.unlink(missing_ok=True)


class RawLine(NamedTuple):
    number: int
    offset: int
    content: bytes


class Source:
    """A file to import. It must be seekable, because it is read several times. A file given open is not closed."""

    def __init__(self, path: Path, file: BufferedIOBase | None = None) -> None:
        self.path = path
        self._is_own = file is None
        if file is not None:
            self._file = file
            self.size = file.seek(0, os.SEEK_END)
            return
        if path.is_dir():
            raise TransferError(path, "it is a folder; name the file in it", hint=ELSEWHERE)
        try:
            # Opening a pipe would wait for its writer.
            if not stat.S_ISREG(path.stat().st_mode):
                raise TransferError(path, "it can be read only once; copy it to a file first")
            self._file = path.open("rb")
            self.size = os.fstat(self._file.fileno()).st_size
        except OSError as problem:
            raise unreadable(path, problem) from problem

    def lines(self) -> Iterator[RawLine]:
        """Yield every line with its line feed; the last line may have none."""
        self._file.seek(0)
        number = offset = 0
        while line := self._file.readline(LONGEST_LINE + 1):
            number += 1
            if len(line) > LONGEST_LINE:
                raise TransferError(self.path, f"line {number} is longer than {LONGEST_LINE >> 20} MiB")
            yield RawLine(number, offset, line)
            offset += len(line)

    def chunks(self, size: int) -> Iterator[bytes]:
        """Yield the whole file in pieces of at most this size: at least one, which may be empty."""
        self._file.seek(0)
        yield self._file.read(size)
        while chunk := self._file.read(size):
            yield chunk

    def line_at(self, offset: int) -> bytes:
        """Return the line at this offset. An iteration of `lines` can continue."""
        here = self._file.tell()
        self._file.seek(offset)
        line = self._file.readline(LONGEST_LINE + 1)
        self._file.seek(here)
        return line

    def looks_like(self) -> str:
        """Return what kind of file it is, for the error about a file that is no export."""
        start = self._start()
        for magic, what in _BINARIES:
            if start.startswith(magic):
                return what
        return _kind_of_text(start)

    def advice(self) -> str:
        """Return what may read a file that is no export."""
        start = self._start()
        return next((advice for mark, advice in _OTHERS if mark in start), ELSEWHERE)

    def _start(self) -> bytes:
        self._file.seek(0)
        return self._file.read(_LOOKED_AT)

    def close(self) -> None:
        if self._is_own:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _kind_of_text(start: bytes) -> str:
    if not start.strip():
        return "empty"
    if b"\0" in start:
        return "binary"
    text = start.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    if text.startswith(("{", "[")):
        return 'JSON of another kind; an export begins with {"pieria":"export"'
    return 'text of another kind; an export begins with {"pieria":"export"'
