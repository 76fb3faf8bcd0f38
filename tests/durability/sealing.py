"""Sealed banks, with keys in files of the test."""

from pathlib import Path

import pieria
from pieria.bank import Bank

KEY, OTHER = "ab" * 32, "cd" * 32


def key_in(folder: Path, key: str = KEY, name: str = "key") -> str:
    """Write a key to a file. Return its location in the form of the setting."""
    path = folder / name
    path.touch(mode=0o600)
    path.write_text(key)
    return f"file:{path}"


def opened(data: Path, place: str | None, name: str = "notes") -> Bank:
    return pieria.open(name, data=data, settings={"seal_key": place} if place else {})
