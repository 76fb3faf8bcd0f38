"""Find the bank of a session: callers know only the session's id."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from pieria.bank import Bank
from pieria.errors import AccessError, NotFoundError, RepoError
from pieria.record import check
from pieria.toolsets.host import Host

HINT = "sessions_start returns a session's id. An expired session is closed, and its knowledge is kept."


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
