"""Where an import reads: a path, or the address of a server, with the options of the call.

Readers of files, databases and servers are in `files`, `database` and `server`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from pieria.errors import InputError, TransferError
from pieria.record.address import check_length

_SCHEMES = ("http://", "https://")
_ZIP = b"PK\x03\x04"


class Source:
    """What the user named. `done` and `total` are for progress: a reader that knows sets them, in one unit."""

    def __init__(
        self,
        named: str | os.PathLike[str],
        *,
        user: str | None = None,
        token: str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        if not isinstance(named, str | os.PathLike) or not str(os.fspath(named)).strip() or "\0" in os.fspath(named):
            raise InputError("source", "the path of a file or folder, or the address of a server", named)
        self.name = os.fspath(named)
        self.user = user
        self.token = token
        self.environment = os.environ if environment is None else environment
        self.done = 0
        self.total = 0

    @property
    def is_server(self) -> bool:
        return self.name.lower().startswith(_SCHEMES)

    @property
    def path(self) -> Path:
        """Return the absolute path. Raise if the source is a server, or if there is no such file."""
        if self.is_server:
            raise InputError("source", "a path: this system has no server to read from", self.name)
        check_length(self.name, "source")
        try:
            path = Path(self.name).expanduser().absolute()
            there = path.exists()
        except (OSError, RuntimeError, ValueError) as problem:
            raise InputError("source", "the path of a file or folder that can be looked at", self.name) from problem
        if not there:
            hint = "Standard input is read without --from." if self.name == "-" else None
            raise TransferError(path, "there is no such file or folder", hint=hint)
        if path.is_file() and begins_with(path, _ZIP):
            raise TransferError(path, "it is a ZIP archive", hint="Unpack it, and name the folder.")
        return path

    def heard(self, done: int) -> None:
        """Note how far a reader is, in the unit of `total`."""
        self.done = done

    def __str__(self) -> str:
        return self.name


def begins_with(path: Path, magic: bytes) -> bool:
    """Return whether a file begins so. One that cannot be read does not: its reader says why."""
    try:
        with path.open("rb") as file:
            return file.read(len(magic)) == magic
    except OSError:
        return False
