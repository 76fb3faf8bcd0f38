"""Health: whether the bank is well, what it holds and weighs, what works behind, and its files to take away."""

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
"""Versions of a bank that is read through while somebody waits: it takes about a tenth of a second."""
GROUPS = {"by_kind": "kind", "by_tier": "tier", "by_status": "status", "by_scope": "scope"}
"""What memories are counted by: the field of the counts, and that by which the list of memories takes it."""
FILES: Mapping[str, tuple[str, str, str]] = {
    "export": ("Export", "application/x-ndjson", "jsonl"),
    "backup": ("Backup", "application/octet-stream", "backup"),
}
"""What can be taken away: what it is called, its media type, and the ending of its name."""
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
    """Whoever opens the page is told at once: of a large bank what takes no reading of it all."""
    diagnosis = asked.telling(asked.bank.doctor(up_to=READ_AT_ONCE))
    return Shown("health/checks.html", {"diagnosis": diagnosis}, part="checks")


def _read_through(asked: Asked) -> Answer:
    bank = asked.bank

    def checked(progress: Progress) -> Diagnosis:
        return asked.telling(bank.doctor(progress=progress))

    return _begun(asked, "Every check", checked, "health/checked.html")


def _mended(asked: Asked) -> Answer:
    """The projections, made anew from the record where they are not what it says."""
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
    """Nothing goes that was not told before."""
    workspace = asked.host.banks.workspace
    told = remove_bank(workspace, asked.bank_name, dry_run=True)
    if any(asked.given[name] != told.erased[name] for name in GOING):
        hint = "Nothing was removed. Look once more at what would go."
        raise ConflictError("it was changed since you were told what goes", ids=(told.bank,), hint=hint)
    # The page follows the bank no further: to ask of it again would make it anew.
    return Shown("health/removed.html", {"report": remove_bank(workspace, asked.bank_name), "follows": None})


GOING = ("versions", "facts", "links")
"""By which counts it is known that the bank is as it was told."""
_TOLD = {name: whole(f"How many {name} were said to go.", 0, 2**53) for name in GOING}
PAGE = Page(
    name="health",
    title="Health",
    key="h",
    about="whether all is well, what it weighs, what works behind, exports and backups",
    views=(
        View("GET health", _overview, {"state": text("Jobs in this state alone.", enum=list(STATES))}),
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
