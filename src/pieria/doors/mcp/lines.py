"""The lines that a client writes to stdin. Other code cannot reach the protocol's own descriptor."""

from __future__ import annotations

import os
from io import TextIOWrapper
from typing import cast

import anyio

from pieria.doors.mcp.request_ids import is_misnumbered

NO_MESSAGE = "[]\n"
"""Replaces a request with a wrong id: the reader refuses it like any other invalid message."""


class Lines:
    """A text file with `readline` only."""

    def __init__(self, file: TextIOWrapper) -> None:
        self._file = file

    def readline(self) -> str:
        line = self._file.readline()
        return NO_MESSAGE if line and is_misnumbered(line) else line


def stdin_lines() -> anyio.AsyncFile[str]:
    """Return the protocol's stdin; other readers of descriptor 0 find it empty."""
    own = os.dup(0)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    # Never close the descriptor: the thread that waits for the client may outlive the server.
    file = TextIOWrapper(os.fdopen(own, "rb", closefd=False), encoding="utf-8", errors="replace")
    return anyio.wrap_file(cast(TextIOWrapper, Lines(file)))
