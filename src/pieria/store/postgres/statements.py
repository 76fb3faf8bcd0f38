"""Reads the store's SQL from its files, once a process. `@content` and its like stand for the columns of a table but
the bank, with the alias before it at each: what is found must come in the very order that the shared code knows.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from pieria.store.sql.session import parsed
from pieria.store.sql.tables import with_columns


@cache
def statements(file: str) -> dict[str, str]:
    """Every block of the file by its name."""
    written = files("pieria.store.postgres").joinpath(file).read_text(encoding="utf-8")
    return {name: with_columns(block) for name, block in parsed(written).items()}
