"""Inspect files: which are text, which are only for programs, and digests of their content."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

PART = 1 << 20
LONGEST_LINE = 5_000
"""Characters. A file with a longer line was generated for programs."""
LOOKED_AT = 8_192
_BYTE_ORDERS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


def named_in(folder: Path, ending: str) -> list[Path]:
    """Return the files of a folder with this suffix, sorted; nothing if the folder is missing.

    Raise `OSError` if the folder may not be read, since that does not mean it is empty.
    """
    try:
        return sorted(folder / name for name in os.listdir(folder) if name.endswith(ending))
    except (FileNotFoundError, NotADirectoryError):
        return []


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file of any size."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while part := file.read(PART):
            digest.update(part)
    return digest.hexdigest()


def digest_of_text(text: str) -> str:
    """Return a short digest of a text within a source. It is short since every memory keeps one."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def decoded(written: bytes) -> str | None:
    """Return a file's text with plain line feeds; None if it is not text."""
    coding = next((coding for mark, coding in _BYTE_ORDERS.items() if written.startswith(mark)), "utf-8-sig")
    if coding == "utf-8-sig" and b"\0" in written[:LOOKED_AT]:
        return None
    try:
        text = written.decode(coding)
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text.replace("\r\n", "\n").replace("\r", "\n")


def is_for_programs(text: str) -> bool:
    """Return whether a line is longer than a person would write."""
    return len(text) > LONGEST_LINE and any(len(line) > LONGEST_LINE for line in text.split("\n"))
