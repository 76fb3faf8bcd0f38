"""Which bank keeps a session: its id is all that a caller has to know of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from pieria.bank import Bank
from pieria.errors import AccessError, NotFoundError, RepoError
from pieria.record import check
from pieria.toolsets.host import Host

HINT = "sessions_start gives a session's id. One that expired is over: what was learnt in it is kept."


def begun(host: Host, goal: str, **values: Any) -> Any:
    """A new session in the host's bank, which comes to be where there is none."""
    name = host.bank.name
    workspace = opened(host, name)
    return workspace.session(workspace.start_session(goal, name, **values))


def taken_up(host: Host, session_id: str) -> Any:
    """The session itself, to go on with: as it is open in this process, or where another one left it."""
    return opened(host, keeper(host, session_id).name).session(session_id)


def logged(host: Host, session_id: str) -> Any:
    """What is kept of a session, and its steps."""
    return keeper(host, session_id).session_kept(session_id)


def keeper(host: Host, session_id: str) -> Bank:
    """The bank that keeps it. Raises `AccessError` for one that the caller may not reach."""
    check.identifier(session_id, "session_id")
    for bank in host.banks.still_there(_looked_through(host)):
        if bank.session_kept(session_id) is not None:
            if not host.covers(bank.name):
                # Whose it is, is not for whoever asks.
                raise AccessError("wrong_bank")
            return bank
    raise NotFoundError("session", session_id, hint=HINT)


def _looked_through(host: Host) -> Iterator[str]:
    """The banks there are, the likeliest first. None is made."""
    there, opened = host.banks.there(), host.banks.open_names()
    likely = [name for name in there if name == host.bank_name] + [name for name in there if name in opened]
    return iter(dict.fromkeys((*likely, *there)))


def opened(host: Host, name: str) -> Any:
    """The workspace, in which sessions of this bank can go on from now on."""
    workspace = host.banks.workspace
    if name not in workspace.list_repos():
        # Another thread may have been quicker.
        with suppress(RepoError):
            workspace.open_repo(name)
    return workspace
