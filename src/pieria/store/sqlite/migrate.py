"""Brings a file to the current schema by numbered steps, forward only, each in one transaction."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from pieria.errors import CorruptError, ForeignFileError, NewerVersionError
from pieria.store.sqlite import sums
from pieria.store.sqlite.file import APPLICATION_ID
from pieria.store.sqlite.statements import statements

LEDGER = """
CREATE TABLE IF NOT EXISTS migration (
    number     INTEGER PRIMARY KEY,
    name       TEXT NOT NULL,
    checksum   TEXT NOT NULL,
    applied_at TEXT NOT NULL
)
"""


@dataclass(frozen=True, slots=True)
class Migration:
    number: int
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()


@cache
def migrations() -> tuple[Migration, ...]:
    folder = files("pieria.store.sqlite").joinpath("migrations")
    found = []
    for entry in folder.iterdir():
        if entry.name.endswith(".sql"):
            number, _, name = entry.name.removesuffix(".sql").partition("_")
            found.append(Migration(int(number), name, entry.read_text(encoding="utf-8")))
    return tuple(sorted(found, key=lambda step: step.number))


def migrate(
    connection: sqlite3.Connection,
    path: Path,
    now: str,
    back_up: Callable[[int], None],
    steps: tuple[Migration, ...] | None = None,
) -> None:
    """Apply the missing steps. `back_up(number)` is called once, before the first change of an existing bank."""
    steps = migrations() if steps is None else steps
    applied = _looked_up(connection, path, steps)
    missing = [step for step in steps if step.number not in applied]
    if missing and applied:
        back_up(max(applied))
    # A new file gets all steps in one transaction: another process must not see a bank of an older schema.
    for together in [[step] for step in missing] if applied else [missing]:
        _apply(connection, path, together, steps, now)


def is_up_to_date(connection: sqlite3.Connection, path: Path) -> bool:
    return len(_looked_up(connection, path, migrations())) == len(migrations())


def differs_from_schema(connection: sqlite3.Connection) -> list[str]:
    """Return the names of tables and indexes that differ from those the migrations make."""
    sql = statements("sums.sql")["schema"]
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as made:
        made.execute(LEDGER)
        for step in migrations():
            for statement in _split(step.sql):
                made.execute(statement)
        differing = set(made.execute(sql)) ^ set(connection.execute(sql))
    names = {str(name) for _, name, *_ in differing}
    if connection.execute("PRAGMA user_version").fetchone()[0] != migrations()[-1].number:
        names.add("user_version")
    return sorted(names)


def _looked_up(connection: sqlite3.Connection, path: Path, steps: tuple[Migration, ...]) -> dict[int, str]:
    connection.execute("BEGIN")
    try:
        return _applied(connection, path, steps)
    finally:
        connection.execute("ROLLBACK")


def _apply(
    connection: sqlite3.Connection, path: Path, together: list[Migration], steps: tuple[Migration, ...], now: str
) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have applied the same steps while this one waited for the lock.
        applied = _applied(connection, path, steps)
        for step in together:
            if step.number in applied:
                continue
            connection.execute(LEDGER)
            for statement in _split(step.sql):
                connection.execute(statement)
            if step.name == sums.STEP:
                sums.fill(connection)
            connection.execute(
                "INSERT INTO migration VALUES (?, ?, ?, ?)", (step.number, step.name, step.checksum, now)
            )
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {step.number}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _applied(connection: sqlite3.Connection, path: Path, steps: tuple[Migration, ...]) -> dict[int, str]:
    """Return numbers and checksums of applied steps. Raise for foreign, newer or altered files."""
    things = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    mark = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if not (things or mark or version):
        return {}
    if mark != APPLICATION_ID or "migration" not in things:
        raise ForeignFileError(
            "open", f"{path} is a database of another program", hint="Name another bank or move the file away."
        )
    applied = dict(connection.execute("SELECT number, checksum FROM migration"))
    known = {step.number: step for step in steps}
    newest = max(applied, default=0)
    if newest > max(known, default=0):
        raise NewerVersionError(
            "open",
            f"{path} was written by a newer Pieria (schema {newest}; this one knows {max(known, default=0)})",
            hint="Upgrade Pieria to open it; nothing was changed.",
        )
    for number, checksum in applied.items():
        if number not in known or known[number].checksum != checksum:
            raise CorruptError(
                "open",
                f"step {number} of {path} is not the one this Pieria ships",
                hint="Install the version that wrote it, or bring back a backup.",
            )
    return applied


def _split(sql: str) -> list[str]:
    """Return single statements: `executescript` would commit the transaction around them."""
    found: list[str] = []
    pending = ""
    for line in sql.splitlines(keepends=True):
        if not pending.strip() and line.lstrip().startswith("--"):
            continue
        pending += line
        if sqlite3.complete_statement(pending):
            found.append(pending.strip())
            pending = ""
    return [statement for statement in found if statement]
