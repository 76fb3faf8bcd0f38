"""Which driver opens a file: the standard library's, or SQLCipher's for a sealed bank. The only file that knows.

The two know nothing of each other's locks, and a process that closes a file gives up all locks that it holds on it. So
a file is never looked at by one while the other has it open here, and what SQLCipher has open is noted.

A sealed file begins with a mark of ours, which is the first half of the salt of its checksums; the other half is drawn
at random for each file, so that no page can be moved from one to another. The key is taken as it is: nothing is derived
from it when a bank is opened.
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
from pieria.store.files import flush, made_aside
from pieria.store.seal import Seal
from pieria.store.sqlite.turn import Turn

MARK = b"PIERIAs1"
SALT_BYTES = 16
DRIVER = "sqlcipher3.dbapi2"
NEITHER = -1
"""The mark of a database that cannot be looked into."""
SEALED = -2
"""The mark of one that is sealed."""
LOST = "Without the key nobody can read the bank, and nobody can make the key again."

_opened: weakref.WeakSet[Any] = weakref.WeakSet()
"""The connections of SQLCipher's in this process."""


class _Look:
    """One at a time: a file is looked at, or opened by SQLCipher."""

    def __init__(self) -> None:
        self.start_anew()

    def start_anew(self) -> None:
        """After a fork the lock may be held by a thread that does not exist here."""
        self.lock = threading.Lock()


_look = _Look()
os.register_at_fork(after_in_child=_look.start_anew)


def driver_errors() -> tuple[type[Exception], ...]:
    """Whatever a driver raises; of SQLCipher's only once that is loaded."""
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
    """SQLite's own name of an error."""
    return getattr(problem, "sqlite_errorname", None) or ""


def is_sealed(path: Path) -> bool:
    return mark_of(path) == SEALED


def mark_of(path: Path) -> int | None:
    """By which number a database says whose it is, as far as it stands in the file itself; None for no database.

    Nothing is left beside the file, as a look at one that keeps a write-ahead log otherwise would: taken for
    immutable, its log is not asked, and no lock of it is touched.
    """
    with _look.lock:
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
    """Neither driver has the file open as a database, so that to close it gives up no lock."""
    try:
        with path.open("rb") as file:
            return file.read(len(MARK)) == MARK
    except FileNotFoundError:
        return False


def _there(path: Path) -> os.stat_result | None:
    """None for what is no file, or empty. What has gone since it was named is neither."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found if stat.S_ISREG(found.st_mode) and found.st_size > 0 else None


def connect(path: Path, seal: Seal | None, operation: str, mode: str = "rw", **more: Any) -> sqlite3.Connection:
    """A connection to what is there; with mode `ro` to read alone. Raises `SealedError` where the file is sealed, and
    the key is missing or another.
    """
    address = f"{path.absolute().as_uri()}?mode={mode}"
    if not is_sealed(path):
        plain: sqlite3.Connection = sqlite3.connect(address, uri=True, isolation_level=None, **more)
        return plain
    if seal is None:
        raise SealedError(
            operation,
            f"the bank {path.stem} is sealed, and no setting says where its key is",
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
                hint=f"Set seal_key to where the key is that this bank was sealed with. {LOST}",
            ) from problem
    return opened


def ciphered(
    path: Path, seal: Seal | None, operation: str, address: str | None = None, *, is_sealed: bool, **more: Any
) -> sqlite3.Connection:
    """SQLCipher's connection, to a plain file as well. A file that is empty yet becomes a sealed one with a `seal`."""
    make = _connection(operation)
    spelt = key_of(seal, _there(path) is None) if is_sealed and seal is not None else None
    with _look.lock:
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
    """As SQLCipher takes it; the salt of what is there stands in the file."""
    salt = (MARK + secrets.token_bytes(SALT_BYTES - len(MARK))).hex() if is_new else ""
    return f"x'{seal.key().hex()}{salt}'"


@cache
def _driver() -> Any:
    from sqlcipher3 import dbapi2

    class Ciphered(dbapi2.Connection):  # type: ignore[misc]  # it has no types
        """Under the names that the standard library's has."""

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
    """A sealed file with nothing in it yet, whole under its name from the first moment. False where one is there; if
    that is empty, as a file of which a crash left the name, it is taken for this one.
    """
    aside = made_aside(path)
    try:
        with closing(ciphered(aside, seal, "open", is_sealed=True)) as made:
            # To write the page that holds the mark, and to have written nothing.
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
        # Whoever has the turn is writing to it, and it is what that makes of it.
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
