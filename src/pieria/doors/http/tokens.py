"""Tokens: who may come in, what they may do and in which banks. One file of the data folder holds them, as hashes.

Several processes may change it. A server looks at it before every request, so what is revoked is out at once.
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
from pieria.toolsets.tool import Access

FILE = "tokens.json"
LOCK = "tokens.lock"
PREFIX = "pieria_"
BYTES = 32
"""Of chance in a token: nobody guesses 256 bits, so a plain hash of it gives nothing away."""
ALL = "*"
"""In place of banks: every one but the user's own, which has to be named. No bank can be called so."""


@dataclass(frozen=True, slots=True)
class Token:
    """What is kept of a token; the token itself was shown once and is nowhere."""

    id: str
    name: str
    access: Access
    banks: tuple[str, ...]
    created: datetime
    expires: datetime | None
    digest: str
    person: bool = False
    """Whether what comes in with it is a person's own words."""

    def covers(self, bank: str) -> bool:
        wanted = same_bank(bank)
        return wanted in map(same_bank, self.banks) or (ALL in self.banks and wanted != USER_BANK)

    def has_expired(self, now: datetime) -> bool:
        return self.expires is not None and self.expires <= now

    def as_dict(self) -> dict[str, Any]:
        """Without its hash; times to the second."""
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
        """Whether nobody comes in without one. Once there was a token there is no way back but to remove the file:
        to revoke or outlive the last one must not open the door, nor must a file that is out of reach for a moment."""
        try:
            return self._found() is not None
        except ConfigError:
            return True

    def all(self) -> tuple[Token, ...]:
        """Those there are, oldest first. Read anew only when the file has changed."""
        found = self._found()
        if found is None:
            return ()
        seen = (found.st_ino, found.st_mtime_ns, found.st_size)
        if seen != self._seen:
            self._read, self._seen = _parsed(self.path), seen
        return self._read

    def _found(self) -> os.stat_result | None:
        """None where there is no file. Raises `ConfigError` where that cannot be told."""
        try:
            return os.stat(self.path)
        except FileNotFoundError:
            return None
        except OSError as problem:
            raise _unreadable(self.path, problem) from problem

    def matching(self, shown: str) -> Token | None:
        """The token that somebody shows. It takes as long whether, and where, there is one."""
        return self.of_digest(digest_of(shown))

    def of_digest(self, digest: str) -> Token | None:
        """The same, by the hash of what was shown."""
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
        """A new one, and what to show for it, which is told this once. No two are called the same."""
        called = check.name(name, "name").strip()
        level = Access[check.one_of(access, "access", tuple(each.name for each in Access))]
        now = self._clock()
        until = None if expires is None else instant(expires, "expires", end_of_day=True)
        if until is not None and until <= now:
            raise InputError("expires", "a time that is yet to come", iso(until))
        shown = PREFIX + secrets.token_urlsafe(BYTES)
        token = Token(new_id(), called, level, _named(banks), now, until, digest_of(shown), person)

        def with_it(held: Sequence[Token]) -> list[Token]:
            alike = [other.id for other in held if other.name == called]
            if alike:
                hint = f"Choose another name, or end that one first: pieria token revoke {alike[0]}."
                raise ConflictError(f"there is a token called {called} already", alike, hint=hint)
            return [*held, token]

        self._change(with_it)
        return token, shown

    def revoke(self, id: str) -> Token:
        """Ends one, by its id or by a name that only one has."""
        revoked: list[Token] = []

        def without(held: Sequence[Token]) -> list[Token]:
            found = [token for token in held if token.id == id] or [token for token in held if token.name == id]
            if not found:
                raise NotFoundError("token", id, hint="`pieria token list` shows the tokens there are.")
            if len(found) > 1:
                reason = f"{len(found)} tokens are called {id}; name one by its id"
                raise ConflictError(reason, [token.id for token in found], hint="`pieria token list` tells them apart.")
            revoked.extend(found)
            return [token for token in held if token is not found[0]]

        self._change(without)
        return revoked[0]

    def _change(self, change: Callable[[Sequence[Token]], list[Token]]) -> None:
        """Reads, changes and writes while no other process does."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with _locked(self.path.with_name(LOCK)):
                held = () if self._found() is None else _parsed(self.path)
                _write(self.path, [_kept(token) for token in change(held)])
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
    """Raises `ConfigError` for a file that cannot be read as it should: then nobody comes in."""
    try:
        written = path.read_bytes()
    except OSError as problem:
        raise _unreadable(path, problem) from problem
    try:
        listed = parsed(written)["tokens"]
        return tuple(_token(entry) for entry in listed)
    except (ValueError, KeyError, TypeError, AttributeError, InputError) as problem:
        hint = "Bring the file back as it was, or remove it and create the tokens anew."
        raise ConfigError(f"{path}: not a file of tokens ({type(problem).__name__})", hint=hint) from problem


def _unreadable(path: Path, problem: OSError) -> ConfigError:
    hint = "Let the user who serves read it: until then nobody comes in."
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


def _kept(token: Token) -> dict[str, Any]:
    return {**token.as_dict(), "sha256": token.digest}


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """The lock is on a file of its own, since the one it guards is replaced."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _write(path: Path, tokens: list[dict[str, Any]]) -> None:
    """Aside and renamed, so that it is there whole or as it was; nobody but the user reads it."""
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
