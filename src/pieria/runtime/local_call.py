"""Ask the server of a data folder: a process of the same user that has models and banks loaded.

A frame is its length in four bytes, and one JSON object. Each call has a connection of its own. A hook loads this file
without the packages above it, so it imports only what Python brings along.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import sys
import time
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

VERSION = "0.1.0"
"""Processes of different versions do not answer each other."""
FILE = "pieria.sock"
LONGEST_PATH = 100
"""Longest path of a socket in bytes: the limit is 104 to 108, by system."""
LARGEST = 64 << 20
"""Largest frame, in bytes."""
_LENGTH = struct.Struct(">I")
_AT_ONCE = 0.001
_PEER = struct.Struct("3i")
_MAC_LEVEL, _MAC_PEER, _MAC_SIZE = 0, 1, 76


class RefusedError(Exception):
    """The server is there, and did not answer. The message says why."""


@contextmanager
def path_of(folder: str) -> Iterator[str]:
    """Yield a path of the folder's socket that is short enough. Raise `OSError` if there is none."""
    path = os.path.join(folder, FILE)
    if len(os.fsencode(path)) <= LONGEST_PATH:
        yield path
        return
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        # Linux has a short name for an open folder. Elsewhere the system refuses.
        yield f"/proc/self/fd/{opened}/{FILE}"
    finally:
        os.close(opened)


def asked(folder: str, what: str, values: dict[str, Any], seconds: float) -> dict[str, Any] | None:
    """Return the server's answer, or None if there is no server, or it ended before it answered.

    Raise `RefusedError` if the server refuses, and `TimeoutError` if the whole takes longer.
    """
    ends = time.monotonic() + seconds
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.settimeout(seconds)
        try:
            with path_of(folder) as path:
                line.connect(path)
            if peer_of(line) != os.getuid():
                return None
            send(line, {"version": VERSION, "what": what, **values})
            answer = received(line, ends)
        except TimeoutError:
            raise
        except (OSError, ValueError):
            return None
    if answer is None:
        return None
    if "refused" in answer:
        raise RefusedError(answer["refused"])
    return answer


def send(line: socket.socket, values: dict[str, Any]) -> None:
    written = json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    line.sendall(_LENGTH.pack(len(written)) + written)


def received(line: socket.socket, ends: float | None = None) -> dict[str, Any] | None:
    """Return the next frame, or None at the end. Raise `ValueError` for something else.

    With `ends`, a time of the monotonic clock, raise `TimeoutError` if it is not complete by then.
    """
    head = _bytes(line, _LENGTH.size, ends)
    if head is None:
        return None
    [length] = _LENGTH.unpack(head)
    if length > LARGEST:
        raise ValueError(f"a frame of {length} bytes")
    written = _bytes(line, length, ends)
    if written is None:
        return None
    values = json.loads(written)
    if not isinstance(values, dict):
        raise ValueError("a frame that is no object")
    return values


def _bytes(line: socket.socket, count: int, ends: float | None) -> bytes | None:
    read = bytearray()
    while len(read) < count:
        if ends is not None:
            line.settimeout(max(ends - time.monotonic(), _AT_ONCE))
        part = line.recv(min(count - len(read), 1 << 20))
        if not part:
            return None
        read += part
    return bytes(read)


def peer_of(line: socket.socket) -> int:
    """Return the user id of the process at the other end."""
    if sys.platform == "darwin":
        # struct xucred: its version, and then the user id.
        return struct.unpack_from("II", line.getsockopt(_MAC_LEVEL, _MAC_PEER, _MAC_SIZE))[1]
    user: int = _PEER.unpack(line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size))[1]
    return user
