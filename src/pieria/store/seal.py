"""The key that encrypts a bank's file, and where it is read from when a file needs it."""

from __future__ import annotations

from collections.abc import Callable

KEY_BYTES = 32


class Seal:
    """Equal to another seal that reads its key from the same place. Its repr never shows the key."""

    def __init__(self, where: str, read: Callable[[], bytes]) -> None:
        """`read` returns the key, or raises `SealedError` that says why there is none."""
        self.where = where
        self._read = read
        self._key: bytes | None = None

    def key(self) -> bytes:
        if self._key is None:
            self._key = self._read()
        return self._key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Seal) and self.where == other.where

    def __hash__(self) -> int:
        return hash(self.where)

    def __repr__(self) -> str:
        return f"Seal({self.where!r})"
