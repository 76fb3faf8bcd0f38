"""Quarantine: hidden memories with the reason, what was derived from a memory, and hiding or releasing it."""

from __future__ import annotations

from functools import partial
from typing import Any

from pieria.doors.http.schemas import text, whole
from pieria.doors.web.page import Answer, Asked, Moved, Page, Shown, View
from pieria.errors import InputError
from pieria.toolsets import Access

TRACED = ("id", "source", "session")
HIDDEN = (*TRACED, "author")
ITEMS = 200
_TRACE = {
    "id": text("Everything drawn from this memory."),
    "source": text("Everything from this source."),
    "session": text("Everything from this session."),
}
_HIDE = {**_TRACE, "author": text("Everything by this author."), "reason": text("Why.")}


def _traced(asked: Asked) -> Answer:
    [(name, value)] = _one_of(asked, TRACED).items()
    found = asked.bank.trace(**{name: value}, limit=ITEMS)
    return Shown("quarantine/trace.html", {"name": name, "value": value, "found": found})


def _hidden(asked: Asked) -> Answer:
    selected: dict[str, Any] = {name: value for name, value in _one_of(asked, HIDDEN).items() if name != "id"}
    ids = [asked.given["id"]] if "id" in asked.given else []
    asked.bank.quarantine(**selected, ids=ids, reason=asked.given.get("reason"))
    return Moved(asked.path("quarantine"))


def _lifted(asked: Asked) -> Answer:
    asked.bank.lift(asked.given["number"])
    return Moved(asked.path("quarantine"))


def _one_of(asked: Asked, names: tuple[str, ...]) -> dict[str, str]:
    found = {name: asked.given[name] for name in names if name in asked.given}
    if len(found) != 1:
        raise InputError("source", f"one of {', '.join(names)}", sorted(found) or None)
    return found


_Deed = partial(View, access=Access.admin)

PAGE = Page(
    name="quarantine",
    title="Quarantine",
    key="q",
    about="trace everything from a source or session, hide it, or bring it back",
    views=(
        View(
            "GET quarantine",
            lambda asked: Shown("quarantine/quarantine.html", {"quarantines": asked.bank.quarantines()}),
        ),
        _Deed("GET quarantine/trace", _traced, _TRACE),
        _Deed("POST quarantine/hide", _hidden, _HIDE),
        _Deed("POST quarantine/lift", _lifted, {"number": whole("Which quarantine.", 1, 2**53)}, ("number",)),
    ),
)
