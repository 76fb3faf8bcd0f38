"""Erases deleted rows from the server's files: rewrites tables, the planner's samples and the write-ahead log.

PostgreSQL keeps the bytes of a deleted row in the table's file, in indexes, in `pg_statistic` and in its log. A purge
notes in the table `erasure` what to rewrite. One rewrite serves every purge that committed before it. Nothing here
decides what is deleted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from psycopg.errors import DeadlockDetected, Diagnostic, DiskFull, LockNotAvailable, OutOfMemory, QueryCanceled

from pieria.record.time import iso, moment
from pieria.store.postgres.driver import Connection
from pieria.store.postgres.session import PostgresSession
from pieria.store.postgres.statements import statements
from pieria.store.protocol import Finding
from pieria.store.sql.checks import PURGE_TAKES, REPAIR

AGAIN = "`pieria doctor --repair` tries again"
LOCK = "1346982981, 0"
"""Advisory lock of the process that rewrites; no bank has it."""
REMOVED_BANK = 0
LOCK_MILLISECONDS = 1_500
"""How long one attempt waits for a table's lock, while readers queue behind it. Autovacuum gives way sooner."""
PATIENT_SECONDS = 60.0
LOCKED_SECONDS = 5.0
"""How long a purge keeps readers of a table waiting."""
NAP_SECONDS = 0.05
BYTES_A_SECOND = 20 << 20
"""The rate at which a slow disk rewrites tables with their indexes."""
WORDLESS = ("counter", "journal", "ledger", "member", "pending", "purged", "quarantine", "space", "told")
"""A purge deletes no words from these tables, so it does not rewrite them."""
UNTOLD = "since when, only members of pg_read_all_stats can see"
SAMPLES, LOG = "pg_statistic", "pg_wal"


class Waiting(NamedTuple):
    """A table to rewrite, or `SAMPLES` or `LOG`."""

    relation: str
    change: int
    """The newest transaction that erased from it."""
    size: int
    has_vector_index: bool


def mark(session: PostgresSession, origin: int, at: int, relations: Iterable[str] | None = None) -> None:
    """Note in the erasing transaction which tables to rewrite; None means all tables that can hold words. `origin` is
    the bank, or `REMOVED_BANK`.
    """
    given = None if relations is None else list(relations)
    asked = {"origin": origin, "at": at, "relations": given, "wordless": list(WORDLESS)}
    session.execute(statements("erasure.sql")["mark"], asked)


def waiting(connection: Connection) -> list[Waiting]:
    """Return what the purges of all banks of this database left to rewrite."""
    return [Waiting(*line) for line in connection.execute(_sql("waiting")).fetchall()]


def may_flush(connection: Connection) -> bool:
    """Return whether this role may empty the server's write-ahead log."""
    [(may,)] = connection.execute(_sql("may_flush")).fetchall()
    return bool(may)


def message_log(connection: Connection) -> list[str]:
    """Return the settings that make the server's message log contain statements."""
    return [str(setting) for (setting,) in connection.execute(_sql("message_log")).fetchall()]


def holders(connection: Connection, change: int) -> list[str]:
    """Return who may still see what this transaction erased, and who holds a rewrite up."""
    asked = {"change": change}
    found = [
        f"pid {pid} (role {role or 'of the server'}, {f'since {since}' if since else UNTOLD})"
        for pid, role, since in connection.execute(_sql("sessions"), asked).fetchall()
    ]
    found += [
        f"the prepared transaction {gid} (role {role}, since {since})"
        for gid, role, since in connection.execute(_sql("prepared"), asked).fetchall()
    ]
    slots = connection.execute(_sql("slots"), asked).fetchall()
    return found + [f"the replication slot {name}" for (name,) in slots]


def erasure_finding(session: PostgresSession, now: int) -> Finding:
    """Return whether what the bank purged, or what removed banks held, is still in the server's files."""
    found = session.execute(statements("erasure.sql")["of_bank"]).fetchall()
    sizes = {relation: size for relation, size, *_ in found if relation != LOG}
    flushes = may_flush(session.connection)
    if not sizes and not (found and flushes):
        left = "; the server's write-ahead log may hold it, and this role may not empty it" if found else ""
        return Finding("purge", True, f"tables and indexes hold no purged data{left}")
    since = min(at for _, _, at, _, _ in found)
    if not any(tried for _, _, _, tried, _ in found) and now - since < PURGE_TAKES:
        return Finding("purge", True, "a purge is being completed now")
    named = f"{', '.join(sizes)} ({_megabytes(sum(sizes.values()))})" if sizes else "the server's write-ahead log"
    seen = holders(session.connection, max(change for *_, change in found))
    by = f", and {', '.join(seen)} may still read it" if seen else ""
    return Finding("purge", False, f"data purged since {iso(moment(since))} may remain in {named}{by}", REPAIR)


def finish(connection: Connection, seconds: float, *, patient: bool = False, again: str = AGAIN) -> list[str]:
    """Rewrite what purges left behind. Return what is still left, each with the reason.

    Waits for other transactions up to `seconds` and for each table as long again; with `patient` at least a minute.
    Without it no table is locked for longer than `LOCKED_SECONDS`, and a table that would take longer is left. Close
    the connection afterwards: settings and a lock stay with it.
    """
    waits = max(seconds, PATIENT_SECONDS) if patient else seconds
    return _Finish(connection, waits, patient, again).run()


class _Finish:
    def __init__(self, connection: Connection, seconds: float, patient: bool, again: str) -> None:
        self._connection = connection
        self._seconds = seconds
        self._patient = patient
        self._longest = 0.0 if patient else min(seconds, LOCKED_SECONDS)
        self._again = again
        self._deadline = time.monotonic() + seconds

    def run(self) -> list[str]:
        if not self._alone():
            return [f"the server's files: another process is rewriting them; {self._again}"]
        found = waiting(self._connection)
        if not found:
            return []
        left = self._left(found)
        self._connection.execute(_sql("given_up"), {"change": max(each.change for each in found)})
        return left

    def _left(self, found: list[Waiting]) -> list[str]:
        tables = [each for each in found if each.relation not in (SAMPLES, LOG)]
        left = self._resampled(tables) or self._unseen(found)
        if left:
            return left
        left = [said for each in tables for said in self._rewritten(each)]
        left += [
            said for each in waiting(self._connection) if each.relation == SAMPLES for said in self._rewritten(each)
        ]
        return left + self._flushed(left)

    def _alone(self) -> bool:
        """Wait for another process that rewrites: its work need not be repeated. Return whether the lock was taken."""
        sql = statements("erasure.sql")["lock"].format(lock=LOCK).encode()
        return self._until(lambda: bool(self._connection.execute(sql).fetchall()[0][0]))

    def _until(self, done: Callable[[], bool]) -> bool:
        while not done():
            if time.monotonic() >= self._deadline:
                return False
            time.sleep(NAP_SECONDS)
        return True

    def _resampled(self, tables: list[Waiting]) -> list[str]:
        """Make the planner sample the rows that are left. An empty table would keep its old samples, so it gets a blank
        row meanwhile.
        """
        for table in tables:
            said = self._tried(table.relation, lambda relation=table.relation: self._sample(relation))  # type: ignore[misc]
            if said is not None:
                return [said]
        if tables:
            self._connection.execute(_sql("sampled"))
        return []

    def _sample(self, relation: str) -> None:
        with self._connection.transaction():
            self._connection.execute("SET LOCAL pieria.bank = 0")
            [(empty,)] = self._connection.execute(_sql("is_empty", relation=relation)).fetchall()
            if empty:
                [(columns, values)] = self._connection.execute(_sql("blank"), {"relation": relation}).fetchall()
                self._connection.execute(_sql("put_blank", relation=relation, columns=columns, values=values))
            self._run(_sql("sample", relation=relation))
            if empty:
                self._connection.execute(_sql("drop_blank", relation=relation))

    def _unseen(self, found: list[Waiting]) -> list[str]:
        """Wait until no snapshot shows what was erased: a rewrite would keep it."""
        newest = max(each.change for each in waiting(self._connection) or found)
        said: list[str] = []

        def outlived() -> bool:
            said[:] = [refusal] if (refusal := self._tried("erasure", lambda: self._run(_sql("freeze")))) else []
            return bool(said) or (self._is_past(newest) and self._outlived("erasure", newest))

        if self._until(outlived):
            return said
        names = ", ".join(holders(self._connection, newest)) or "another transaction"
        return [f"what {names} may still read; {self._again}"]

    def _outlived(self, relation: str, change: int) -> bool:
        asked = {"relation": relation, "change": change}
        return self._connection.execute(_sql("outlived"), asked).fetchone() == (True,)

    def _is_past(self, change: int) -> bool:
        return self._connection.execute(_sql("is_past"), {"change": change}).fetchone() == (True,)

    def _rewritten(self, table: Waiting) -> list[str]:
        """Rewrite a table with its indexes. Return the reason if that failed."""
        name = f"{table.relation} ({_megabytes(table.size)})"
        if not self._patient and (table.has_vector_index or table.size > BYTES_A_SECOND * self._longest):
            self._tried(table.relation, lambda: self._run(_sql("vacuum", relation=table.relation)))
            return [f"{name}: rewriting it would keep readers waiting; `pieria doctor --repair` does it"]
        self._deadline = time.monotonic() + self._seconds
        said = self._tried(name, lambda: self._rewrite(table), longest=self._longest)
        if said is not None:
            return [said]
        if not self._outlived(table.relation, table.change):
            return [f"{name}: another transaction may still read it; {self._again}"]
        self._connection.execute(_sql("rewritten"), {"relation": table.relation, "change": table.change})
        return []

    def _rewrite(self, table: Waiting) -> None:
        """Rewrite the table, then build its vector indexes concurrently: that takes minutes."""
        asked = {"relation": table.relation}
        indexes = self._connection.execute(_sql("vector_indexes"), asked).fetchall() if table.has_vector_index else []
        for index, _ in indexes:
            self._connection.execute(statements("indexing.sql")["drop"].format(name=index).encode())
        try:
            self._run(_sql("rewrite", relation=table.relation))
        finally:
            for _, made in indexes:
                build = str(made).replace("CREATE INDEX ", "CREATE INDEX CONCURRENTLY IF NOT EXISTS ", 1)
                self._connection.execute("SET lock_timeout = 0")
                self._connection.execute(build.encode())

    def _tried(self, name: str, act: Callable[[], object], *, longest: float = 0.0) -> str | None:
        """Call `act` as soon as its lock is free. Return what prevented it until the deadline, or None."""
        while True:
            left = max(1, round(1000 * (self._deadline - time.monotonic())))
            self._connection.execute(f"SET lock_timeout = {min(LOCK_MILLISECONDS, left)}".encode())
            self._connection.execute(f"SET statement_timeout = {round(1000 * longest)}".encode())
            try:
                act()
            except (LockNotAvailable, DeadlockDetected):
                if time.monotonic() >= self._deadline:
                    return f"{name}: others use it; {self._again}"
                time.sleep(NAP_SECONDS)
            except QueryCanceled:
                return f"{name}: it takes longer than {longest:g} seconds; `pieria doctor --repair` does it"
            except (DiskFull, OutOfMemory) as problem:
                return f"{name}: {problem.diag.message_primary}; {self._again}"
            except _RefusedError as problem:
                return f"{name}: {problem}; {self._again} as its owner"
            else:
                return None
            finally:
                self._connection.execute("SET statement_timeout = 0")

    def _run(self, statement: bytes) -> None:
        """Run the statement. Raise `_RefusedError` if the server skips the table with only a warning."""
        warned: list[str] = []

        def note(said: Diagnostic) -> None:
            if said.severity_nonlocalized == "WARNING":
                warned.append(said.message_primary or "")

        self._connection.add_notice_handler(note)
        try:
            self._connection.execute(statement)
        finally:
            self._connection.remove_notice_handler(note)
        if warned:
            raise _RefusedError(warned[0])

    def _flushed(self, left: list[str]) -> list[str]:
        """Overwrite the existing files of the write-ahead log. Return nothing if `may_flush` denies it."""
        found = [each for each in waiting(self._connection) if each.relation == LOG]
        if not found or not may_flush(self._connection):
            return []
        if left:
            return ["the server's write-ahead log: it is emptied once the tables are rewritten"]
        self._deadline = time.monotonic() + self._seconds
        self._connection.execute(_sql("next_log_file"))
        first = self._log_file()
        self._connection.execute(_sql("checkpoint"))
        last = max(self._log_files())
        # A checkpoint deletes old files or recycles them under the next names, where they are overwritten one by one.
        while (present := self._log_file()) <= last:
            if not self._patient and time.monotonic() >= self._deadline:
                number = sum(name >= present for name in self._log_files())
                return [f"the server's write-ahead log: {number} files are not overwritten yet; {self._again}"]
            self._connection.execute(_sql("next_log_file"))
        if kept := [name for name in self._log_files() if name < first]:
            keepers = ", ".join(str(name) for (name,) in self._connection.execute(_sql("log_keepers")).fetchall())
            said = f"the server's write-ahead log: {len(kept)} files are kept ({keepers or 'no reason was found'})"
            return [f"{said}; {self._again}"]
        self._connection.execute(_sql("rewritten"), {"relation": LOG, "change": found[0].change})
        return []

    def _log_file(self) -> str:
        return str(self._connection.execute(_sql("log_file")).fetchall()[0][0])

    def _log_files(self) -> list[str]:
        return [str(name) for (name,) in self._connection.execute(_sql("log_files")).fetchall()]


class _RefusedError(Exception):
    """The server skipped a table."""


def _sql(name: str, **values: Any) -> bytes:
    sql = statements("erasure.sql")[name]
    return (sql.format(**values) if values else sql).encode()


def _megabytes(size: int) -> str:
    return f"{size / (1 << 20):,.0f} MB"
