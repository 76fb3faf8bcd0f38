"""Signed-in browsers: a token once, then a secret in a cookie that no script can read. Also readers' preferences.

Entries live as long as the server. They hold only hashes of the token and the secret. A revoked or expired token ends
its sign-ins.
"""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256

from pieria.doors.http.callers import Caller, Door
from pieria.doors.http.tokens import digest_of
from pieria.errors import AccessError

KEPT = 1_000
"""Most browsers signed in at once; the one inactive longest is signed out first."""
LASTS = 30 * 86_400.0
"""Seconds until a sign-in expires."""
SIGN_IN = "Sign in with a token; `pieria token create NAME` makes one."


class Entries:
    """Signed-in browsers. Threads may share it."""

    def __init__(self, door: Door, now: Callable[[], float] = time.monotonic) -> None:
        self._door = door
        self._now = now
        self._key = secrets.token_bytes(32)
        self._lock = threading.Lock()
        self._held: OrderedDict[str, tuple[str, float]] = OrderedDict()

    @property
    def needs_token(self) -> bool:
        return self._door.needs_token

    def enter(self, token: str) -> tuple[str, Caller]:
        """Return the cookie's secret and the caller. Raise `AccessError` if the token is not valid."""
        digest = digest_of(token.strip())
        caller = self._door.holder(digest)
        secret = secrets.token_urlsafe(32)
        with self._lock:
            self._held[digest_of(secret)] = (digest, self._now() + LASTS)
            while len(self._held) > KEPT:
                self._held.popitem(last=False)
        return secret, caller

    def leave(self, secret: str | None) -> None:
        if secret:
            with self._lock:
                self._held.pop(digest_of(secret), None)

    def admit(self, secret: str | None) -> Caller:
        """Return the signed-in caller, or the default caller if no token is needed. Raise `AccessError` otherwise."""
        if not self._door.needs_token:
            return self._door.anybody()
        if not secret:
            raise AccessError("no_token", hint=SIGN_IN)
        mark = digest_of(secret)
        with self._lock:
            digest, until = self._held.get(mark, ("", 0.0))
            if digest and until > self._now():
                self._held.move_to_end(mark)
            else:
                self._held.pop(mark, None)
                digest = ""
        if not digest:
            raise AccessError("expired", hint=SIGN_IN)
        return self._door.holder(digest)

    def seal(self, secret: str | None) -> str:
        """Return the token that each form of this browser carries. Pages of other sites cannot know it."""
        of = "anybody" if not (secret and self._door.needs_token) else digest_of(secret)
        return hmac.new(self._key, of.encode(), sha256).hexdigest()

    def is_sealed(self, secret: str | None, seal: str) -> bool:
        return hmac.compare_digest(self.seal(secret).encode(), seal.encode("utf-8", "replace"))


def cookie_name(port: int | None) -> str:
    """Return the cookie's name. It holds the port, because browsers share cookies between all ports of a host."""
    return f"pieria-{port or 0}"


@dataclass(frozen=True, slots=True)
class Preference:
    """`name` is the name in forms and templates. The first of `values` is the default."""

    name: str
    values: tuple[str, ...]

    @property
    def cookie(self) -> str:
        return f"pieria-{self.name}"

    def of(self, told: str | None) -> str:
        return told if told in self.values else self.values[0]


LOOK = Preference("look", ("auto", "light", "dark"))
KEYS = Preference("keys", ("on", "off"))
"""Whether single characters are shortcuts: with dictation or a screen reader they could fire by accident."""
CHOICES = (LOOK, KEYS)


def preferred(cookies: Mapping[str, str]) -> Mapping[str, str]:
    """Return each preference by its name."""
    return {each.name: each.of(cookies.get(each.cookie)) for each in CHOICES}
