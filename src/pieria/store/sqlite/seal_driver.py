"""Chooses the driver of a file: the standard library's, or SQLCipher's for a sealed bank. No other module does.

The drivers do not see each other's locks. A process that closes a file drops all its locks on it. So neither driver
opens a file that the other has open in this process. Files that SQLCipher has open are tracked.

A sealed file begins with our mark, which is the first half of the salt of its checksums. The other half is random in
each file, so that no page can be moved between files. The key is used directly: opening a bank derives nothing from it.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import stat
import sys
import threading
import weakref
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from typing import Any

from pieria.errors import SealedError
from pieria.runtime import forks
from pieria.store.files import flush, made_aside
from pieria.store.seal import Seal
from pieria.store.sqlite.write_lock import Turn

MARK = b"PIERIAs1"
SALT_BYTES = 16
DRIVER = "sqlcipher3.dbapi2"
NEITHER = -1
"""The mark of a database that cannot be read."""
SEALED = -2
"""The mark of a sealed database."""
LOST = "Without the key the bank can never be read, and the key cannot be recreated."

_opened: weakref.WeakSet[Any] = weakref.WeakSet()
"""SQLCipher's connections in this process."""
_look: forks.Own[threading.Lock] = forks.Own()
"""Only one thread reads a file's mark or opens a file with SQLCipher."""


def driver_errors() -> tuple[type[Exception], ...]:
    """Return the error types of the drivers; SQLCipher's only once it is loaded."""
    return _named("Error")


def database_errors() -> tuple[type[Exception], ...]:
    return _named("DatabaseError")


def operational_errors() -> tuple[type[Exception], ...]:
    return _named("OperationalError")


def programming_errors() -> tuple[type[Exception], ...]:
    return _named("ProgrammingError")


def _named(name: str) -> tuple[type[Exception], ...]:
    other = sys.modules.get(DRIVER)
    return (getattr(sqlite3, name), *([getattr(other, name)] if other is not None else []))


def name_of(problem: BaseException) -> str:
    """Return SQLite's name of an error."""
    return getattr(problem, "sqlite_errorname", None) or ""


def is_sealed(path: Path) -> bool:
    return mark_of(path) == SEALED


def mark_of(path: Path) -> int | None:
    """Return the application id in a database's file; None for no database.

    Opening the file as immutable leaves nothing beside it, as a database in WAL mode otherwise would. Its log is not
    read, and its locks are not touched.
    """
    with _look.get(threading.Lock):
        found = _there(path)
        if found is None:
            return None
        here = (found.st_dev, found.st_ino)
        for connection in list(_opened):
            if connection.file == here:
                return SEALED if connection.is_sealed else NEITHER
        try:
            with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as looking:
                mark: int = looking.execute("PRAGMA application_id").fetchone()[0]
                return mark
        except sqlite3.DatabaseError as problem:
            if name_of(problem) != "SQLITE_NOTADB":
                return NEITHER
        return SEALED if _begins_sealed(path) else None


def _begins_sealed(path: Path) -> bool:
    """Return whether the file begins with our mark. Neither driver has it open, so closing it drops no lock."""
    try:
        with path.open("rb") as file:
            return file.read(len(MARK)) == MARK
    except FileNotFoundError:
        return False


def _there(path: Path) -> os.stat_result | None:
    """Return the file's stat; None if it is empty, missing or no regular file."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found if stat.S_ISREG(found.st_mode) and found.st_size > 0 else None


def connect(path: Path, seal: Seal | None, operation: str, mode: str = "rw", **more: Any) -> sqlite3.Connection:
    """Return a connection to an existing file; mode `ro` only reads. Raise `SealedError` for a sealed file whose key
    is missing or wrong.
    """
    address = f"{path.absolute().as_uri()}?mode={mode}"
    if not is_sealed(path):
        plain: sqlite3.Connection = sqlite3.connect(address, uri=True, isolation_level=None, **more)
        return plain
    if seal is None:
        raise SealedError(
            operation,
            f"the bank {path.stem} is sealed, and the setting seal_key is missing",
            hint=f"Set seal_key, as in PIERIA_SEAL_KEY=keyring: or file:PATH. {LOST}",
        )
    opened = ciphered(path, seal, operation, address, is_sealed=True, **more)
    try:
        opened.execute("PRAGMA schema_version").fetchone()
    except database_errors() as problem:
        if name_of(problem) == "SQLITE_NOTADB":
            opened.close()
            raise SealedError(
                operation,
                f"the key of {seal.where} does not open the bank {path.stem}: it is another bank's, or the start of "
                f"{path} is damaged",
                hint=f"Set seal_key to the place of the key that this bank was sealed with. {LOST}",
            ) from problem
    return opened


def ciphered(
    path: Path, seal: Seal | None, operation: str, address: str | None = None, *, is_sealed: bool, **more: Any
) -> sqlite3.Connection:
    """Return SQLCipher's connection, also to a plain file. With a `seal`, an empty file becomes a sealed one."""
    make = _connection(operation)
    spelt = key_of(seal, _there(path) is None) if is_sealed and seal is not None else None
    with _look.get(threading.Lock):
        opened: Any = make(address or f"{path.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None, **more)
        found = path.stat()
        opened.file, opened.is_sealed = (found.st_dev, found.st_ino), is_sealed
        _opened.add(opened)
    opened.execute("PRAGMA cipher_log_level = NONE")
    if spelt is not None:
        opened.execute(f'PRAGMA key = "{spelt}"')
    opened.execute("PRAGMA cipher_memory_security = OFF")
    opened.execute("PRAGMA temp_store = MEMORY")
    connection: sqlite3.Connection = opened
    return connection


def key_of(seal: Seal, is_new: bool) -> str:
    """Return the key in SQLCipher's form. An existing file holds its own salt."""
    salt = (MARK + secrets.token_bytes(SALT_BYTES - len(MARK))).hex() if is_new else ""
    return f"x'{seal.key().hex()}{salt}'"


@cache
def _driver() -> Any:
    from sqlcipher3 import dbapi2

    class Ciphered(dbapi2.Connection):  # type: ignore[misc]  # it has no types
        """SQLCipher's connection with the method names of the standard library's."""

        def blobopen(self, table: str, column: str, row: int) -> Any:
            return self.open_blob(table, column, row)

        def close(self) -> None:
            super().close()
            _opened.discard(self)

    def connect(address: str, **more: Any) -> Any:
        return dbapi2.connect(address, factory=Ciphered, **more)

    return connect


def _connection(operation: str) -> Any:
    try:
        return _driver()
    except ImportError as problem:
        raise SealedError(
            operation,
            f"sealed banks need the extra sealed, and {problem.name} is not installed",
            hint='Install it: pip install "pieria[sealed]"',
        ) from problem


def made_file(path: Path, seal: Seal) -> bool:
    """Make an empty sealed file, complete from its first moment. Return False if a file exists; if that is empty, as
    after a crash, it is replaced by this one.
    """
    aside = made_aside(path)
    try:
        with closing(ciphered(aside, seal, "open", is_sealed=True)) as made:
            # This writes the page with the mark, and leaves the version unchanged.
            made.execute("PRAGMA user_version = 1")
            made.execute("PRAGMA user_version = 0")
        flush(aside)
        try:
            os.link(aside, path)
        except FileExistsError:
            _fill(aside, path)
            return False
        return True
    finally:
        aside.unlink(missing_ok=True)


def _fill(aside: Path, path: Path) -> None:
    turn = Turn(path)
    try:
        # Another holder of the turn is writing to the file, so leave it alone.
        with suppress(BlockingIOError):
            turn.take()
            if path.stat().st_size == 0:
                os.replace(aside, path.resolve())
                flush(path.parent)
    finally:
        turn.close()


def is_opened_by(path: Path, seal: Seal) -> bool:
    try:
        connect(path, seal, "open", "ro").close()
    except SealedError:
        return False
    return True
