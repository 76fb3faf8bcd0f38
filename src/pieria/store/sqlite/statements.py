"""Reads the store's SQL from its files: blocks under `-- name: x` headers, once a process."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def statements(file: str) -> dict[str, str]:
    """Every block of the file by its name; the lines of comment under the header are its reason, not its text."""
    blocks: dict[str, str] = {}
    written = files("pieria.store.sqlite").joinpath(file).read_text(encoding="utf-8")
    for part in written.split("-- name: ")[1:]:
        name, _, block = part.partition("\n")
        lines = [line for line in block.splitlines() if not line.lstrip().startswith("--")]
        blocks[name.strip()] = "\n".join(lines).strip().rstrip(";")
    return blocks
