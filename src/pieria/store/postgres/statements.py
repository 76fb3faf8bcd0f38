"""Reads the store's SQL from its files, once a process.

`@content` and other placeholders become a table's columns but the bank, each with the alias before it. The shared code
depends on their order.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from pieria.store.sql.session import parsed
from pieria.store.sql.tables import with_columns


@cache
def statements(file: str) -> dict[str, str]:
    """Return every block of the file by its name."""
    written = files("pieria.store.postgres").joinpath(file).read_text(encoding="utf-8")
    return {name: with_columns(block) for name, block in parsed(written).items()}
