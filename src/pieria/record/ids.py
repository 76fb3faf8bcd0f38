"""Ids: short, unique, and sorted by creation time.

An id is 16 base32 characters without i, l, o and u, which are easy to misread. The first 11 count time in steps of
1/1024 millisecond, about as fast as ids can be made. The last 5 are random, drawn again in every process and fork. So
a process never repeats an id, even when the clock is set back. Two processes collide only if both time and draw are
equal. Incoming ids may be any string; what they mean, and whether one is taken, is not decided here.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time

from pieria.runtime import forks

_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
_PAIRS = tuple(high + low for high in _DIGITS for low in _DIGITS)
_STEPS_A_MILLISECOND = 1024
_NANOSECONDS_A_MILLISECOND = 1_000_000
_OWN_LENGTH = 5
_DERIVED_LENGTH = 26
_LONGEST_VERSION = 18


class _Source:
    """Generates the ids of one process. It holds the last step used and the random part of the process."""

    def __init__(self) -> None:
        self.draw()

    def draw(self) -> None:
        """Reset the source. A forked child would repeat its parent's ids and may inherit a locked lock."""
        self._lock = threading.Lock()
        self._last = 0
        self.own = _base32(int.from_bytes(os.urandom(4)), _OWN_LENGTH)

    def take(self, count: int) -> int:
        """Claim `count` steps and return the first."""
        with self._lock:
            now = time.time_ns() * _STEPS_A_MILLISECOND // _NANOSECONDS_A_MILLISECOND
            first = max(now, self._last + 1)
            self._last = first + count - 1
            return first


def _base32(number: int, length: int) -> str:
    """Return the lowest `length` digits of a number, the most significant first."""
    return "".join([_DIGITS[number >> shift & 31] for shift in range(5 * (length - 1), -1, -5)])


def _spelt(step: int) -> str:
    """Return the 11 characters of a step. Two digits at a time: every written record pays for this."""
    early, late = step >> 30, step & 0x3FFFFFFF
    return (
        f"{_DIGITS[early >> 20]}{_PAIRS[early >> 10 & 1023]}{_PAIRS[early & 1023]}"
        f"{_PAIRS[late >> 20]}{_PAIRS[late >> 10 & 1023]}{_PAIRS[late & 1023]}"
    )


_source = _Source()
forks.in_child(_source.draw)


def new_id() -> str:
    """Return one id, greater than all earlier ids of this process."""
    return _spelt(_source.take(1)) + _source.own


def new_ids(count: int) -> list[str]:
    """Return ascending ids, cheaper than one at a time."""
    first, own = _source.take(count), _source.own
    return [_spelt(step) + own for step in range(first, first + count)]


def derived_id(prefix: str, *parts: str) -> str:
    """Return the prefix and 26 characters derived from the parts, for records that may arrive twice.

    The length of each part counts, so ("ab", "c") and ("a", "bc") differ.
    """
    digest = hashlib.sha256()
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8))
        digest.update(encoded)
    return prefix + _base32(int.from_bytes(digest.digest()), _DERIVED_LENGTH)


def parse_reference(reference: str) -> tuple[str, int | None]:
    """Split ``id@version``. If no number follows the last @, the whole is the id.

    An id may itself end in @ and digits, so a lookup must try the whole first.
    """
    id, _, version = reference.rpartition("@")
    if id and version.isascii() and version.isdigit() and len(version) <= _LONGEST_VERSION:
        return id, int(version)
    return reference, None
