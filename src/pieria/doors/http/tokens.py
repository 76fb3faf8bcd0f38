"""Tokens: their access and their banks. One file of the data folder holds them, as hashes.

Several processes may change it. A server checks the file before every request, so revoked tokens stop working at once.
"""

from __future__ import annotations

import fcntl
import hmac
import json
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from pieria.errors import ConfigError, ConflictError, InputError, NotFoundError, ReadOnlyError, StorageError
from pieria.record import check
from pieria.record.banks import USER_BANK, check_bank_name, same_bank
from pieria.record.ids import new_id
from pieria.record.json_text import parsed
from pieria.record.time import Clock, instant, iso, system_clock
from pieria.toolsets.registry import Access

FILE = "tokens.json"
LOCK = "tokens.lock"
PREFIX = "pieria_"
BYTES = 32
"""Random bytes in a token: 256 bits cannot be guessed, so a plain hash is safe."""
ALL = "*"
"""Means every bank except the user's own, which must be named. It is no valid bank name."""


@dataclass(frozen=True, slots=True)
class Token:
    """The stored part of a token. The token itself is not stored."""

    id: str
    name: str
    access: Access
    banks: tuple[str, ...]
    created: datetime
    expires: datetime | None
    digest: str
    person: bool = False
    """Whether texts sent with it count as a person's own words."""

    def covers(self, bank: str) -> bool:
        wanted = same_bank(bank)
        return wanted in map(same_bank, self.banks) or (ALL in self.banks and wanted != USER_BANK)

    def has_expired(self, now: datetime) -> bool:
        return self.expires is not None and self.expires <= now

    def as_dict(self) -> dict[str, Any]:
        """Return the token without its hash; times to the second."""
        return {
            "id": self.id,
            "name": self.name,
            "access": self.access.name,
            "banks": list(self.banks),
            "created": iso(self.created.replace(microsecond=0)),
            "expires": None if self.expires is None else iso(self.expires.replace(microsecond=0)),
            "person": self.person,
        }


class Tokens:
    """The tokens of a data folder."""

    def __init__(self, data: Path, clock: Clock = system_clock) -> None:
        self.path = data / FILE
        self._clock = clock
        self._seen: tuple[int, int, int] | None = None
        self._read: tuple[Token, ...] = ()

    @property
    def needed(self) -> bool:
        """Whether every caller needs a token: true once the token file exists, and while it cannot be read.

        Revoking the last token, or its expiry, must not open the server. Only removing the file does.
        """
        try:
            return self._found() is not None
        except ConfigError:
            return True

    def all(self) -> tuple[Token, ...]:
        """Return the tokens, oldest first. The file is read again only when it has changed."""
        found = self._found()
        if found is None:
            return ()
        seen = (found.st_ino, found.st_mtime_ns, found.st_size)
        if seen != self._seen:
            self._read, self._seen = _parsed(self.path), seen
        return self._read

    def _found(self) -> os.stat_result | None:
        """Return the file's status, or None if there is no file. Raise `ConfigError` if that is unknown."""
        try:
            return os.stat(self.path)
        except FileNotFoundError:
            return None
        except OSError as problem:
            raise _unreadable(self.path, problem) from problem

    def matching(self, shown: str) -> Token | None:
        """Return the token that was shown. The time taken does not depend on a match."""
        return self.of_digest(digest_of(shown))

    def of_digest(self, digest: str) -> Token | None:
        """Return the token with this hash."""
        found = None
        for token in self.all():
            if hmac.compare_digest(token.digest, digest):
                found = token
        return found

    def expired(self, token: Token) -> bool:
        return token.has_expired(self._clock())

    def create(
        self,
        name: str,
        access: str = "write",
        banks: Iterable[str] = (ALL,),
        expires: object = None,
        *,
        person: bool = False,
    ) -> tuple[Token, str]:
        """Return a new token and its secret, which is shown only once. Names are unique."""
        called = check.name(name, "name").strip()
        level = Access[check.one_of(access, "access", tuple(each.name for each in Access))]
        now = self._clock()
        until = None if expires is None else instant(expires, "expires", end_of_day=True)
        if until is not None and until <= now:
            raise InputError("expires", "a time in the future", iso(until))
        shown = PREFIX + secrets.token_urlsafe(BYTES)
        token = Token(new_id(), called, level, _named(banks), now, until, digest_of(shown), person)

        def with_it(held: Sequence[Token]) -> list[Token]:
            alike = [other.id for other in held if other.name == called]
            if alike:
                hint = f"Choose another name, or revoke that token first: pieria token revoke {alike[0]}."
                raise ConflictError(f"there is a token called {called} already", alike, hint=hint)
            return [*held, token]

        self._change(with_it)
        return token, shown

    def revoke(self, id: str) -> Token:
        """Revoke a token by its id, or by its name if it is unique."""
        revoked: list[Token] = []

        def without(held: Sequence[Token]) -> list[Token]:
            found = [token for token in held if token.id == id] or [token for token in held if token.name == id]
            if not found:
                raise NotFoundError("token", id, hint="`pieria token list` lists the tokens.")
            if len(found) > 1:
                reason = f"{len(found)} tokens are called {id}; name one by its id"
                raise ConflictError(reason, [token.id for token in found], hint="`pieria token list` shows the ids.")
            revoked.extend(found)
            return [token for token in held if token is not found[0]]

        self._change(without)
        return revoked[0]

    def _change(self, change: Callable[[Sequence[Token]], list[Token]]) -> None:
        """Read, change and write the file under a lock between processes."""
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _locked(self.path.with_name(LOCK)):
                held = () if self._found() is None else _parsed(self.path)
                _write(self.path, [{**token.as_dict(), "sha256": token.digest} for token in change(held)])
        except PermissionError as problem:
            raise ReadOnlyError("token") from problem
        except OSError as problem:
            raise StorageError("token", f"{self.path} cannot be written ({problem.strerror})") from problem


def digest_of(shown: str) -> str:
    return sha256(shown.encode("utf-8", "surrogatepass")).hexdigest()


def _named(banks: Iterable[str]) -> tuple[str, ...]:
    given = [bank.strip() for bank in banks]
    named = tuple(dict.fromkeys(bank if bank == ALL else check_bank_name(bank, "banks") for bank in given))
    if not named:
        raise InputError("banks", f"names of banks, or {ALL}", "none of them")
    return named


def _parsed(path: Path) -> tuple[Token, ...]:
    """Raise `ConfigError` for a file that is not a valid token file: then no caller is admitted."""
    try:
        written = path.read_bytes()
    except OSError as problem:
        raise _unreadable(path, problem) from problem
    try:
        listed = parsed(written)["tokens"]
        return tuple(_token(entry) for entry in listed)
    except (ValueError, KeyError, TypeError, AttributeError, InputError) as problem:
        hint = "Restore the file from a backup, or remove it and create new tokens."
        raise ConfigError(f"{path}: not a token file ({type(problem).__name__})", hint=hint) from problem


def _unreadable(path: Path, problem: OSError) -> ConfigError:
    hint = "Give the user of the server read access. Until then, all requests are refused."
    return ConfigError(f"{path}: the tokens cannot be read ({problem.strerror})", hint=hint)


def _token(entry: Mapping[str, Any]) -> Token:
    digest = entry["sha256"]
    if not isinstance(digest, str) or len(digest) != 64 or not digest.isascii():
        raise ValueError("a hash of 64 characters")
    expires = entry["expires"]
    return Token(
        id=check.name(entry["id"], "id"),
        name=check.name(entry["name"], "name"),
        access=Access[entry["access"]],
        banks=_named(entry["banks"]),
        created=instant(entry["created"], "created"),
        expires=None if expires is None else instant(expires, "expires"),
        digest=digest,
        person=check.flag(entry.get("person", False), "person"),
    )


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Lock a separate file, because the token file itself is replaced."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _write(path: Path, tokens: list[dict[str, Any]]) -> None:
    """Write a temporary file and rename it, so that the file is always whole. Only the user may read it."""
    aside = path.with_name(f"{path.name}.{new_id()}")
    handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(handle, "w", encoding="utf-8") as file:
            json.dump({"tokens": tokens}, file, ensure_ascii=False, indent=1)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
