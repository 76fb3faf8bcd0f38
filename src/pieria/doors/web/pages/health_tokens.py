"""The part of Health that lists, makes and ends tokens.

Only callers who govern the server see it. They may only make or end tokens for banks that they reach themselves.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pieria.doors.http.schemas import flag, text
from pieria.doors.http.tokens import ALL, Token, Tokens
from pieria.doors.web.page import Answer, Asked, Moved, Shown, View, day
from pieria.doors.web.zones import END
from pieria.errors import AccessError, ConfigError, ConflictError, NotFoundError
from pieria.record.trust import PERSON
from pieria.toolsets import Access

SECTION = "#tokens"
OF_SOME_BANKS = "Sign in with a token of an administrator of all banks: pieria token create NAME --access admin."
FIRST = (
    "Create the first one in a terminal: pieria token create NAME --access admin. From then on every caller needs one."
)

FOR_A_PERSON = "Sign in with a person's token, or create the token in a terminal: pieria token create NAME --person."


@dataclass(frozen=True, slots=True)
class Listed:
    """`own` marks the caller's own token; `reached` says that the caller may end it."""

    token: Token
    expired: bool
    own: bool
    reached: bool


@dataclass(frozen=True, slots=True)
class Told:
    """The server's tokens as shown. `problem` is set if their file cannot be read."""

    needed: bool
    has_setting: bool
    makes_persons: bool = False
    listed: tuple[Listed, ...] = ()
    problem: ConfigError | None = None


def told(asked: Asked) -> Told | None:
    """Return the tokens, or None if the caller does not govern the server."""
    if not asked.caller.governs:
        return None
    door = asked.door
    try:
        listed = tuple(_listed(asked, token) for token in door.tokens.all())
    except ConfigError as problem:
        return Told(door.needs_token, door.has_setting, problem=problem)
    return Told(door.needs_token, door.has_setting, asked.caller.via == PERSON, listed)


def _listed(asked: Asked, token: Token) -> Listed:
    own = asked.caller.name == f"token {token.id}"
    return Listed(token, asked.door.tokens.expired(token), own, all(map(asked.caller.covers, _named(token.banks))))


def _named(banks: Iterable[str]) -> list[str]:
    return [bank for bank in banks if bank != ALL]


def _governed(asked: Asked) -> Tokens:
    if not asked.caller.governs:
        raise AccessError("not_admin", hint=OF_SOME_BANKS)
    return asked.door.tokens


def _reach(asked: Asked, banks: Iterable[str]) -> None:
    for bank in _named(banks):
        asked.caller.reach(bank)


def _revoked(asked: Asked) -> Answer:
    tokens, id = _governed(asked), asked.given["id"]
    found = next((token for token in tokens.all() if token.id == id), None)
    if found is None:
        raise NotFoundError("token", id, hint="It was revoked already, or was never created on this server.")
    _reach(asked, found.banks)
    tokens.revoke(found.id)
    return Moved(asked.path("health") + SECTION)


def _made(asked: Asked) -> Answer:
    """Make a token and show it only in this answer: it has no address, so reloading never shows it again."""
    tokens, given = _governed(asked), asked.given
    if not asked.door.needs_token:
        raise ConflictError("this server needs no token", hint=FIRST)
    person = given.get("person", False)
    if person and asked.caller.via != PERSON:
        raise AccessError("not_a_person", hint=FOR_A_PERSON)
    banks = [bank.strip() for bank in given.get("banks", [ALL])]
    _reach(asked, banks)
    access, until = given.get("access", "read"), asked.moments.get("expires")
    token, shown = tokens.create(given["name"], access, banks, until, person=person)
    return Shown("health/made.html", {"token": token, "shown": shown})


VIEWS = (
    View("POST health/token/revoke", _revoked, {"id": text("Which token.")}, ("id",), Access.admin),
    View(
        "POST health/token/create",
        _made,
        {
            "name": text("Its name."),
            "access": text("What it allows.", enum=[each.name for each in Access]),
            "banks": {
                "type": "array",
                "items": text("A bank."),
                "commas": True,
                "description": "The banks it gives access to.",
            },
            "person": flag("Whether it is for a person. Only a person may create such a token."),
            "expires": day("When it expires.", END),
        },
        ("name",),
        Access.admin,
    ),
)
