"""The lines that a client writes to stdin, with the protocol's own descriptor out of everybody else's reach."""

from __future__ import annotations

import os
from io import TextIOWrapper
from typing import cast

import anyio

from pieria.doors.mcp.request_ids import is_misnumbered

NO_MESSAGE = "[]\n"
"""What stands in the place of a request whose id is wrong: the reader refuses it as it refuses all that is none."""


class Lines:
    """A text file of which only lines are read."""

    def __init__(self, file: TextIOWrapper) -> None:
        self._file = file

    def readline(self) -> str:
        line = self._file.readline()
        return NO_MESSAGE if line and is_misnumbered(line) else line


def stdin_lines() -> anyio.AsyncFile[str]:
    """Take stdin for the protocol: what reads descriptor 0 from now on finds it empty."""
    own = os.dup(0)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    # The thread that waits for the client may outlive the server, so that the descriptor is never closed.
    file = TextIOWrapper(os.fdopen(own, "rb", closefd=False), encoding="utf-8", errors="replace")
    return anyio.wrap_file(cast(TextIOWrapper, Lines(file)))
