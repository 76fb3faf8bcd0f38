"""Limits on the length of a path. Access to files does not belong here."""

from __future__ import annotations

import re

from pieria.errors import InputError

LONGEST, LONGEST_PART = 4_000, 255
"""Bytes that every system accepts. Longer paths would fail in the middle of an operation."""
EXPECTED = f"a path of at most {LONGEST:,} bytes, each part of at most {LONGEST_PART}"
_SLASHES = re.compile(rb"[/\\]")


def check_length(path: str, parameter: str) -> str:
    """Return the path. Raise `InputError` if the path or one of its parts is too long."""
    if not has_length(path):
        raise InputError(parameter, EXPECTED, path)
    return path


def has_length(path: str) -> bool:
    """Return whether a path and its parts are short enough for every system."""
    written = path.encode("utf-8", "surrogatepass")
    return len(written) <= LONGEST and all(len(part) <= LONGEST_PART for part in _SLASHES.split(written))
