"""Reads the store's SQL from its files, once a process."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from pieria.store.sql.session import parsed


@cache
def statements(file: str) -> dict[str, str]:
    """Every block of the file by its name."""
    return parsed(files("pieria.store.sqlite").joinpath(file).read_text(encoding="utf-8"))
