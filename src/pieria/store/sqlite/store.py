"""The embedded store: one SQLite file a bank, one writer at a time, one reader a thread, many processes."""

from __future__ import annotations

import errno
import os
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from pieria.errors import ForeignFileError, NotFoundError, ReadOnlyError
from pieria.language.analyser import ANALYSER_VERSION
from pieria.record.changeset import Content
from pieria.record.time import Clock, iso, micros, system_clock
from pieria.store.files import PRIVATE_FILE, PRIVATE_FOLDER, flush, stamp, storage_error, written_aside
from pieria.store.protocol import Finding, Progress, Reader
from pieria.store.seal import Seal
from pieria.store.sql.checks import every_rule, repaired, told
from pieria.store.sql.sieves import Sieves
from pieria.store.sql.text import Frequencies
from pieria.store.sql.wordings import Wordings
from pieria.store.sqlite import folder
from pieria.store.sqlite.alone import nobody_using, take_away
from pieria.store.sqlite.check import BESIDE_RULES, findings, marks
from pieria.store.sqlite.connection import Connections, translated
from pieria.store.sqlite.conversion import clear
from pieria.store.sqlite.file import LOGS, empty
from pieria.store.sqlite.migrate import is_up_to_date, migrate
from pieria.store.sqlite.near import SQLiteVectors
from pieria.store.sqlite.reader import SQLiteReader
from pieria.store.sqlite.scan import Scan
from pieria.store.sqlite.seal_driver import is_sealed, made_file, name_of, operational_errors
from pieria.store.sqlite.session import SQLiteSession
from pieria.store.sqlite.statements import statements
from pieria.store.sqlite.vacuum import vacuum
from pieria.store.sqlite.writer import SQLiteWriter

T = TypeVar("T")

SYNCHRONOUS = {"full": "FULL", "relaxed": "NORMAL", "off": "OFF"}
"""How far a commit waits for the disk. `off` is for throw-away banks: it survives a crash of the process only."""

LEAST_DATABASE = 512
"""Bytes of SQLite's smallest page."""
PAGES_A_STEP = 2_000
AGAIN = "`pieria doctor --repair` tries again"
BUSY = ("SQLITE_BUSY", "SQLITE_LOCKED")
SHORTEST_NAP, LONGEST_NAP = 0.0002, 0.002
LOOK_SECONDS = 0.2
"""Interval of polling a file for changes: other processes send no notifications."""


class SQLiteStore:
    """Opens and migrates the file, or makes it; `NotFoundError` if it may not `create` it."""

    def __init__(
        self,
        path: Path,
        *,
        create: bool = True,
        durability: str = "full",
        busy_seconds: float = 20.0,
        clock: Clock = system_clock,
        on_migration: Callable[[str], None] | None = None,
        on_made: Callable[[], None] | None = None,
        analyser: int = ANALYSER_VERSION,
        foreign: bool = False,
        seal: Seal | None = None,
    ) -> None:
        """`on_made` is called when the file is new. A `foreign` bank is read as hearsay and never written. `seal`
        encrypts a new file and opens a sealed one.
        """
        self.path = path
        self._seal = seal
        self.is_foreign = foreign
        self._on_made = on_made
        self.analyser = analyser
        self._clock = clock
        self._on_migration = on_migration
        self._frequencies = Frequencies()
        self._closing = threading.Event()
        self._scan = Scan()
        self._sieves = Sieves()
        self._wordings = Wordings()
        self._busy_seconds = busy_seconds
        self._open(create, SYNCHRONOUS[durability])

    def _open(self, create: bool, synchronous: str) -> None:
        """Open the file. If another process removes the bank meanwhile, retry and make a new one."""
        for is_last in (False, False, True):
            self._find_place(create)
            busy_ms = int(self._busy_seconds * 1000)
            self._connections = Connections(self.path, synchronous=synchronous, busy_ms=busy_ms, seal=self._seal)
            try:
                self._prepare()
            except BaseException as problem:
                self._connections.close()
                if is_last or not (create and isinstance(problem, NotFoundError)):
                    raise
            else:
                return

    def _find_place(self, create: bool) -> None:
        try:
            while not (create and self._made_place()):
                try:
                    self._check_file()
                except FileNotFoundError:
                    # A dangling link is an error and is not replaced.
                    if not create or self.path.is_symlink():
                        raise
                else:
                    return
        except OSError as problem:
            if not create and (isinstance(problem, FileNotFoundError) or not os.path.exists(self.path)):
                raise NotFoundError("bank", self.path.stem) from problem
            found = storage_error("open", self.path, problem)
            if isinstance(found, ReadOnlyError):
                hint = "Choose a folder that this user may write to, with --data or PIERIA_DATA."
                found = ReadOnlyError("open", f"{self.path} cannot be written ({problem.strerror})", hint=hint)
            raise found from problem

    def _made_place(self) -> bool:
        """Make folder and file, private to their owner, and sync their names. Return whether the file is new."""
        missing = [folder for folder in (self.path.parent, *self.path.parent.parents) if not folder.exists()]
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=PRIVATE_FOLDER)
        for made in missing:
            flush(made.parent)
        is_new = self._made_file()
        if is_new:
            flush(self.path.parent)
            if self._on_made is not None:
                self._on_made()
        return is_new

    def _made_file(self) -> bool:
        """Return False if the file exists. It must not be opened then: closing it would drop our own locks on it."""
        if self._seal is not None:
            return made_file(self.path, self._seal)
        try:
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, PRIVATE_FILE))
        except FileExistsError:
            return False
        return True

    def _check_file(self) -> None:
        """Refuse files too short for a database: SQLite takes them for empty ones and would overwrite them."""
        if 0 < self.path.stat().st_size < LEAST_DATABASE:
            hint = "Name another bank or move the file away."
            raise ForeignFileError("open", f"{self.path} is not a database", hint=hint)
        if not self.is_foreign and not os.access(self.path, os.W_OK):
            # A file that was just removed, or removed and made again, is no permission problem.
            self.path.stat()
            if not os.access(self.path, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    def _prepare(self) -> None:
        if self.is_foreign:
            self._check_schema()
            return
        with self._connections.used(), self._connections.lock, translated("open", self.path, self._seal):
            connection = self._connections.writer()
            self._bring_up_to_date(connection)
            self._patiently(connection, lambda: connection.execute("PRAGMA journal_mode = WAL"))
            unfinished = connection.execute(statements("engine.sql")["unfinished_purge"]).fetchone()
            unsifted = connection.execute(statements("codes.sql")["unsifted"]).fetchone()
        if unsifted and unsifted[0]:
            with self.writing() as writer:
                writer.sift_windows()
        clear(self.path)
        if unfinished and unfinished[0]:
            self.scrub()

    def _check_schema(self) -> None:
        """Refuse a foreign bank of an older schema: migrating it would write to it."""
        with (
            self._connections.used(),
            translated("open", self.path, self._seal),
            self._connections.reader() as connection,
        ):
            if not is_up_to_date(connection, self.path):
                raise self._foreign("open", "it has an older schema")

    def _foreign(self, operation: str, reason: str = "it may not be written") -> ReadOnlyError:
        hint = "Run `pieria trust` for the project in your own terminal, or use another data folder."
        return ReadOnlyError(operation, f"{self.path} is in an untrusted project: {reason}", hint=hint)

    def _bring_up_to_date(self, connection: sqlite3.Connection) -> None:
        """Migrate if necessary. If nothing is missing, opening does not wait for writers."""
        if self._patiently(connection, lambda: is_up_to_date(connection, self.path)):
            return
        now = iso(self._clock())
        with self._turn():
            self._patiently(connection, lambda: migrate(connection, self.path, now, self._back_up_before_migration))

    @contextmanager
    def _turn(self, seconds: float | None = None) -> Iterator[sqlite3.Connection]:
        """Yield the writing connection, while no other process writes to the file or checkpoints its log."""
        until = None if seconds is None else time.monotonic() + seconds
        with self._connections.used(), self._connections.locked(seconds):
            connection = self._connections.writer()
            self._patiently(connection, self._connections.turn.take, _left(until))
            try:
                yield connection
            finally:
                self._connections.turn.give()

    def _patiently(self, connection: sqlite3.Connection, act: Callable[[], T], seconds: float | None = None) -> T:
        """Retry an action that needs the file exclusively, until the busy time or `seconds` is over.

        SQLite's own retries sleep up to 100 ms. A process that writes all the time would win every time.
        """
        deadline = time.monotonic() + (self._busy_seconds if seconds is None else seconds)
        connection.execute("PRAGMA busy_timeout = 0")
        try:
            while True:
                try:
                    return act()
                except BlockingIOError:
                    if time.monotonic() > deadline:
                        raise
                except operational_errors() as problem:
                    if not name_of(problem).startswith(BUSY) or time.monotonic() > deadline:
                        raise
                # Closing the store waits only briefly for this thread, so check for it.
                self._connections.check_open()
                time.sleep(random.uniform(SHORTEST_NAP, LONGEST_NAP))  # noqa: S311 - not a secret
        finally:
            connection.execute(f"PRAGMA busy_timeout = {int(1000 * self._busy_seconds)}")

    def _back_up_before_migration(self, number: int) -> None:
        target = self.path.with_name(f"{self.path.stem}.before-schema-{number + 1}.{stamp(self._clock())}.backup")
        self.backup(target)
        if self._on_migration is not None:
            self._on_migration(str(target))

    @contextmanager
    def reading(self, seconds: float | None = None) -> Iterator[SQLiteReader]:
        with translated("read", self.path, self._seal), self.looking(seconds) as connection:
            yield self._reader(connection)

    def _reader(self, connection: sqlite3.Connection) -> SQLiteReader:
        session = SQLiteSession(connection, reads=True)
        vectors = SQLiteVectors(session, self._scan, self._sieves)
        return SQLiteReader(session, self._frequencies, self._sieves, self._wordings, vectors, foreign=self.is_foreign)

    @contextmanager
    def writing(self, seconds: float | None = None) -> Iterator[SQLiteWriter]:
        if self.is_foreign:
            raise self._foreign("write")
        until = None if seconds is None else time.monotonic() + seconds
        with translated("write", self.path, self._seal), self._turn(seconds) as connection:
            self._patiently(connection, lambda: connection.execute("BEGIN IMMEDIATE"), _left(until))
            try:
                session = SQLiteSession(connection)
                yield SQLiteWriter(session, self._frequencies, self._scan, self.now, self.analyser)
                connection.execute("COMMIT")
            finally:
                # A failed commit (a full disk) may have rolled back already.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def wait(self, seq: int, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while True:
            with self.reading() as reader:
                if reader.head().seq > seq:
                    return True
            left = deadline - time.monotonic()
            if left <= 0 or self._closing.wait(min(left, LOOK_SECONDS)):
                return False

    def now(self) -> int:
        return micros(self._clock())

    def scrub(self) -> list[str]:
        """Rewrite the file and empty the write-ahead log. Return what could not be done.

        Overwriting deleted data is not enough: split pages keep copies in their unused parts. A reader elsewhere or a
        full disk can prevent it; then the check reports that until it is done.
        """
        if self.is_foreign:
            raise self._foreign("purge")
        self._wordings.clear()
        with translated("purge", self.path, self._seal), self._turn() as connection:
            try:
                self._patiently(connection, lambda: vacuum(connection, self.path))
            except operational_errors() as problem:
                return [f"{self.path.name}: it could not be rewritten ({problem}); {AGAIN}"]
            blocked, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if blocked:
                return [f"{self.path.name}-wal: another process is reading; {AGAIN}"]
            connection.execute(statements("queries.sql")["finish_purge"])
            return []

    def backup(self, path: Path, progress: Progress | None = None) -> None:
        with written_aside(path, "backup", LOGS) as aside:
            self._copy_to(aside, progress)
            flush(aside)
            os.replace(aside, path)
            flush(path.parent)

    def _copy_to(self, aside: Path, progress: Progress | None) -> None:
        def report(_status: int, remaining: int, total: int) -> None:
            if progress is not None:
                progress(total - remaining, total)

        with translated("backup", self.path, self._seal), self._connections.used():
            source = self._connections.connect(query_only=False)
            target = empty(aside, self._seal if self.is_sealed else None, "backup")
            try:
                # An open read transaction fixes the snapshot: otherwise other writers could restart the copy for ever.
                source.execute("BEGIN")
                source.execute(statements("queries.sql")["head"]).fetchall()
                source.backup(target, pages=PAGES_A_STEP, progress=report)
                target.execute("PRAGMA journal_mode = DELETE")
            finally:
                target.close()
                source.close()

    def check(self, progress: Progress | None = None, *, thorough: bool = True) -> list[Finding]:
        with translated("check", self.path, self._seal):
            read = told(findings(self), len(every_rule()) + BESIDE_RULES, progress) if thorough else ()
            return [*read, *marks(self), folder.mode(self.path), folder.leftovers(self.path)]

    def repair(self, found: Sequence[Finding], terms_of: Callable[[Content], Sequence[str]]) -> list[str]:
        done = repaired(self, found, terms_of, self.scrub)
        self._wordings.clear()
        return done

    def copies(self) -> list[str]:
        return folder.copies(self.path)

    def reindex(
        self,
        terms_of: Callable[[Content], Sequence[str]],
        analyser: int,
        progress: Progress | None = None,
        *,
        if_older: bool = False,
    ) -> int:
        with self.writing() as writer:
            number = writer.rebuild_index(terms_of, analyser, progress, if_older)
        self._wordings.clear()
        return number

    def describe(self) -> dict[str, Any]:
        with translated("describe", self.path, self._seal), self._connections.used(), self._connections.lock:
            connection = self._connections.writer()

            def pragma(name: str) -> Any:
                return connection.execute(f"PRAGMA {name}").fetchone()[0]

            return {
                "engine": "sqlite",
                "engine_version": connection.execute(statements("engine.sql")["version"]).fetchone()[0],
                "sealed": self.is_sealed,
                "path": str(self.path),
                "schema": pragma("user_version"),
                "journal_mode": pragma("journal_mode"),
                "synchronous": {0: "off", 1: "relaxed", 2: "full"}.get(pragma("synchronous"), "extra"),
                "bytes": folder.size(self.path),
                "log_bytes": folder.size(self.path.with_name(self.path.name + "-wal")),
                "free_bytes": pragma("freelist_count") * pragma("page_size"),
                "vectors": connection.execute(statements("vectors.sql")["stored"]).fetchone()[0],
                "vector_type": "float16",
            }

    @property
    def is_sealed(self) -> bool:
        return is_sealed(self.path)

    @property
    def is_over(self) -> bool:
        return self._connections.is_closed

    def remove(self, last: Callable[[Reader], object]) -> list[str]:
        """Remove the bank by deleting its file's name. Its log was merged into the file before, and files left beside
        it hold nothing. If the name is a link, its target is deleted too.
        """
        if self.is_foreign:
            raise self._foreign("remove")
        self.close()
        with translated("remove", self.path, self._seal), nobody_using(self.path, "remove", self._seal) as connection:
            last(self._reader(connection))
            return take_away(self.path)

    def close(self) -> None:
        self._closing.set()
        self._connections.close()

    @contextmanager
    def looking(self, seconds: float | None = None) -> Iterator[sqlite3.Connection]:
        """Yield a reading connection in a transaction; within one of this thread, yield the same."""
        with self._connections.used(), self._connections.reader() as connection:
            if connection.in_transaction:
                yield connection
                return
            wait = self._busy_seconds if seconds is None else min(seconds, self._busy_seconds)
            connection.execute(f"PRAGMA busy_timeout = {int(1000 * wait)}")
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    @contextmanager
    def new_reader(self) -> Iterator[sqlite3.Connection]:
        """Yield a reading connection that has read nothing before."""
        with self._connections.used(), self._connections.new_reader() as connection:
            yield connection

    @contextmanager
    def rehearsing(self) -> Iterator[sqlite3.Connection]:
        """Yield the writing connection in a transaction that is rolled back: some checks are write statements."""
        with self._turn() as connection:
            self._patiently(connection, lambda: connection.execute("BEGIN IMMEDIATE"))
            try:
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")


def _left(until: float | None) -> float | None:
    """Return the seconds left until the deadline, or None without one."""
    return None if until is None else max(0.0, until - time.monotonic())
