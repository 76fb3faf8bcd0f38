"""Health: the bank's checks, counts and sizes, its background work, and its files to download."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pieria.capture.bank_removal import remove_bank
from pieria.doors.http.schemas import text, whole
from pieria.doors.web.page import Answer, Asked, Begun, Moved, Page, Shown, View
from pieria.doors.web.pages import health_tokens, rules
from pieria.doors.web.tasks import Made, Progress
from pieria.errors import ConflictError, NotFoundError
from pieria.record.job import OPEN, STATES
from pieria.record.time import instant
from pieria.toolsets import Access

if TYPE_CHECKING:
    from pieria.bank import Bank
    from pieria.bank.results.general import Diagnosis

JOBS = 30
READ_AT_ONCE = 5_000
"""Most versions in a bank that is read through during a request; this takes about a tenth of a second."""
GROUPS = {"by_kind": "kind", "by_tier": "tier", "by_status": "status", "by_scope": "scope"}
"""Fields of the counts, and the list's filter for each."""
FILES: Mapping[str, tuple[str, str, str]] = {
    "export": ("Export", "application/x-ndjson", "jsonl"),
    "backup": ("Backup", "application/octet-stream", "backup"),
}
"""Downloads: their title, media type and file extension."""
JOB_ID = {"id": text("Which job.")}


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
        "waiting": rules.count_waiting(asked),
        "tokens": health_tokens.told(asked),
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


def _replayed(asked: Asked) -> Answer:
    asked.bank.jobs.replay(asked.given["id"])
    return Moved(asked.path("health") + "#jobs")


def _cancelled(asked: Asked) -> Answer:
    asked.bank.jobs.cancel(asked.given["id"])
    return Moved(asked.path("health") + "#jobs")


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


GOING = ("versions", "facts", "links")
"""Counts that must be the same as on the page that asked for consent."""
_TOLD = {name: whole(f"The number of {name} that the page listed.", 0, 2**53) for name in GOING}
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
        View("POST health/replay", _replayed, JOB_ID, ("id",), Access.write),
        View("POST health/cancel", _cancelled, JOB_ID, ("id",), Access.write),
        View("GET health/remove", _removing, access=Access.admin),
        View("POST health/remove", _removed, _TOLD, GOING, Access.admin, again=_removing),
        *health_tokens.VIEWS,
    ),
    css=("health/health.css",),
)
