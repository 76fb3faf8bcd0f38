"""Health: the bank's checks, counts and sizes, its background work, its files to download, and the tokens.

Only callers who govern the server see its tokens. They may only make or end tokens for banks that they reach
themselves.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pieria.capture.bank_removal import remove_bank
from pieria.doors.http.schemas import flag, text, whole
from pieria.doors.http.tokens import ALL, Token, Tokens
from pieria.doors.web.page import Answer, Asked, Begun, Moved, Page, Shown, View, day
from pieria.doors.web.pages import rules
from pieria.doors.web.tasks import Made, Progress
from pieria.doors.web.zones import END
from pieria.errors import AccessError, ConfigError, ConflictError, NotFoundError
from pieria.record.job import OPEN, STATES
from pieria.record.time import instant
from pieria.record.trust import PERSON
from pieria.toolsets import Access

if TYPE_CHECKING:
    from pieria.bank import Bank
    from pieria.bank.results.general import Diagnosis


SECTION = "#tokens"
OF_SOME_BANKS = "Sign in with a token of an administrator of all banks: pieria token create NAME --access admin."
FIRST = (
    "Create the first one in a terminal: pieria token create NAME --access admin. From then on every caller needs one."
)

FOR_A_PERSON = "Sign in with a person's token, or create the token in a terminal: pieria token create NAME --person."
JOBS = 30
SLEEPS = 10
READ_AT_ONCE = 5_000
"""Most versions in a bank that is read through during a request; this takes about a tenth of a second."""
GROUPS = {"by_kind": "kind", "by_tier": "tier", "by_status": "status", "by_scope": "scope"}
"""Fields of the counts, and the list's filter for each."""
FILES: Mapping[str, tuple[str, str, str]] = {
    "export": ("Export", "application/x-ndjson", "jsonl"),
    "backup": ("Backup", "application/octet-stream", "backup"),
}
"""Downloads: their title, media type and file extension."""
GOING = ("versions", "facts", "links")
"""Counts that must be the same as on the page that asked for consent."""
_TOLD = {name: whole(f"The number of {name} that the page listed.", 0, 2**53) for name in GOING}


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
        listed = tuple(
            Listed(
                token,
                door.tokens.expired(token),
                asked.caller.name == f"token {token.id}",
                all(map(asked.caller.covers, _named(token.banks))),
            )
            for token in door.tokens.all()
        )
    except ConfigError as problem:
        return Told(door.needs_token, door.has_setting, problem=problem)
    return Told(door.needs_token, door.has_setting, asked.caller.via == PERSON, listed)


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


def _overview(asked: Asked) -> Answer:
    stats = asked.telling(asked.bank.stats())
    state = asked.given.get("state")
    values = {
        "stats": stats,
        "last_at": instant(stats.last_change["at"], "at") if stats.last_change else None,
        "groups": {name: getattr(stats, field) for field, name in GROUPS.items()},
        "jobs": asked.bank.jobs.list(states=state, limit=JOBS),
        "state": state,
        "open_states": OPEN,
        "begun": asked.tasks.of(asked.caller.name, asked.bank_name)[:JOBS],
        "sleeps": asked.bank.upkeep.sleep_log(SLEEPS),
        "waiting": rules.count_waiting(asked),
        "tokens": told(asked),
    }
    return Shown("health/health.html", values, part="jobs")


def _checked(asked: Asked) -> Answer:
    """Show the diagnosis at once: of a large bank, only the checks that need no full scan."""
    diagnosis = asked.telling(asked.bank.doctor(up_to=READ_AT_ONCE))
    return Shown("health/checks.html", {"diagnosis": diagnosis}, part="checks")


def _read_through(asked: Asked) -> Answer:
    bank = asked.bank

    def checked(progress: Progress) -> Diagnosis:
        return asked.telling(bank.doctor(progress=progress))

    return _begun(asked, "Every check", checked, "health/checked.html")


def _mended(asked: Asked) -> Answer:
    """Rebuild the projections that differ from the record."""
    bank = asked.bank
    return _begun(asked, "Mend", lambda progress: _told(bank.doctor(repair=True, progress=progress)))


def _told(diagnosis: Diagnosis) -> dict[str, str]:
    unwell = [finding.check for finding in diagnosis.findings if not finding.well]
    return {"Mended": ", ".join(diagnosis.repaired) or "nothing", "Not well": ", ".join(unwell) or "nothing"}


def _packed(asked: Asked) -> Answer:
    what = asked.given["what"]
    title, _, _ = FILES[what]
    return _begun(asked, title, partial(_file, asked.bank, what, asked.today))


def _file(bank: Bank, what: str, day: date, progress: Progress) -> Made:
    _, kind, ending = FILES[what]
    folder = tempfile.TemporaryDirectory(prefix="pieria-")
    path = Path(folder.name) / f"{bank.name}.{day.isoformat()}.{ending}"
    write: Callable[..., Any] = getattr(bank, what)
    write(path, progress=progress)
    return Made(path, kind, folder)


def _begun(asked: Asked, title: str, work: Callable[[Progress], Any], template: str | None = None) -> Answer:
    back = asked.path("health")
    return Begun(asked.tasks.begin(asked.caller.name, asked.bank_name, title, back, work, template))


def _job(verb: str) -> View:
    def answer(asked: Asked) -> Answer:
        getattr(asked.bank.jobs, verb)(asked.given["id"])
        return Moved(asked.path("health") + "#jobs")

    return View(f"POST health/{verb}", answer, {"id": text("Which job.")}, ("id",), Access.write)


def _removing(asked: Asked) -> Shown:
    if not asked.host.banks.has(asked.bank_name):
        hint = "Choose another bank at the top of the page."
        raise NotFoundError("bank", asked.bank_name, hint=hint)
    told = remove_bank(asked.host.banks.workspace, asked.bank_name, dry_run=True)
    return Shown("health/remove.html", {"report": told, "agreed": {name: told.erased[name] for name in GOING}})


def _removed(asked: Asked) -> Answer:
    """Remove the bank, unless it has changed since the page that asked for consent."""
    workspace = asked.host.banks.workspace
    told = remove_bank(workspace, asked.bank_name, dry_run=True)
    if any(asked.given[name] != told.erased[name] for name in GOING):
        hint = "Nothing was removed. Load the page again to see what would be removed."
        raise ConflictError("the bank has changed since you saw what would be removed", ids=(told.bank,), hint=hint)
    # The page stops following the bank: a request for the bank would create it again.
    return Shown("health/removed.html", {"report": remove_bank(workspace, asked.bank_name), "follows": None})


PAGE = Page(
    name="health",
    title="Health",
    key="h",
    about="checks, size, background work, exports, backups and tokens",
    views=(
        View("GET health", _overview, {"state": text("Only jobs in this state.", enum=list(STATES))}),
        View("GET health/checks", _checked),
        View("POST health/check", _read_through),
        View("POST health/mend", _mended, access=Access.admin),
        View("POST health/file", _packed, {"what": text("Which file.", enum=list(FILES))}, ("what",), Access.admin),
        _job("replay"),
        _job("cancel"),
        View("GET health/remove", _removing, access=Access.admin),
        View("POST health/remove", _removed, _TOLD, GOING, Access.admin, again=_removing),
        *VIEWS,
    ),
    css=("health/health.css",),
)
