"""New banks of the tests are copies of one empty bank: applying all migrations takes five times as long."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from pieria.store.sqlite import migrate as migrating

_migrate = migrating.migrate


@cache
def _template() -> sqlite3.Connection:
    made = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    _migrate(made, Path("template"), "", lambda number: None)
    return made


def copy_or_migrate(
    connection: sqlite3.Connection, path: Path, now: str, back_up: Callable[[int], None], *steps: Any
) -> None:
    """Fill an empty file from the template; migrate any other as the store does."""
    is_sealed = not isinstance(connection, sqlite3.Connection)
    if steps or is_sealed or connection.execute("SELECT 1 FROM sqlite_master").fetchone():
        _migrate(connection, path, now, back_up, *steps)
        return
    _template().backup(connection)
    connection.execute("UPDATE migration SET applied_at = ?", (now,))
