"""Brings a database to the current schema by numbered steps in two phases. Each runs in one transaction, unless it
builds indexes.

Steps in `pre` only add, so they may run while an older Pieria uses the database. Steps in `post` run when no older one
is left, and shut it out. Both phases share one sequence of numbers.

A step that begins with `BESIDE_OTHERS` builds indexes of large tables. It runs outside of a transaction, so that
writers need not wait. After an interruption it starts over, so it must be repeatable.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

import psycopg
from psycopg import errors

from pieria.errors import CorruptError, NewerVersionError, UnsuitableError
from pieria.store.postgres.driver import HOW_TO_EXTEND, SET_UP, Connection, check_server, check_vectors

Phase = Literal["pre", "post"]
PHASES: tuple[Phase, ...] = ("pre", "post")
BESIDE_OTHERS = "-- beside others\n"
LOCK = 0x50494552
"""Advisory lock for migrations in a database: `PIER`, the mark of a bank's file."""
NAP = 0.05
LEDGER = """
CREATE TABLE IF NOT EXISTS pieria.migration (
    number     integer PRIMARY KEY,
    phase      text NOT NULL,
    name       text NOT NULL,
    checksum   text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
)
"""


@dataclass(frozen=True, slots=True)
class Migration:
    number: int
    phase: Phase
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()

    @property
    def beside_others(self) -> bool:
        return self.sql.startswith(BESIDE_OTHERS)


@cache
def migrations() -> tuple[Migration, ...]:
    found = []
    for phase in PHASES:
        folder = files("pieria.store.postgres").joinpath("migrations", phase)
        # A phase without steps has no folder in the wheel.
        for entry in folder.iterdir() if folder.is_dir() else ():
            if entry.name.endswith(".sql"):
                number, _, name = entry.name.removesuffix(".sql").partition("_")
                found.append(Migration(int(number), phase, name, entry.read_text(encoding="utf-8")))
    return tuple(sorted(found, key=lambda step: step.number))


def migrate(
    connection: Connection,
    where: str,
    steps: Sequence[Migration] | None = None,
    told: Callable[[str], None] | None = None,
) -> None:
    """Apply the missing steps. `told` is called with each step, unless the database was empty."""
    steps = migrations() if steps is None else steps
    check_server(connection)
    applied = _applied(connection, where, steps)
    if len(_missing(steps, applied)) == 0:
        check_vectors(_vectors(connection))
        return
    _take_turn(connection)
    try:
        # Another process may have applied the same steps while this one waited.
        _extend(connection)
        applied = _applied(connection, where, steps)
        for step in _missing(steps, applied):
            _apply(connection, step)
            if applied and told is not None:
                told(f"{step.phase}/{step.number:04}_{step.name}")
    finally:
        if not connection.closed:
            connection.execute("SELECT pg_advisory_unlock(%s)", (LOCK,))


def _take_turn(connection: Connection) -> None:
    """Poll for the lock. A statement that waits would block indexes that another process builds concurrently: they wait
    for all earlier statements.
    """
    while not connection.execute("SELECT pg_try_advisory_lock(%s)", (LOCK,)).fetchall()[0][0]:
        time.sleep(NAP)


def _missing(steps: Sequence[Migration], applied: dict[int, tuple[str, str]]) -> list[Migration]:
    return [step for step in steps if step.number not in applied]


def _extend(connection: Connection) -> None:
    if _vectors(connection) is None:
        try:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
        except (errors.UndefinedFile, errors.FeatureNotSupported, errors.InsufficientPrivilege) as problem:
            said = problem.diag.message_primary
            reason = f"the extension pgvector is missing in the database and cannot be made ({said})"
            raise UnsuitableError("open", reason, hint=HOW_TO_EXTEND) from problem
    check_vectors(_vectors(connection))
    connection.execute("CREATE SCHEMA IF NOT EXISTS pieria")
    connection.execute(LEDGER)
    connection.execute(SET_UP)


def _vectors(connection: Connection) -> str | None:
    found = connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchone()
    return None if found is None else str(found[0])


def _apply(connection: Connection, step: Migration) -> None:
    if step.beside_others:
        _build(connection, step)
    with connection.transaction():
        if not step.beside_others:
            connection.execute(step.sql.encode())
        connection.execute(
            "INSERT INTO pieria.migration (number, phase, name, checksum) VALUES (%s, %s, %s, %s)",
            (step.number, step.phase, step.name, step.checksum),
        )


def _build(connection: Connection, step: Migration) -> None:
    """Build the step's indexes without a time limit."""
    connection.execute("SET statement_timeout = 0; SET lock_timeout = 0")
    try:
        for statement in filter(str.strip, step.sql.split(";\n")):
            connection.execute(statement.encode())
    finally:
        if not connection.closed:
            connection.execute("RESET statement_timeout")
            connection.execute(SET_UP)


def _applied(connection: Connection, where: str, steps: Sequence[Migration]) -> dict[int, tuple[str, str]]:
    """Return phase and checksum of each applied step. Raise if the database is too new or a checksum differs."""
    try:
        found = connection.execute("SELECT number, phase, checksum FROM pieria.migration").fetchall()
    except psycopg.errors.UndefinedTable:
        return {}
    applied = {number: (phase, checksum) for number, phase, checksum in found}
    known = {step.number: step for step in steps}
    for number, (phase, checksum) in sorted(applied.items()):
        if number not in known:
            if phase == "pre":
                continue
            raise NewerVersionError(
                "open",
                f"the database at {where} was changed by a newer Pieria (step {number}, which this one does not know)",
                hint="Upgrade Pieria to open it; nothing was changed.",
            )
        if known[number].checksum != checksum:
            raise CorruptError(
                "open",
                f"step {number} of the database at {where} is not the one this Pieria ships",
                hint="Install the version that made it, or bring back a backup.",
            )
    return applied
