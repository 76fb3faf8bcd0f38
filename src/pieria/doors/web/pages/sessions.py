"""Sessions: their state, their steps by subgoal, what they learnt and did not commit, and how recalls went."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

from pieria import SessionState
from pieria.doors.http.schemas import text, whole
from pieria.doors.web.page import Answer, Asked, Begun, Moved, Page, Shown, View
from pieria.doors.web.words import asked_terms
from pieria.errors import ConflictError, NotFoundError, PieriaError
from pieria.record.memory import LISTED_KINDS
from pieria.toolsets import Access, called

if TYPE_CHECKING:
    from pieria import Memory
    from pieria.bank import Bank
    from pieria.bank.sessions.drafts import SessionDraft
    from pieria.doors.web.tasks import Progress


TYPES = ("semantic", "procedural", "intent", "tag", "subgoal", "episodic", "source")
"""Node types in display order."""
ROUTING = ("tag", "intent")
SEEN = 40
SESSIONS = 20
"""Sessions on a page."""
LISTED = 100
"""Most nodes of a type that are shown, and steps already learnt from."""
LIVED = ("episodic",)
BROUGHT = 30
"""Most nodes of a type shown after they are written."""
ID = {"id": text("Which session.")}
STATES = tuple(SessionState)
DECIDED = ("ready", "failed")
"""States that wait for a person to commit or discard the session."""
CUT_BELOW = 0.75
"""Likeness of two steps' subgoals below which a trajectory ends."""
QUESTION = "Ask the sessions"
OVER = "It was committed or discarded in the meantime. Committed knowledge is among the memories."
HINTS: Mapping[str, str] = {
    "not_ready": OVER,
    "not_discardable": OVER,
    "extraction_in_progress": "Pieria is extracting knowledge from it. Its page shows when that is done.",
    "extraction_timeout": "The extraction continues, and nothing is lost. Its page shows when it is done.",
    "extraction_failed": "The steps, and what was extracted so far, are kept. "
    "Commit tries again; Discard deletes them.",
}
"""Hints for a reader of the page; the tools' own hints speak of tools."""
_OVERVIEW: Mapping[str, Any] = {
    "state": text("Only sessions in this state.", enum=[each.value for each in STATES]),
    "start": whole("Skip this many.", 0, 1 << 31),
}
_QUESTION: Mapping[str, Any] = {"q": text("The question."), "of": text("The session to ask in.")}


@dataclass(frozen=True, slots=True)
class Tied:
    """The other end of an edge. `is_there` says that the bank already holds it, under this id."""

    edge: str
    type: str
    text: str
    id: str
    is_there: bool


@dataclass(frozen=True, slots=True)
class Entry:
    """A node to be written. `steps` are the session's steps behind it; `before` is its current text in the bank, if
    that will change.
    """

    node: Any
    steps: tuple[int, ...]
    ties: tuple[Tied, ...]
    before: str | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """`joined` are tags and intents of the bank that new nodes are linked to."""

    by_type: Mapping[str, list[Entry]]
    nodes: int
    ties: int
    joined: tuple[Tied, ...]
    merges: tuple[Mapping[str, Any], ...]

    @property
    def reworded(self) -> list[Entry]:
        return [each for entries in self.by_type.values() for each in entries if each.before is not None]

    @property
    def changes(self) -> bool:
        """Return whether the changeset affects existing nodes."""
        return bool(self.joined or self.merges or self.reworded)


def written(draft: SessionDraft) -> Written:
    new, held = draft.changeset.nodes(), draft.held
    known = {**held, **new}
    ties = {(frozenset((one, other)), str(edge)) for one, other, edge in draft.changeset.ties()}
    around: dict[str, set[tuple[str, str]]] = {}
    for ends, edge in ties:
        one, other = sorted(ends)
        around.setdefault(one, set()).add((edge, other))
        around.setdefault(other, set()).add((edge, one))

    def tied(edge: str, id: str) -> Tied:
        node = known.get(id)
        return Tied(edge, "" if node is None else node.node_type, id if node is None else node.text, id, id in held)

    steps = _steps(new.values(), around)
    by_type: dict[str, list[Entry]] = {}
    for id, node in new.items():
        before = held[id].text if id in held and held[id].text != node.text else None
        own = tuple(tied(edge, other) for edge, other in sorted(around.get(id, ())))
        by_type.setdefault(node.node_type, []).append(Entry(node, steps.get(id, ()), own, before))
    merged = {merge["id"] for merge in draft.merges}
    reached = (id for id in sorted(around) if id in held and id not in new and id not in merged)
    joined = tuple(tied("", id) for id in reached if held[id].node_type in ROUTING)
    merges = tuple({**merge, "is_there": merge["id"] in held} for merge in draft.merges)
    ordered = {name: by_type[name] for name in TYPES if name in by_type}
    return Written(ordered, len(new), len(ties), joined, merges)


def _steps(nodes: Iterable[Any], around: Mapping[str, set[tuple[str, str]]]) -> dict[str, tuple[int, ...]]:
    """Return the numbers of the steps behind each node, found through its sources."""
    listed = list(nodes)
    found: dict[str, set[int]] = {node.id: {node.step_index} for node in listed if node.node_type == "source"}
    sources = set(found)
    lived = [node.id for node in listed if node.node_type == "episodic"]
    for id in lived:
        found[id] = _of(id, sources, found, around)
    evidence = sources | set(lived)
    for node in listed:
        if node.id not in evidence:
            found[node.id] = _of(node.id, evidence, found, around)
    return {id: tuple(sorted(steps)) for id, steps in found.items()}


def _of(id: str, of: set[str], found: Mapping[str, set[int]], around: Mapping[str, set[tuple[str, str]]]) -> set[int]:
    return set().union(*(found[other] for _, other in around.get(id, ()) if other in of))


@dataclass(frozen=True, slots=True)
class Work:
    """Work on a session that runs in the background: its tool, and the states that allow it."""

    title: str
    tool: str
    given: Mapping[str, Any]
    states: tuple[str, ...]


COMMIT = Work("Commit a session", "sessions_commit", {}, DECIDED)
GO_ON = Work("Continue a session", "sessions_close", {"wait": True}, ("extracting",))


@dataclass(frozen=True, slots=True)
class Cut:
    """Consecutive steps with the same subgoal; `is_open` says that more may come.

    `likeness` is the similarity of its first subgoal to that of the step before, or None if unknown.
    """

    subgoal: str
    steps: tuple[Any, ...]
    is_open: bool
    likeness: float | None


def _overview(asked: Asked) -> Answer:
    state, start = asked.given.get("state"), asked.given.get("start", 0)
    found = asked.bank.sessions.statuses(SESSIONS, start, state)
    there = found.by_state[state] if state else sum(found.by_state.values())
    given = {"state": state}
    values = {
        "sessions": found,
        "by_state": found.by_state,
        "state": state,
        "start": start,
        "more": asked.path("sessions", start=start + SESSIONS, **given) if start + SESSIONS < there else None,
        "first": asked.path("sessions", **given) if start else None,
        "states": STATES,
        "lately": asked.witness.of(asked.bank_name, limit=SEEN),
    }
    return Shown("sessions/sessions.html", values, part="now")


def _one(asked: Asked) -> Answer:
    id, bank = asked.given["id"], asked.bank
    standing, draft = bank.sessions.status(id), bank.sessions.draft(id)
    learnt = _learnt(bank, id)
    lately = asked.witness.of(asked.bank_name, id, SEEN)
    if standing is None or draft is None:
        if not learnt["count"]:
            hint = "Knowledge from a closed session is among the memories; its changes are under Time."
            raise NotFoundError("session", id, hint=hint)
        return Shown("sessions/over.html", {"id": id, "learnt": learnt, "lately": lately}, part="now")
    kept, steps = draft.kept, draft.steps
    values = {
        "kept": kept,
        "standing": standing,
        "states": STATES,
        "commit": COMMIT,
        "go_on": GO_ON,
        "cuts": _cuts(kept, steps),
        "cut_below": CUT_BELOW,
        "draft": written(draft),
        "listed": LISTED,
        "learnt": learnt,
        "work": asked.tasks.under_way(asked.bank_name, _about(id)),
        "lately": lately,
    }
    return Shown("sessions/one.html", values, part="now")


def _learnt(bank: Bank, id: str) -> dict[str, Any]:
    """Return the last steps that became visible memories, in the order they were taken."""
    steps = list(bank.list(session=id, kinds=LIVED, limit=LISTED))
    # Nodes are made in any order, but ids of trajectories sort by their beginning.
    steps.sort(key=lambda memory: (_said(memory, "trajectory_id"), memory.sequence or 0))
    groups = groupby(steps, key=lambda memory: _said(memory, "trajectory_id"))
    cuts = [tuple(group) for _, group in groups]
    return {
        "count": bank.count(session=id, kinds=LIVED),
        "cuts": [(_said(group[-1], "subgoal"), group) for group in cuts],
    }


def _said(memory: Any, name: str) -> str:
    return str((memory.body or {}).get(name, ""))


def _cuts(kept: Any, steps: Sequence[Any]) -> list[Cut]:
    current = (kept.episode or {}).get("current_trajectory_id")
    goes_on = kept.state == SessionState.COLLECTING
    cuts: list[Cut] = []
    before = None
    for id, group in groupby(steps, key=lambda step: step.trajectory_id):
        together = tuple(group)
        likeness = _likeness(before, together[0])
        cuts.append(Cut(together[-1].subgoal, together, goes_on and id in ("", current), likeness))
        before = together[-1]
    return cuts


def _likeness(one: Any, other: Any) -> float | None:
    """Return the cosine of the vectors used to split trajectories."""
    if one is None or not one.embedding or not other.embedding or len(one.embedding) != len(other.embedding):
        return None
    product = sum(a * b for a, b in zip(one.embedding, other.embedding, strict=True))
    lengths = sum(a * a for a in one.embedding) * sum(b * b for b in other.embedding)
    return max(0.0, float(product / lengths**0.5)) if lengths else None


@dataclass(frozen=True, slots=True)
class Answered:
    """A tool's answer, with the trace of how it was found. `found` are the ids in it that existed."""

    query: str
    reply: Mapping[str, Any]
    found: tuple[str, ...]

    @property
    def terms(self) -> Any:
        return asked_terms(self.query)

    def memories(self, bank: Bank) -> Mapping[str, Memory] | None:
        """Return the memories by id, or None if one was erased: then the outcome is not shown."""
        there = {id: bank.get(id, include_removed=True) for id in self.found}
        found = {id: memory for id, memory in there.items() if memory is not None}
        return found if len(found) == len(there) else None


def _asking(asked: Asked) -> Shown:
    is_empty = not asked.bank.list(limit=1, kinds=LISTED_KINDS)
    values = {"q": asked.given.get("q", ""), "session": asked.given.get("of"), "outcome": None, "is_empty": is_empty}
    return Shown("sessions/ask.html", values, part="answer")


def _asked(asked: Asked) -> Answer:
    """Answer at once if rules judge. A model takes longer, so the question becomes a task."""
    question = {"q": asked.given["q"], "of": asked.given.get("of")}
    if question["of"] is not None:
        _standing(asked, question["of"])
    owner, back = asked.caller.name, asked.path("sessions/ask", **question)
    find = partial(_found, asked, question["q"], question["of"])
    task = asked.tasks.begin(
        owner, asked.bank_name, QUESTION, back, find, "sessions/answer.html", about=f"question {owner} {back}"
    )
    if not asked.tasks.over_soon(task):
        return Begun(task)
    if task.error is not None:
        raise task.error
    shown = _asking(asked)
    return replace(shown, values={**shown.values, "outcome": task.result})


def _found(asked: Asked, query: str, session: str | None, progress: Progress) -> Answered:
    wanted = {"query": query, "verbosity": "detailed", **({} if session is None else {"session_id": session})}
    host = asked.host.having(progress=progress, counts_uses=False)
    reply = called(asked.registry, "sessions_recall", wanted, host)
    if reply.error is not None:
        raise reply.error
    touched = dict.fromkeys(one["id"] for one in reply.value["touched_nodes"])
    return Answered(query, reply.value, tuple(id for id in touched if asked.bank.get(id) is not None))


def _traced(asked: Asked) -> Answer:
    """Show how a recall came about, over any interface. Results are limited to those that the caller may see."""
    seen = asked.witness.found(asked.given["id"], asked.bank_name)
    if seen.trace is None:
        raise NotFoundError(
            "trace", seen.id, hint="Only recalls have a trace. For other events the server keeps the duration."
        )
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


# --- what becomes of it


def _standing(asked: Asked, id: str) -> Any:
    """Return the session, if this bank keeps it: a tool would also find it in another bank."""
    found = asked.bank.sessions.status(id)
    if found is None:
        raise NotFoundError("session", id, hint="It is closed, or belongs to another bank.")
    return found


def _about(id: str) -> str:
    return f"session {id}"


def _worked(work: Work, asked: Asked) -> Answer:
    """Begin the work in the background. If it already runs, its task is shown instead."""
    id, about = asked.given["id"], _about(asked.given["id"])
    standing = _standing(asked, id)
    if standing.state not in work.states and asked.tasks.under_way(asked.bank_name, about) is None:
        hint = OVER if standing.state == "idle" else HINTS["extraction_in_progress"]
        raise ConflictError(f"the session is {standing.state}", hint=hint)
    do = partial(_done, work, asked, standing)
    back = asked.path("sessions/one", id=id)
    owner, bank, template = asked.caller.name, asked.bank_name, "sessions/outcome.html"
    task = asked.tasks.begin(owner, bank, work.title, back, do, template, about=about)
    return Begun(task)


def _done(work: Work, asked: Asked, standing: Any, progress: Progress) -> dict[str, Any]:
    host = asked.host.having(progress=progress, counts_uses=False)
    reply = called(asked.registry, work.tool, {"session_id": standing.id, **work.given}, host)
    if reply.error is not None:
        raise _helped(reply.error)
    brought = _brought(asked.bank, reply.value.get("node_ids", ()))
    failed = reply.value.get("error")
    return {"id": standing.id, "state": reply.value["state"], "failed": failed, "listed": BROUGHT, **brought}


def _brought(bank: Bank, ids: Sequence[str]) -> dict[str, Any]:
    """Return the nodes now in the bank: ids by type, and the number of links. Texts are loaded when shown."""
    graph = bank.graph.everything
    nodes = [node for node in map(graph.get_node, ids) if node is not None]
    ties = {
        (frozenset((node.id, other)), edge) for node in nodes for edge, tied in node.links.items() for other in tied
    }
    by_type = {name: [node.id for node in nodes if node.node_type == name] for name in TYPES}
    return {"nodes": {name: found for name, found in by_type.items() if found}, "ties": len(ties)}


def _helped(error: PieriaError) -> PieriaError:
    error.hint = HINTS.get(str(getattr(error, "reason", None)), error.hint)
    return error


def _asked_whether(asked: Asked) -> Answer:
    """Show what discarding the session would remove."""
    id = asked.given["id"]
    standing, draft = _standing(asked, id), asked.bank.sessions.draft(id)
    if standing.state not in DECIDED or draft is None:
        raise ConflictError(f"the session is {standing.state}", hint=OVER if standing.state == "idle" else None)
    # Steps that were learnt from are memories and stay. If the session commits by hand, they are not memories yet.
    learnt = draft.kept.committed if draft.kept.auto_commit else ()
    steps = [step for step in draft.steps if step.index not in learnt]
    values = {"standing": standing, "steps": steps, "draft": written(draft), "listed": LISTED}
    return Shown("sessions/discard.html", values)


def _discarded(asked: Asked) -> Answer:
    _standing(asked, asked.given["id"])
    reply = called(asked.registry, "sessions_discard", {"session_id": asked.given["id"]}, asked.host)
    if reply.error is not None:
        raise _helped(reply.error)
    return Moved(asked.path("sessions"))


def _work(path: str, work: Work) -> View:
    answer: Callable[[Asked], Answer] = partial(_worked, work)
    return View(f"POST {path}", answer, ID, ("id",), Access.write)


PAGE = Page(
    name="sessions",
    title="Sessions",
    key="s",
    about="the steps of agents, and the knowledge extracted from them",
    views=(
        View("GET sessions", _overview, _OVERVIEW),
        View("GET sessions/one", _one, ID, ("id",)),
        View("GET sessions/ask", _asking, _QUESTION),
        View("POST sessions/ask", _asked, _QUESTION, ("q",), again=_asking),
        View("GET sessions/trace", _traced, {"id": text("The id of the recall.")}, ("id",)),
        _work("sessions/commit", COMMIT),
        _work("sessions/go-on", GO_ON),
        View("GET sessions/discard", _asked_whether, ID, ("id",), Access.write),
        View("POST sessions/discard", _discarded, ID, ("id",), Access.write),
    ),
    css=("sessions/sessions.css",),
)
