"""Callers: known by their token or, on a server without tokens, accepted without one."""

from __future__ import annotations

import hmac
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from pieria.doors.http.tokens import ALL, Token, Tokens, digest_of
from pieria.errors import AccessError, ConfigError
from pieria.record import check
from pieria.record.banks import USER_BANK, same_bank
from pieria.record.ids import new_id
from pieria.record.time import Clock, system_clock
from pieria.record.trust import AGENT, PERSON
from pieria.toolsets import Access
from pieria.toolsets.host import everything, out_of_reach

log = logging.getLogger(__name__)

SESSION_HEADERS = ("mcp-session-id", "x-pieria-session")
ADMINISTRATOR = "administrator"
ANYBODY = "anybody"


@dataclass(frozen=True, slots=True)
class Caller:
    """`name` identifies the caller for limits; `session` is the current one; `mark` begins the name of each of the
    caller's sessions. `opened` are the banks of the token, for error messages.
    """

    name: str
    access: Access
    covers: Callable[[str], bool]
    session: str
    mark: str = ""
    opened: tuple[str, ...] = ()
    via: str = AGENT
    """How this caller's texts come in."""

    @property
    def governs(self) -> bool:
        """Whether the caller may manage tokens: they administer every bank, except perhaps the user's own."""
        return self.access is Access.admin and (not self.opened or ALL in self.opened)

    def reach(self, bank: str) -> None:
        if not self.covers(bank):
            raise out_of_reach(bank, self.opened)

    def own(self, session: str, parameter: str) -> str:
        """Return the session's name with the caller's mark, so that no token can name another token's session.

        Replies show the mark; names with and without it mean the same session.
        """
        kept = check.name(session, parameter)
        return kept if kept.startswith(self.mark) else check.name(self.mark + kept, parameter)

    def speaking(self, headers: Mapping[str, str]) -> Caller:
        """Return the caller in the session named by the headers. Raise `InputError` for an invalid name."""
        for name in SESSION_HEADERS:
            if headers.get(name):
                return replace(self, session=self.own(headers[name], name))
        return self


class Door:
    """Admits callers or raises `AccessError`. With `always`, every caller needs a token."""

    def __init__(self, tokens: Tokens, setting: str | None, *, always: bool, clock: Clock = system_clock) -> None:
        self.tokens = tokens
        self._setting = None if setting is None else digest_of(setting)
        self._always = always
        self._clock = clock
        self._session = f"http-{new_id()}"

    @property
    def has_setting(self) -> bool:
        """Whether the setting `token` is set; it is then accepted besides the token file."""
        return self._setting is not None

    @property
    def needs_token(self) -> bool:
        return self._always or self._setting is not None or self.tokens.needed

    def admit(self, headers: Mapping[str, str]) -> Caller:
        """Return the caller of a request: the token's holder, or the default caller if no token is needed."""
        if not self.needs_token:
            return self.anybody()
        shown = _shown(headers.get("authorization"))
        if shown is None:
            hint = "Send the header Authorization: Bearer TOKEN; `pieria token create` creates one."
            raise AccessError("no_token", hint=hint)
        return self.holder(digest_of(shown))

    def anybody(self) -> Caller:
        """Return the default caller, for servers that need no token."""
        return Caller(ANYBODY, Access.admin, lambda bank: same_bank(bank) != USER_BANK, self._session)

    def holder(self, digest: str) -> Caller:
        """Return the caller whose token has this hash."""
        session = self._session
        if self._setting is not None and hmac.compare_digest(self._setting, digest):
            return Caller(ADMINISTRATOR, Access.admin, everything, session)
        token = self._matching(digest)
        if token is None:
            raise AccessError("unknown_token", hint="It was revoked, or was never created on this server.")
        if token.has_expired(self._clock()):
            raise AccessError("expired", hint="Create a new token: pieria token create.")
        mark = f"{token.id}/"
        free = token.access is Access.admin
        return Caller(
            f"token {token.id}",
            token.access,
            token.covers,
            mark + session,
            "" if free else mark,
            token.banks,
            PERSON if token.person else AGENT,
        )

    def still(self, headers: Mapping[str, str]) -> bool:
        """Return whether the caller would still be admitted: for long responses."""
        try:
            self.admit(headers)
        except (AccessError, ConfigError):
            return False
        return True

    def _matching(self, digest: str) -> Token | None:
        """Raise `ConfigError` if the token file cannot be read. The caller never sees its path."""
        try:
            return self.tokens.of_digest(digest)
        except ConfigError as problem:
            log.error("all requests with a token are refused: %s", problem.message)
            hint = "See the server's log for details."
            raise ConfigError("the tokens of this server cannot be read", hint=hint) from problem


def _shown(header: str | None) -> str | None:
    scheme, _, shown = (header or "").strip().partition(" ")
    return shown.strip() or None if scheme.lower() == "bearer" else None
