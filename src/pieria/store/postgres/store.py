"""The store on a server. Banks share its tables; a bank has one writer at a time, and readers see snapshots."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import psycopg

from pieria.errors import BusyError, ClosedError, NotFoundError, PieriaError
from pieria.language.analyser import ANALYSER_VERSION
from pieria.record.changeset import Content
from pieria.record.time import Clock, micros, system_clock
from pieria.runtime import effort, forks
from pieria.store.copy import copy_to_file
from pieria.store.parts import REMOVED
from pieria.store.postgres.check import findings, marks
from pieria.store.postgres.driver import Connection, damaged, translated
from pieria.store.postgres.erasure import REMOVED_BANK, finish, mark, may_flush, message_log
from pieria.store.postgres.maintenance import count_anew, has_grown
from pieria.store.postgres.migrate import migrate
from pieria.store.postgres.notifications import CHANNEL, word
from pieria.store.postgres.pool import awake, leave, pool_of
from pieria.store.postgres.reader import PostgresReader, PostgresWriter
from pieria.store.postgres.security import secure
from pieria.store.postgres.session import PostgresSession
from pieria.store.postgres.statements import statements
from pieria.store.postgres.vector_indexes import CHECK as INDEX
from pieria.store.postgres.vector_indexes import build, unindex
from pieria.store.protocol import Finding, Progress, Reader
from pieria.store.seal import Seal
from pieria.store.sql.checks import every_rule, repaired, told
from pieria.store.sql.reader import COUNTERS, counters
from pieria.store.sql.sieves import Sieves
from pieria.store.sql.text import Frequencies
from pieria.store.sql.wordings import Wordings

SYNCHRONOUS = {"full": "on", "relaxed": "off", "off": "off"}
"""How far a commit waits for the server's disk. A commit is atomic with each of them."""
WRITERS_WAIT_FOR = ["ShareLock", "ShareRowExclusiveLock", "ExclusiveLock", "AccessExclusiveLock"]
READERS_WAIT_FOR = ["AccessExclusiveLock"]
TURN = 0x5049
"""Separates the locks for writing to banks from locks of other programs in the database."""
BEYOND = "the server's standbys, archives and backups, if there are any: they keep what was erased"
"""What no statement can erase."""
NOT_FLUSHED = (
    "the server's write-ahead log: this role may not empty it, and it keeps what was erased until it is overwritten"
)
LATER = "`pieria doctor --repair` of another bank in the database tries again"


class PostgresStore:
    """Opens a bank and migrates the schema, or makes the bank; `NotFoundError` if it may not `create` one."""

    def __init__(
        self,
        url: str,
        bank: str,
        *,
        create: bool = True,
        clock: Clock = system_clock,
        connections: int = 8,
        busy_seconds: float = 5.0,
        durability: str = "full",
        row_security: bool = False,
        on_migration: Callable[[str], None] | None = None,
        analyser: int = ANALYSER_VERSION,
        seal: Seal | None = None,
    ) -> None:
        """`seal` encrypts the backups, which are files."""
        self._seal = seal
        self.bank = bank
        self.analyser = analyser
        self._clock = clock
        self._busy_seconds = busy_seconds
        self._durability = durability
        self._synchronous = SYNCHRONOUS[durability]
        self._row_security = row_security
        self._frequencies = Frequencies()
        self._sieves = Sieves()
        self._wordings = Wordings()
        self._sql = statements("bank.sql")
        self._closed = False
        self._removed = False
        self._process = os.getpid()
        self._own = threading.local()
        self._writers = threading.Lock()
        with translated("open", "the address in data"):
            self._pool = pool_of(url, connections)
        self.where = f"{self._pool.shown}#{bank}"
        try:
            self.number = self._prepared(on_migration, create)
        except BaseException:
            leave(self._pool)
            raise

    def _prepared(self, on_migration: Callable[[str], None] | None, create: bool) -> int:
        asked = {"name": self.bank, "counters": sorted(COUNTERS)}
        with translated("open", self.where), self._connection() as connection:
            migrate(connection, self.where, told=on_migration)
            if self._row_security:
                secure(connection)
            found = connection.execute(self._sql["bank_number"].encode(), asked).fetchone()
            if found is None:
                if not create:
                    raise NotFoundError("bank", self.bank)
                self._make(connection, asked)
                found = connection.execute(self._sql["bank_number"].encode(), asked).fetchone()
            if found is None:
                raise damaged("open", self.where, "the bank was created but no longer exists")
            return int(found[0])

    def _make(self, connection: Connection, asked: dict[str, Any]) -> None:
        with connection.transaction():
            found = connection.execute(self._sql["make_bank"].encode(), asked).fetchone()
            if found is not None:
                made = {"bank": found[0], **asked}
                connection.execute(f"SET LOCAL pieria.bank = {found[0]}".encode())
                connection.execute(self._sql["make_counters"].encode(), made)

    @contextmanager
    def _connection(
        self, begin: Callable[[Connection], object] = awake, seconds: float | None = None
    ) -> Iterator[Connection]:
        self._check_open()
        connection = self._pool.take(self._busy_seconds if seconds is None else seconds, begin)
        try:
            yield connection
        finally:
            self._pool.give(connection)

    def _check_open(self) -> None:
        forks.check(self._process, "bank", self.bank)
        if self._closed:
            raise ClosedError(self.bank)

    @contextmanager
    def reading(self, seconds: float | None = None) -> Iterator[PostgresReader]:
        effort.check()
        with translated("read", self.where), self.looking(seconds) as session:
            yield PostgresReader(session, self._frequencies, self._sieves, self._wordings)

    @contextmanager
    def looking(self, seconds: float | None = None) -> Iterator[PostgresSession]:
        """Yield a read transaction; within one of this thread, yield the same. Waits for a lock no longer than the busy
        time, or than `seconds`.
        """
        forks.check(self._process, "bank", self.bank)
        held: PostgresSession | None = getattr(self._own, "session", None)
        if held is not None:
            yield held
            return
        with self._begun(self._begin_reading(seconds), seconds, reads=True) as session:
            self._own.session = session
            try:
                yield session
            finally:
                self._own.session = None

    @contextmanager
    def _begun(self, statement: str, seconds: float | None = None, *, reads: bool = False) -> Iterator[PostgresSession]:
        try:
            with self._connection(partial(self._begin, statement.encode()), seconds) as connection:
                session = PostgresSession(connection, self.number, reads=reads)
                try:
                    yield session
                    # A forked child that leaves the block must not end its parent's transaction.
                    forks.check(self._process, "bank", self.bank)
                    connection.execute("COMMIT")
                finally:
                    session.end()
        except psycopg.errors.LockNotAvailable as problem:
            waited = self._busy_seconds if seconds is None else seconds
            raise psycopg.errors.LockNotAvailable(f"waited {waited:.3g} s for {self._blocker(reads)}") from problem

    def _blocker(self, reads: bool) -> str:
        """Describe the session that holds the lock this one waited for."""
        modes = READERS_WAIT_FOR if reads else WRITERS_WAIT_FOR
        asked = {"turn": TURN, "bank": self.number, "modes": modes}
        with suppress(psycopg.Error, PieriaError), self._connection(seconds=1.0) as connection:
            found = connection.execute(self._sql["blockers"].encode(), asked).fetchone()
            if found is not None:
                pid, role, since, what = found
                return f"pid {pid} (role {role}{f', since {since}' if since else ''}), which holds {what}"
        return "a lock whose holder was not found"

    def _begin_reading(self, seconds: float | None) -> str:
        wait = self._busy_seconds if seconds is None else min(seconds, self._busy_seconds)
        longest = None if seconds is None else max(seconds, self._busy_seconds)
        limit = "" if longest is None else self._sql["limit"].format(longest=round(1000 * longest)) + ";"
        return self._sql["begin_reading"].format(bank=self.number, wait=max(1, round(1000 * wait)), limit=limit)

    def _begin(self, statements: bytes, connection: Connection) -> None:
        begun = connection.execute(statements)
        while begun.nextset():
            pass
        if begun.fetchone() is None:
            self._removed = True
            raise NotFoundError("bank", self.bank, hint=REMOVED)

    @contextmanager
    def writing(self, seconds: float | None = None) -> Iterator[PostgresWriter]:
        self._check_open()
        wait = self._busy_seconds if seconds is None else seconds
        deadline = time.monotonic() + wait
        # Threads of this process wait here, so that they hold no connection meanwhile.
        turn = self._writers
        if not turn.acquire(timeout=max(0.0, wait)):
            raise BusyError("write", f"another thread kept the bank at {self.where} locked", hint="Try again.")
        try:
            left = max(0.001, deadline - time.monotonic())
            with translated("write", self.where), self._begun(self._begin_writing(left), left) as session:
                writer = PostgresWriter(session, self._frequencies, self.now, self.analyser)
                before = writer.counted
                yield writer
                after = writer.counted
                if after["seq"] > before["seq"]:
                    session.execute(self._sql["tell"], {"channel": CHANNEL, "word": word(self.number, after["seq"])})
        finally:
            turn.release()
        if has_grown(before, after):
            self._count_anew(after)

    def _count_anew(self, held: Mapping[str, int]) -> None:
        # The write is committed: an error here must not reach the caller.
        with suppress(psycopg.Error, PieriaError), self._connection() as connection:
            count_anew(connection, self.number, held)

    def _begin_writing(self, seconds: float) -> str:
        return self._sql["begin_writing"].format(
            bank=self.number, wait=max(1, round(1000 * seconds)), durability=self._synchronous, namespace=TURN
        )

    def now(self) -> int:
        return micros(self._clock())

    def wait(self, seq: int, seconds: float) -> bool:
        self._check_open()
        following = self._pool.following
        return following.wait(self.number, seq, seconds, self._latest, lambda: self._closed)

    def _latest(self) -> int:
        with translated("read", self.where), self.looking() as session:
            found = session.execute(self._sql["latest"]).fetchone()
            return 0 if found is None else int(found[0])

    def scrub(self) -> list[str]:
        """Make the server rewrite its tables and empty its log, unless that would block readers for long."""
        self._wordings.clear()
        return self._finish_purges(patient=False)

    def _finish_purges(self, *, patient: bool) -> list[str]:
        with translated("purge", self.where):
            with self.looking() as session:
                erased = counters(session)["unscrubbed"]
            with self._pool.connect() as connection:
                left = finish(connection, self._busy_seconds, patient=patient)
            if not left:
                with self._begun(self._begin_writing(self._busy_seconds)) as session:
                    session.execute(statements("queries.sql")["finish_purge"], {"erased": erased})
        return left

    def backup(self, path: Path, progress: Progress | None = None) -> None:
        """Write the bank into a file that can be opened directly or restored into any store."""
        copy_to_file(self, path, progress, self._seal)

    def copies(self) -> list[str]:
        """Return copies of the data on the server that this role cannot erase."""
        with translated("read", self.where), self._connection() as connection:
            log = [] if may_flush(connection) else [NOT_FLUSHED]
            settings = message_log(connection)
        said = (
            [f"the server's log of messages: it may hold what was written ({', '.join(settings)})"] if settings else []
        )
        return [*log, *said, BEYOND]

    def check(self, progress: Progress | None = None, *, thorough: bool = True) -> list[Finding]:
        with translated("check", self.where), self.looking() as session:
            read = told(findings(session), len(every_rule()) + 1, progress) if thorough else ()
            return [*read, *marks(session, self.analyser, self.now())]

    def repair(self, found: Sequence[Finding], terms_of: Callable[[Content], Sequence[str]]) -> list[str]:
        done = repaired(self, found, terms_of, lambda: self._finish_purges(patient=True))
        self._wordings.clear()
        if any(finding.check == INDEX and finding.remedy for finding in found) and self._build_indexes():
            done.append(INDEX)
        return done

    def _build_indexes(self) -> list[str]:
        with translated("repair", self.where), self._pool.connect() as connection:
            return build(connection, self.number)

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
        with translated("describe", self.where), self.looking() as session:
            [(version, vectors, is_copy, size, database)] = session.execute(self._sql["server"]).fetchall()
            return {
                "engine": "postgresql",
                "engine_version": version,
                "server": self._pool.shown,
                "database": database,
                "pgvector": vectors,
                "synchronous": self._durability,
                "schema": session.execute(self._sql["applied"]).fetchall()[0][0],
                "read_only_copy": is_copy,
                "row_security": all(secured for _, secured in session.execute(self._sql["tables"])),
                "connections": self._pool.counts(),
                "bytes": size,
                "vectors": session.execute(self._sql["stored"]).fetchall()[0][0],
                "vector_type": "float16",
            }

    @property
    def is_over(self) -> bool:
        return self._closed or self._removed

    def remove(self, last: Callable[[Reader], object]) -> list[str]:
        """Drop the bank's indexes, which hold no data of their own, then delete all its rows in one transaction."""
        with translated("remove", self.where), self._pool.connect() as connection:
            unindex(connection, self.number, self._busy_seconds)
            with self._begun(self._begin_writing(self._busy_seconds)) as session:
                last(PostgresWriter(session, self._frequencies, self.now, self.analyser))
                self._unmake(session)
            left = self._left_behind(connection)
        self.close()
        return left

    def _left_behind(self, connection: Connection) -> list[str]:
        """Finish the erasure after removal. The bank is gone by now, so an error becomes a message."""
        try:
            return finish(connection, self._busy_seconds, again=LATER)
        except psycopg.Error:
            return [f"what was deleted, in the server's own files: rewriting them was interrupted; {LATER}"]

    def _unmake(self, session: PostgresSession) -> None:
        seq = counters(session)["seq"]
        for table, _ in session.execute(self._sql["tables"]).fetchall():
            session.execute(self._sql["empty_table"].format(table=table))
        session.execute(self._sql["unmake_bank"])
        mark(session, REMOVED_BANK, self.now())
        # Wake waiting threads: each looks and finds that the bank is gone.
        session.execute(self._sql["tell"], {"channel": CHANNEL, "word": word(self.number, seq + 1)})

    def close(self) -> None:
        is_open, self._closed = not self._closed, True
        if is_open and self._process == os.getpid():
            self._pool.following.wake()
            leave(self._pool)


def bank_names(url: str, *, connections: int = 8) -> list[str]:
    """Return the names of the banks in the database; none if it has no schema of Pieria yet."""
    return [str(name) for (name,) in _asked(url, connections, "names", {})]


def has_bank(url: str, name: str, *, connections: int = 8) -> bool:
    """Return whether there is a bank of exactly this name, without listing all names."""
    return bool(_asked(url, connections, "bank_number", {"name": name}))


def _asked(url: str, connections: int, what: str, asked: Mapping[str, str]) -> list[tuple[Any, ...]]:
    with translated("read", "the address in data"):
        pool = pool_of(url, connections)
    try:
        with translated("read", pool.shown):
            connection = pool.take(5.0)
            try:
                return connection.execute(statements("bank.sql")[what].encode(), asked).fetchall()
            except psycopg.errors.UndefinedTable:
                return []
            finally:
                pool.give(connection)
    finally:
        leave(pool)
