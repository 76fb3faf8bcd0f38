"""Connections of the driver: how values are sent, how the server is checked, and how its errors become ours."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import errors
from psycopg.adapt import Buffer, Dumper
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.types.numeric import Int8Dumper
from psycopg.types.string import StrDumper

from pieria.errors import (
    BusyError,
    CorruptError,
    DiskFullError,
    PieriaError,
    ReadOnlyError,
    RefusedError,
    StorageError,
    UnreachableError,
    UnsuitableError,
)
from pieria.record.address import HOW_TO_WRITE, UNREADABLE
from pieria.store.sql.session import UnreadableRow

DEFAULTS = {
    "connect_timeout": "10", "application_name": "pieria", "client_encoding": "utf8",
    "keepalives_idle": "30", "keepalives_interval": "10", "keepalives_count": "3",
}  # fmt: skip
"""Defaults for parameters that the address does not set. Keepalives notice a dead connection within a minute."""
OLDEST_SERVER = 150_000
"""PostgreSQL 15, as the server gives its version."""
OLDEST_VECTORS = (0, 8)
"""Version of pgvector with iterative index scans, which go on if a filter rejects most rows."""
_IN_NO_TEXT = re.compile("[\0\ud800-\udfff]")
NOT_IN_ANY_TEXT = "\ufffe"
"""Replaces NUL and lone surrogates in values: the server rejects them. A search for them finds nothing."""
SET_UP = """
SELECT set_config('search_path', 'pieria, ' || coalesce((
    SELECT quote_ident(n.nspname) || ', ' FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
    WHERE e.extname = 'vector'
), '') || 'public', false), set_config('jit', 'off', false), set_config('lock_timeout', '5s', false)
"""
"""Find the extension's schema, which the administrator chooses. JIT is off: it takes longer than our statements. The
lock timeout holds outside of a bank's transactions, which set their own.
"""
NOT_LET_IN = (
    "authentication failed", "no password supplied", "no pg_hba.conf entry", "is not permitted to log in",
    "permission denied", 'role "',
)  # fmt: skip
NO_DATABASE = "does not exist"

Connection = psycopg.Connection[tuple[Any, ...]]


class _Truth(Dumper):
    """Sends booleans as whole numbers, as in every store."""

    oid = Int8Dumper.oid

    def dump(self, obj: bool) -> Buffer:
        return b"1" if obj else b"0"


class _Text(StrDumper):
    def dump(self, obj: str) -> Buffer | None:
        try:
            return super().dump(obj.replace("\0", NOT_IN_ANY_TEXT) if "\0" in obj else obj)
        except UnicodeEncodeError:
            return super().dump(_IN_NO_TEXT.sub(NOT_IN_ANY_TEXT, obj))


def connected(url: str) -> Connection:
    """Return a connection in autocommit mode, set up for banks."""
    try:
        connection = psycopg.connect(make_conninfo(**{**DEFAULTS, **_parsed(url)}), autocommit=True)
    except psycopg.ProgrammingError:
        raise _unreadable() from None
    try:
        for type, dumper in ((int, Int8Dumper), (bool, _Truth), (str, _Text)):
            connection.adapters.register_dumper(type, dumper)
        connection.execute(SET_UP)
    except BaseException:
        connection.close()
        raise
    return connection


def check_server(connection: Connection) -> None:
    """Raise `UnsuitableError` for a server that cannot hold banks."""
    version = connection.info.server_version
    if version < OLDEST_SERVER:
        raise UnsuitableError(
            "open",
            f"the server is PostgreSQL {version // 10_000}, and banks need {OLDEST_SERVER // 10_000} or newer",
            hint="Upgrade the server, or name another one.",
        )
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise UnsuitableError(
            "open",
            f"the database is encoded in {encoding}, and a bank's texts need UTF8",
            hint="Create another: CREATE DATABASE name ENCODING 'UTF8' TEMPLATE template0.",
        )


def check_vectors(version: str | None) -> None:
    """Raise `UnsuitableError` if the extension is missing or too old."""
    if version is None:
        raise UnsuitableError("open", "the extension pgvector is missing in the database", hint=HOW_TO_EXTEND)
    if tuple(map(int, version.split(".")[:2])) < OLDEST_VECTORS:
        raise UnsuitableError(
            "open",
            f"the extension pgvector is {version}, and banks need {'.'.join(map(str, OLDEST_VECTORS))} or newer",
            hint="As the extension's owner, run: ALTER EXTENSION vector UPDATE.",
        )


HOW_TO_EXTEND = (
    "Install pgvector on the server. Then, as an administrator, run in the database: CREATE EXTENSION vector."
)


def shown(url: str) -> str:
    """Return the address without user and password, for people."""
    given = _parsed(url)
    host = given.get("host") or "localhost"
    port = f":{given['port']}" if given.get("port") else ""
    return f"postgresql://{host}{port}/{given.get('dbname') or ''}"


def _parsed(url: str) -> dict[str, Any]:
    try:
        return conninfo_to_dict(url)
    except (psycopg.ProgrammingError, UnicodeError):
        # The driver's message quotes the text that it could not parse, which may hold the password.
        raise _unreadable() from None


def _unreadable() -> StorageError:
    return StorageError("open", UNREADABLE, hint=HOW_TO_WRITE)


@contextmanager
def translated(operation: str, where: str) -> Iterator[None]:
    """Turn the driver's errors into ours, which say what to do. The original stays as the cause. `where` is shown."""
    try:
        yield
    except psycopg.Error as problem:
        raise as_ours(problem, operation, where) from problem
    except UnreadableRow as problem:
        raise damaged(operation, where, str(problem)) from problem


def damaged(operation: str, where: str, said: str) -> CorruptError:
    hint = "Check the server's data, or restore a backup with `pieria restore`."
    return CorruptError(operation, f"the bank at {where} is damaged ({said})", hint=hint)


def as_ours(problem: psycopg.Error, operation: str, where: str) -> PieriaError:
    state = problem.sqlstate or ""
    made = next((made for prefix, made in _BY_STATE.items() if state.startswith(prefix)), None)
    if made is not None:
        return made(operation, where, _said(problem))
    if isinstance(problem, errors.OperationalError | errors.InterfaceError) and not state:
        return _not_connected(operation, where, _said(problem))
    return StorageError(operation, f"{_said(problem)} ({state or type(problem).__name__})", hint="Run `pieria doctor`.")


def _said(problem: psycopg.Error) -> str:
    """Return the first line of the driver's message: the rest repeats our statements."""
    primary = problem.diag.message_primary
    return (primary or str(problem)).strip().partition("\n")[0]


def _not_connected(operation: str, where: str, said: str) -> PieriaError:
    if any(words in said for words in NOT_LET_IN):
        return _refused(operation, where, said)
    if "database" in said and NO_DATABASE in said:
        return UnsuitableError(operation, f"at {where}: {_after_fatal(said)}", hint="Create it: CREATE DATABASE name.")
    return _unreachable(operation, where, said)


def _after_fatal(said: str) -> str:
    return said.rpartition("FATAL:")[2].strip()


def _busy(operation: str, where: str, said: str) -> PieriaError:
    reason = f"another transaction changed the bank at {where} at the same time ({said})"
    return BusyError(operation, reason, hint="Try again in a moment.")


def _locked(operation: str, where: str, said: str) -> PieriaError:
    return BusyError(operation, f"the bank at {where} is locked: {said}", hint="Try again in a moment.")


def _too_long(operation: str, where: str, said: str) -> PieriaError:
    return BusyError(operation, f"a statement at {where} took too long ({said})", hint="Try again in a moment.")


def _unreachable(operation: str, where: str, said: str) -> PieriaError:
    return UnreachableError(operation, f"{where} cannot be reached ({_after_fatal(said)})")


def _refused(operation: str, where: str, said: str) -> PieriaError:
    return RefusedError(operation, f"{where} does not allow it ({_after_fatal(said)})")


def _full(operation: str, where: str, _said: str) -> PieriaError:
    hint = "Free some space on the server's disk, then try again."
    return DiskFullError(operation, f"no space left on the server of {where}", hint=hint)


def _read_only(operation: str, where: str, said: str) -> PieriaError:
    hint = "Name the primary server: this one is a replica, or is set to read-only."
    return ReadOnlyError(operation, f"{where} is read-only ({said})", hint=hint)


_BY_STATE: Mapping[str, Callable[[str, str, str], PieriaError]] = {
    "08": _unreachable,
    "57P": _unreachable,
    "53300": _unreachable,
    "55P03": _locked,
    "57014": _too_long,
    "40": _busy,
    "25P03": _busy,
    "53100": _full,
    "25006": _read_only,
    "42501": _refused,
    "28": _refused,
    # Our statements are correct: an object that they do not find means a damaged database.
    "42": damaged,
    "XX": damaged,
    "22": damaged,
}
"""By the prefix of the SQLSTATE; the first match counts."""
