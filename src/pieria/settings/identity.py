"""The identity of a file, which distinguishes it from a file later put in its place.

A path is not enough: a clone can bring another file of the same name. Nor is an inode number: file systems reuse it.
The system sets the time of birth, and no program that unpacks or checks out files can choose it.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

_BUFFER = 256
_BIRTH_WANTED = 0x800
_MASK_AT, _BIRTH_AT = 0, 0x50
_HERE = -100
_SECOND = 1_000_000_000


def identity_of(path: Path) -> str | None:
    """Return inode and time of birth; None if there is no file, or no time of birth on its file system."""
    try:
        about = os.stat(path)
    except OSError:
        return None
    birth = _birth(path, about)
    return None if birth is None else f"{about.st_ino}:{birth}"


def _birth(path: Path, about: os.stat_result) -> int | None:
    """Return the time of birth in nanoseconds. Python has it on some systems only; elsewhere ask the C library."""
    told: float | None = getattr(about, "st_birthtime", None)
    if told is not None:
        return round(told * _SECOND)
    import ctypes

    try:
        statx = ctypes.CDLL(None, use_errno=True).statx
    except (AttributeError, OSError):
        return None
    buffer = ctypes.create_string_buffer(_BUFFER)
    if statx(_HERE, os.fsencode(path), 0, _BIRTH_WANTED, buffer):
        return None
    (mask,) = struct.unpack_from("=I", buffer.raw, _MASK_AT)
    seconds, rest = struct.unpack_from("=qI", buffer.raw, _BIRTH_AT)
    return int(seconds) * _SECOND + int(rest) if mask & _BIRTH_WANTED else None
