"""Sessions: where each stands, its steps as they were cut, what it learnt and did not commit, and how recalls went."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from pieria import SessionState
from pieria.doors.http.schemas import text
from pieria.doors.web.page import Answer, Asked, Moved, Page, Shown, View
from pieria.doors.web.words import asked_terms
from pieria.errors import NotFoundError
from pieria.toolsets import Access, called

SEEN = 40
ID = {"id": text("Which session.")}
STATES = tuple(SessionState)
DECIDED = ("ready", "failed")
"""States in which somebody has to decide what becomes of what was lived through."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Steps in a row that were after the same thing; `is_open` says that more may come."""

    subgoal: str
    steps: tuple[Any, ...]
    is_open: bool


def _overview(asked: Asked) -> Answer:
    values = {
        "sessions": sorted(asked.bank.sessions_kept(), key=lambda kept: kept.id, reverse=True),
        "states": STATES,
        "lately": asked.witness.of(asked.bank_name, limit=SEEN),
    }
    return Shown("sessions/sessions.html", values, part="now")


def _one(asked: Asked) -> Answer:
    id = asked.given["id"]
    found = asked.bank.session_kept(id)
    if found is None:
        hint = "Of a session that is over, what it taught is among the memories; what it went through is in Time."
        raise NotFoundError("session", id, hint=hint)
    kept, steps = found
    values = {
        "kept": kept,
        "states": STATES,
        "decided": DECIDED,
        "cuts": _cuts(kept, steps),
        "waiting": _waiting(kept.waiting),
        "ties": sum(len(changeset.links) for changeset in kept.waiting),
        "lately": asked.witness.of(asked.bank_name, id, SEEN),
    }
    return Shown("sessions/one.html", values, part="now")


def _cuts(kept: Any, steps: Sequence[Any]) -> list[Cut]:
    current = (kept.episode or {}).get("current_trajectory_id")
    groups = [(id, tuple(group)) for id, group in groupby(steps, key=lambda step: step.trajectory_id)]
    return [Cut(group[-1].subgoal, group, id in ("", current)) for id, group in groups]


def _waiting(changesets: Iterable[Any]) -> Mapping[str, list[Any]]:
    """What would be written, by type."""
    found: dict[str, list[Any]] = {}
    for node in (node for changeset in changesets for node in changeset.additions):
        found.setdefault(type(node).__name__.lower(), []).append(node)
    return found


def _asked(asked: Asked) -> Answer:
    """What an agent would get by its tool, with the trace of how it was found."""
    query, session = asked.given.get("q", ""), asked.given.get("session")
    values: dict[str, Any] = {"q": query, "session": session, "reply": None, "terms": asked_terms(query)}
    if query.strip():
        wanted = {"query": query, **({} if session is None else {"session_id": session})}
        reply = called(asked.registry, "sessions_recall", wanted, asked.host)
        if reply.error is not None:
            raise reply.error
        values["reply"] = reply.value
        ids = [one["id"] for one in reply.value["touched_nodes"]]
        values["memories"] = {id: asked.bank.get(id) for id in ids}
    return Shown("sessions/ask.html", values, part="answer")


def _traced(asked: Asked) -> Answer:
    """How a recall came about, whichever door it came by; of what it brought, what the caller may see."""
    seen = asked.witness.found(asked.given["id"], asked.bank_name)
    if seen.trace is None:
        raise NotFoundError("trace", seen.id, hint="Recalls have one; of anything else it is told how long it took.")
    knowledge = "touched" in seen.trace
    brought = seen.trace["touched"] if knowledge else [(id, None) for id in seen.trace["ids"]]
    there = [(asked.bank.get(one[0]), one if knowledge else None) for one in brought]
    values = {
        "event": seen,
        "knowledge": knowledge,
        "touched": [(memory, how) for memory, how in there if memory is not None],
        "whole": seen.trace["candidates" if knowledge else "hits"],
    }
    return Shown("sessions/trace.html", values)


def _deciding(tool: str) -> Any:
    def decided(asked: Asked) -> Answer:
        reply = called(asked.registry, tool, {"session_id": asked.given["id"]}, asked.host)
        if reply.error is not None:
            raise reply.error
        return Moved(asked.path("sessions"))

    return decided


PAGE = Page(
    name="sessions",
    title="Sessions",
    key="s",
    about="what agents are going through, and what it teaches",
    views=(
        View("GET sessions", _overview),
        View("GET sessions/one", _one, ID, ("id",)),
        View(
            "GET sessions/ask",
            _asked,
            {"q": text("The question."), "session": text("In which session it is asked.")},
        ),
        View("GET sessions/trace", _traced, {"id": text("Of which recall.")}, ("id",)),
        View("POST sessions/commit", _deciding("sessions_commit"), ID, ("id",), Access.write),
        View("POST sessions/discard", _deciding("sessions_discard"), ID, ("id",), Access.write),
    ),
    css=("sessions/sessions.css",),
)
