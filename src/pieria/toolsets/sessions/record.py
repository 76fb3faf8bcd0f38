"""A session's tools, from its first step to the commit, and the bank of a session."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from pieria.bank import Bank
from pieria.errors import AccessError, NotFoundError, PieriaError, PipelineError, RepoError, SessionError
from pieria.record import check
from pieria.toolsets.host import Call, Host
from pieria.toolsets.sessions.words import fault_of

HINT = "sessions_start returns a session's id. An expired session is closed, and its knowledge is kept."
EXTRACTING, READY, FAILED = "extracting", "ready", "failed"
LONGEST = 600.0
"""Longest wait of a call, in seconds; the work goes on after that."""
AGAIN = "Nothing is lost: sessions_commit tries again, and sessions_discard deletes it."
LATER = "It continues, and nothing is lost: sessions_state shows when it is done."
RECENT = 5
"""How many steps `state` shows."""
REFUSALS = frozenset(
    ("not_collecting", "not_ready", "not_idle", "not_discardable", "invalid_operation", "session_failed")
)
NEXT = {
    "idle": "The session is finished: sessions_start starts another.",
    "collecting": "Call sessions_close first. With auto_commit, its knowledge is committed automatically.",
    "extracting": "Extraction is running: sessions_state shows when it is done.",
    "ready": "Extraction is done: sessions_commit keeps its knowledge, and sessions_discard deletes it.",
    "failed": "sessions_commit tries again, and sessions_discard deletes it.",
}
"""Hints by session state. They name tools; the engine's own hints name its functions."""


def begun(host: Host, goal: str, **values: Any) -> Any:
    """Start a session in the host's bank; create the bank if it is missing."""
    name = host.bank.name
    workspace = opened(host, name)
    return workspace.session(workspace.start_session(goal, name, **values))


def taken_up(host: Host, session_id: str) -> Any:
    """Return the live session, from this process or resumed from another."""
    return opened(host, keeper(host, session_id).name).session(session_id)


def logged(host: Host, session_id: str) -> Any:
    """Return the stored session and its steps."""
    return keeper(host, session_id).sessions.load(session_id)


def keeper(host: Host, session_id: str) -> Bank:
    """Return the bank of the session. Raise `AccessError` if the caller may not reach the bank."""
    check.identifier(session_id, "session_id")
    for bank in host.banks.still_there(_looked_through(host)):
        if bank.sessions.load(session_id) is not None:
            if not host.covers(bank.name):
                # Do not name the bank: the caller may not know it.
                raise AccessError("wrong_bank")
            return bank
    raise NotFoundError("session", session_id, hint=HINT)


def _looked_through(host: Host) -> Iterator[str]:
    """Return the existing bank names, likeliest first."""
    there, opened = host.banks.there(), host.banks.open_names()
    likely = [name for name in there if name == host.bank_name] + [name for name in there if name in opened]
    return iter(dict.fromkeys((*likely, *there)))


def opened(host: Host, name: str) -> Any:
    """Return the workspace, with this bank open for sessions."""
    workspace = host.banks.workspace
    if name not in workspace.list_repos():
        # Another thread may have opened it first.
        with suppress(RepoError):
            workspace.open_repo(name)
    return workspace


def start(
    call: Call, goal: str, auto_commit: bool, profile: str | None = None, bank: str | None = None
) -> dict[str, Any]:
    host = call.host if bank is None else call.host.having(bank_name=bank, is_named=True)
    session = begun(host, goal, profile=profile, auto_commit=auto_commit)
    return {"session_id": session.id, "state": session.state, "goal": session.goal, "bank": host.bank.name}


def append(call: Call, session_id: str, observation: str, action: str) -> dict[str, Any]:
    session = taken_up(call.host, session_id)
    with _refused(session):
        trace = session.take(observation, action)
    return {
        "session_id": session_id,
        "state": session.state,
        "step_index": trace.step_index,
        "trajectory_id": trace.trajectory_id,
        "boundary_detected": trace.boundary_detected,
    }


def close(call: Call, session_id: str, wait: bool) -> dict[str, Any]:
    """Close the session and, with `wait`, wait for extraction. A failed extraction is reported, not raised.

    A session already extracting, in this process or another, is only waited for.
    """
    session = taken_up(call.host, session_id)
    is_closed = session.state == EXTRACTING
    if not wait:
        if not is_closed:
            with _refused(session):
                session.close_async()
        return {"session_id": session_id, "state": session.state}
    with _refused(session):
        state = _waited(session.wait if is_closed else session.close_and_wait, call)
    reply = {"session_id": session_id, "state": state}
    if state == FAILED:
        return {**reply, "error": fault_of(_fault(session))}
    return reply if state == READY else {**reply, "node_ids": list(session.node_ids)}


def commit(call: Call, session_id: str) -> dict[str, Any]:
    """Commit the session's knowledge. After a failed extraction, extract again first."""
    session = taken_up(call.host, session_id)
    with _refused(session):
        session.commit()
    state = _waited(session.wait, call)
    if state == FAILED:
        raise PipelineError("extraction_failed", errors=(_fault(session),), hint=AGAIN)
    if state == READY:
        session.commit()
    return {"session_id": session_id, "state": session.state, "node_ids": list(session.node_ids)}


def discard(call: Call, session_id: str) -> dict[str, Any]:
    session = taken_up(call.host, session_id)
    with _refused(session):
        session.discard()
    return {"session_id": session_id, "state": session.state}


def state(call: Call, session_id: str) -> dict[str, Any]:
    """Return the stored state. It does not take the session over from another process."""
    kept, steps = logged(call.host, session_id)
    recent = [f"{step.observation} -> {step.action}" for step in steps[-RECENT:]]
    profile = None if kept.profile is None else kept.profile["name"]
    how = {"auto_commit": kept.auto_commit, "profile": profile}
    return {"session_id": session_id, "state": kept.state, "goal": kept.goal, "recent_steps": recent, **how}


@contextmanager
def _refused(session: Any) -> Iterator[None]:
    """Reword a refusal: name the session's state and the tool that helps."""
    try:
        yield
    except SessionError as problem:
        at = "extracting" if problem.reason == "extraction_in_progress" else session.state
        hint = NEXT[at] if problem.reason in REFUSALS or at == "extracting" else problem.hint
        raise SessionError(problem.reason, problem.state or session.state, hint=hint) from problem


def _waited(wait: Any, call: Call) -> Any:
    try:
        return wait(LONGEST, call.host.progress)
    except PipelineError as problem:
        problem.hint = LATER
        raise


def _fault(session: Any) -> PieriaError:
    """Return why the session failed."""
    return session.fault or PipelineError("extraction_failed")
