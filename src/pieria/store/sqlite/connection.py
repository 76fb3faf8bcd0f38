"""Connections to one SQLite file: opening, sharing among threads, forking and closing.

One connection writes, under a lock; every thread reads through its own. A forked child uses no connection of its
parent, and must close those it inherits. SQLite keeps one list of locks for the whole process. With inherited entries
in it, the child's own connections would take no locks. The parent's close would then delete the log under them. Closing
them is safe, since a process owns its locks, but only while no thread uses a connection. So a fork waits for the
threads.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
import weakref
from collections import deque
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from pieria.errors import (
    BusyError,
    ClosedError,
    CorruptError,
    DiskFullError,
    ForeignFileError,
    ForkedError,
    NewerVersionError,
    NotFoundError,
    PieriaError,
    ReadOnlyError,
    SealedError,
    StorageError,
)
from pieria.runtime import effort, forks
from pieria.store.parts import REMOVED
from pieria.store.seal import Seal
from pieria.store.sql.session import UnreadableRow
from pieria.store.sqlite.gate import Gate
from pieria.store.sqlite.seal_driver import connect, driver_errors, is_sealed, name_of, programming_errors
from pieria.store.sqlite.write_lock import Turn

STEPS = 100_000
"""Instructions of SQLite's virtual machine, some milliseconds, between two checks of the deadline."""
UNLIKE = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR")
"""Errors of a damaged file or a foreign schema; in a sealed bank, of a page with a wrong checksum."""
PAGES_IN_MEMORY_KIB = 16_384

LEAST_SPACE = 1 << 20
LOOK_MS = 1_000
"""How long reading the schema waits for a connection that holds the file exclusively."""
CLOSE_PATIENCE = 1.0
FORK_PATIENCE = 10.0
"""Seconds that a fork waits for threads inside a transaction. After that the child refuses their files."""

_every: weakref.WeakSet[Connections] = weakref.WeakSet()
_at_work = Gate()
_out_of_reach: dict[str, int] = {}
"""Files that this process must not touch, with its parent: it was forked while another thread used them."""


@contextmanager
def translated(operation: str, path: Path, seal: Seal | None = None) -> Iterator[None]:
    """Turn the driver's errors into ours, which say what to do, with the original as cause. The `seal` opens a file
    whose schema must be looked at, since it may have changed.
    """
    try:
        yield
    except driver_errors() as problem:
        raise _as_ours(problem, operation, path, seal) from problem
    except BlockingIOError as problem:
        raise _busy(operation, path) from problem
    except (UnreadableRow, UnicodeDecodeError) as problem:
        hint = getattr(problem, "hint", UnreadableRow.hint)
        raise _unlike_our_schema(operation, path, str(problem), seal, hint) from problem


def _as_ours(problem: Exception, operation: str, path: Path, seal: Seal | None) -> PieriaError:
    name = name_of(problem)
    said = str(problem)
    if isinstance(problem, programming_errors()) and "closed database" in said:
        return ClosedError(path.stem)
    if name == "SQLITE_INTERRUPT":
        if effort.is_over():
            return effort.exceeded()
        # Otherwise only closing the store interrupts statements.
        return ClosedError(path.stem)
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return _busy(operation, path)
    if name.startswith("SQLITE_FULL"):
        return DiskFullError(operation, f"no space left for {path.name}", hint="Free some space, then try again.")
    if name.startswith(("SQLITE_READONLY_DBMOVED", "SQLITE_CANTOPEN")) and not path.exists():
        return NotFoundError("bank", path.stem, hint=REMOVED)
    if name == "SQLITE_READONLY_DBMOVED":
        hint = "Open the bank again, then repeat the call; it was not carried out."
        return BusyError(operation, f"the file {path.name} was replaced, for example by a restore", hint=hint)
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH")):
        hint = "Check that the file and its folder exist and may be written by this user."
        return ReadOnlyError(operation, f"{path} cannot be opened for writing ({said})", hint=hint)
    if name == "SQLITE_NOTADB" and not is_sealed(path):
        return ForeignFileError(operation, f"{path} is not a database", hint="Name another bank or move the file away.")
    if name.startswith(UNLIKE) or "decode to UTF-8" in said:
        # Our statements are correct: an object that they do not find or cannot read means damage.
        return _unlike_our_schema(operation, path, said, seal)
    if name.startswith("SQLITE_IOERR"):
        return _of_the_disk(operation, path, f"{name}: {said}")
    return StorageError(operation, f"{said} ({name or type(problem).__name__})", hint="Run `pieria doctor`.")


def _unlike_our_schema(
    operation: str, path: Path, said: str, seal: Seal | None, hint: str = UnreadableRow.hint
) -> PieriaError:
    return _of_a_newer_version(operation, path, seal) or damaged(operation, path, said, hint)


def _of_a_newer_version(operation: str, path: Path, seal: Seal | None) -> NewerVersionError | None:
    """Return the error if another process migrated the open bank to a newer schema; otherwise None."""
    from pieria.store.sqlite.migrate import migrations

    ours = migrations()[-1].number
    try:
        with closing(connect(path, seal, operation, "ro", timeout=0)) as connection:
            connection.execute(f"PRAGMA busy_timeout = {LOOK_MS}")
            held = int(connection.execute("PRAGMA user_version").fetchone()[0])
    except SealedError:
        return None
    except driver_errors():
        return None
    if held <= ours:
        return None
    reason = f"{path} was migrated to a newer schema while it was open here ({held}; this Pieria knows {ours})"
    return NewerVersionError(operation, reason, hint="Upgrade Pieria here as well, and restart this program.")


def _of_the_disk(operation: str, path: Path, said: str) -> StorageError:
    if _is_full(path.parent):
        return DiskFullError(operation, f"no space left for {path.name}", hint="Free some space, then try again.")
    hint = "Check the disk and its free space. Earlier acknowledged writes are kept."
    return StorageError(operation, f"the disk failed under {path} ({said})", hint=hint)


def _is_full(folder: Path) -> bool:
    """Return whether the disk is full; False if that cannot be read, as after the disk was removed."""
    try:
        return shutil.disk_usage(folder).free < LEAST_SPACE
    except OSError:
        return False


def _busy(operation: str, path: Path) -> BusyError:
    return BusyError(operation, f"another process or thread kept {path.name} locked", hint="Try again in a moment.")


def damaged(operation: str, path: Path, said: str, hint: str = UnreadableRow.hint) -> CorruptError:
    return CorruptError(operation, f"{path} is damaged ({said})", hint=hint)


class Connections:
    """The connections of this process to one file. After closing they cannot be opened again."""

    def __init__(self, path: Path, *, synchronous: str, busy_ms: int, seal: Seal | None = None) -> None:
        self.path = path
        self._seal = seal
        self._synchronous = synchronous
        self._busy_ms = busy_ms
        self._closed = False
        self._process = os.getpid()
        self.lock = threading.RLock()
        self.turn = Turn(self.path)
        self._gate = Gate()
        self._own = threading.local()
        self._idle: deque[sqlite3.Connection] = deque()
        self._readers: list[sqlite3.Connection] = []
        self._writer: sqlite3.Connection | None = None
        _every.add(self)

    def connect(self, *, query_only: bool) -> sqlite3.Connection:
        connection = connect(
            self.path,
            self._seal,
            "open",
            timeout=self._busy_ms / 1000,
            check_same_thread=False,
            cached_statements=256,
        )
        connection.execute(f"PRAGMA busy_timeout = {self._busy_ms}")
        connection.execute(f"PRAGMA synchronous = {self._synchronous}")
        connection.execute(f"PRAGMA cache_size = -{PAGES_IN_MEMORY_KIB}")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA temp_store = MEMORY")
        if query_only:
            connection.execute("PRAGMA query_only = ON")
        return connection

    @contextmanager
    def reader(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection for this thread alone; within one of this thread, yield the same.

        Connections are kept for the next thread. SQLite cannot close a file while the process holds a lock on it.
        Closing a connection with each thread would leak.
        """
        self.check_open()
        effort.check()
        own, idle = self._own, self._idle
        held: sqlite3.Connection | None = getattr(own, "connection", None)
        if held is not None:
            yield held
            return
        try:
            connection = idle.pop()
        except IndexError:
            connection = self._another_reader()
        own.connection = connection
        is_limited = effort.is_limited()
        if is_limited:
            connection.set_progress_handler(effort.is_over, STEPS)
        try:
            yield connection
        finally:
            if is_limited:
                connection.set_progress_handler(None, 0)
            own.connection = None
            idle.append(connection)

    @contextmanager
    def new_reader(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection that has read nothing before, and close it.

        From SQLite 3.44 on, the integrity check calls a good text index damaged on a connection that read it before
        others wrote to it.
        """
        self.check_open()
        connection = self._another_reader()
        try:
            yield connection
        finally:
            connection.close()
            with suppress(ValueError):  # a close has taken them all
                self._readers.remove(connection)

    def _another_reader(self) -> sqlite3.Connection:
        connection = self.connect(query_only=True)
        self._readers.append(connection)
        return connection

    @contextmanager
    def locked(self, seconds: float | None) -> Iterator[None]:
        """Hold the lock of the writing connection. Raise `BlockingIOError` after `seconds`."""
        lock = self.lock
        if not lock.acquire(timeout=-1 if seconds is None else max(0.0, seconds)):
            raise BlockingIOError
        try:
            yield
        finally:
            lock.release()

    def writer(self) -> sqlite3.Connection:
        """Return the writing connection; the caller must hold the lock."""
        self.check_open()
        if self._writer is None:
            self._writer = self.connect(query_only=False)
        return self._writer

    @contextmanager
    def used(self) -> Iterator[None]:
        """Surround every use of a connection, so that a fork or a close waits for its end."""
        forks.check(self._process, "bank", self.path.stem)
        with _at_work.inside(_anybody), self._gate.inside(self.check_open):
            yield

    def close(self) -> None:
        """Refuse new work, wait for current work, interrupt what takes long, and close."""
        if self._closed:
            return
        self._closed = True
        if not self._gate.wait_for_others(CLOSE_PATIENCE):
            for connection in self._all():
                connection.interrupt()
            self._gate.wait_for_others(CLOSE_PATIENCE)
        closing = self._all()
        self._readers, self._writer = [], None
        for connection in closing:
            connection.close()
        self.turn.close()

    def _all(self) -> list[sqlite3.Connection]:
        return [*self._readers, *([self._writer] if self._writer else [])]

    @property
    def is_closed(self) -> bool:
        return self._closed

    def check_open(self) -> None:
        if self._closed:
            raise ClosedError(self.path.stem)
        if _out_of_reach and os.path.realpath(self.path) in _out_of_reach:
            hint = "Another thread was using the bank when this process was forked. Fork only while it is idle."
            opener = _out_of_reach[os.path.realpath(self.path)]
            raise ForkedError(f"bank {self.path.stem}", opener, os.getpid(), hint=hint)

    def leave_to_parent(self, stuck: bool) -> None:
        """Close the inherited connections in a forked child. Refuse the file if threads of the parent are `stuck`."""
        self._closed = True
        self.turn.close()
        if stuck:
            # SQLite takes their locks for this process's own: writing to the file could lose data.
            forks.leak(self._all())
            _out_of_reach[os.path.realpath(self.path)] = self._process
            return
        for connection in self._all():
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            connection.close()


def _anybody() -> None:
    """Let every thread in: a fork only makes it wait."""


def _before_fork() -> None:
    # One gate for all files: a thread inside one may enter another, and two gates could deadlock.
    _at_work.hold_shut(FORK_PATIENCE)


def _after_fork_in_parent() -> None:
    _at_work.open_again()


def _after_fork_in_child() -> None:
    stuck = _at_work.others_inside
    _at_work.reset()
    for connections in list(_every):
        connections.leave_to_parent(stuck)
    _every.clear()


forks.around(_before_fork, _after_fork_in_parent, _after_fork_in_child)
