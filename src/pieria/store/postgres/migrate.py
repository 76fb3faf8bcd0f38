"""Brings a database to the schema this Pieria knows: numbered steps in two phases, each in one transaction but those
that build indexes.

What is in `pre` only adds, so that an older Pieria goes on with it: those steps may be taken while it still runs. What
is in `post` comes once no older one runs any more, and shuts it out. The numbers are those of both together.

A step that begins with `BESIDE_OTHERS` builds indexes of large tables: in no transaction, so that nobody who writes
waits for it. It may be broken off anywhere and is taken from its beginning then, which must do no harm.
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
"""Of those who migrate in a database one after another: `PIER`, as a bank's file is marked."""
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
        # A phase that has no step yet has no folder either, once it was packed.
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
    """Applies what is missing. `told` hears of each step that changes a database which had some already."""
    steps = migrations() if steps is None else steps
    check_server(connection)
    applied = _applied(connection, where, steps)
    if len(_missing(steps, applied)) == 0:
        check_vectors(_vectors(connection))
        return
    _take_turn(connection)
    try:
        # Another process may have taken the same steps while this one waited.
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
    """Asked for again and again: whoever waited within a statement would hold up an index that is built beside others,
    which waits for every statement begun before it.
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
    """However long it takes."""
    connection.execute("SET statement_timeout = 0; SET lock_timeout = 0")
    try:
        for statement in filter(str.strip, step.sql.split(";\n")):
            connection.execute(statement.encode())
    finally:
        if not connection.closed:
            connection.execute("RESET statement_timeout")
            connection.execute(SET_UP)


def _applied(connection: Connection, where: str, steps: Sequence[Migration]) -> dict[int, tuple[str, str]]:
    """Phase and checksum of each step taken. Refuses a database that is too new for us, or not as we made it."""
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
