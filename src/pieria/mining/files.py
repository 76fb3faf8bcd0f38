"""Looking at files: which are text, which nobody is meant to read, and what tells one state from another."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

PART = 1 << 20
LONGEST_LINE = 5_000
"""Characters. A file with a longer line was made by a program, for programs."""
LOOKED_AT = 8_192
_BYTE_ORDERS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


def named_in(folder: Path, ending: str) -> list[Path]:
    """What is in a folder under names that end so, in order: nothing of a folder that is not there, or not any more.
    Raises `OSError` where it may not be looked into, since that is not to be empty.
    """
    try:
        return sorted(folder / name for name in os.listdir(folder) if name.endswith(ending))
    except (FileNotFoundError, NotADirectoryError):
        return []


def digest_of(path: Path) -> str:
    """The SHA-256 of a file of any size."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while part := file.read(PART):
            digest.update(part)
    return digest.hexdigest()


def digest_of_text(text: str) -> str:
    """What tells one text from another within a source: short, since every memory keeps one."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def decoded(written: bytes) -> str | None:
    """The text of a file, with line feeds alone; None where it is none."""
    coding = next((coding for mark, coding in _BYTE_ORDERS.items() if written.startswith(mark)), "utf-8-sig")
    if coding == "utf-8-sig" and b"\0" in written[:LOOKED_AT]:
        return None
    try:
        text = written.decode(coding)
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text.replace("\r\n", "\n").replace("\r", "\n")


def is_for_programs(text: str) -> bool:
    """Whether a line is longer than anybody would write."""
    return len(text) > LONGEST_LINE and any(len(line) > LONGEST_LINE for line in text.split("\n"))
