"""What a server process answers to other processes of its user over the local socket: vectors, the context for hooks,
and recalls for the command line.
"""

from __future__ import annotations

import logging
import os
import threading
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pieria.capture.context_hook import WHAT as HOOK
from pieria.doors import hook_answers
from pieria.doors.catching_up import distil, drain
from pieria.doors.cli.server_recall import RECALL
from pieria.errors import InputError
from pieria.record.json_text import parsed
from pieria.runtime.calls import Calls
from pieria.runtime.local_server import Answer, LocalServer
from pieria.toolsets import Banks
from pieria.workspace import Workspace
from pieria.workspace.shared_model import EMBED, vectors

if TYPE_CHECKING:
    from pieria.bank import Bank
    from pieria.settings import Resolved

log = logging.getLogger(__name__)

KEPT = 8
"""How many workspaces of other folders and environments stay open."""
PASSING = ("_", "PWD", "OLDPWD", "SHLVL", "COLUMNS", "LINES")
"""Variables in which two calls may differ."""
WHO = "cli"
"""Who a hook's context is noted for, whether a server or the command line answers."""


class Neighbours:
    """Answers for the data folder of a workspace, each counted as a call."""

    def __init__(self, workspace: Workspace, calls: Calls) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[int, Banks] = OrderedDict()
        answers: dict[str, Answer] = {EMBED: partial(vectors, workspace), HOOK: self._context, RECALL: self._recall}
        self._server = LocalServer(workspace.data, {name: partial(self._called, do) for name, do in answers.items()})
        self._calls = calls

    def _called(self, answer: Answer, asked: dict[str, Any]) -> dict[str, Any]:
        with self._calls.one():
            return answer(asked)

    def start(self) -> None:
        self._server.start()

    def renew(self) -> None:
        """Open the banks again, since a model was installed."""
        with self._lock:
            kept = list(self._kept.values())
        for banks in kept:
            banks.renew()

    def close(self) -> None:
        self._server.close()
        with self._lock:
            kept, self._kept = self._kept, OrderedDict()
        for banks in kept.values():
            banks.close()

    def _context(self, asked: dict[str, Any]) -> dict[str, Any]:
        name, payload = asked["host"], parsed(asked["payload"])
        if not isinstance(payload, dict):
            raise InputError("standard input", "a JSON object", payload)
        if not hook_answers.is_answered(name, payload):
            return {"answer": {}}
        folder = hook_answers.folder_of(name, payload)
        there = folder if folder is not None and Path(folder).is_dir() else asked["folder"]
        banks = self._banks(there, _kept(asked["environment"]), asked["fallback"])
        notes: list[str] = []

        def opened(workspace: Workspace) -> AbstractContextManager[Bank]:
            # The bank stays open for the next prompt.
            return nullcontext(banks.opened(workspace.resolved.settings.bank, None, create=False))

        answer = hook_answers.answer(name, payload, {}, banks.workspace, opened, notes.append)
        for note in notes:
            log.warning("hook of %s: %s", name, note)
        return {"answer": answer}

    def _recall(self, asked: dict[str, Any]) -> dict[str, Any]:
        folder, data = asked["folder"], asked["data"]
        data = None if data is None else str(Path(folder) / Path(data).expanduser())
        made = Workspace(
            data, {"bank": asked["bank"]}, folder=folder, environ=_kept(asked["environment"]), by_door=True
        )
        if made.resolved.ignored:
            raise InputError("folder", "a folder without remarks, which the caller has to see", folder)
        banks, settings, notes = self._kept_as(made), made.resolved.settings, list[str]()
        drain(banks.workspace, notes.append)
        bank = banks.opened(settings.bank, settings.session, create=False)
        distil(bank, notes.append)
        return {"found": bank.recall(asked["query"], **asked["values"]).as_dict(), "notes": notes}

    def _banks(self, folder: str, environment: Mapping[str, str], fallback: str) -> Banks:
        """Return the banks as a process in this folder, with this environment, would have them."""
        made = Workspace(folder=folder, environ=environment, by_door=True)
        if fallback and made.resolved.is_default("data"):
            made = Workspace(fallback, folder=folder, environ=environment, by_door=True)
        return self._kept_as(made)

    def _kept_as(self, made: Workspace) -> Banks:
        """Return the open banks of an equal workspace, or of this one."""
        with self._lock:
            for key, banks in self._kept.items():
                if _is_same(banks.workspace.resolved, made.resolved):
                    self._kept.move_to_end(key)
                    return banks
            banks = Banks(made, WHO)
            self._kept[id(banks)] = banks
            left = [self._kept.popitem(last=False)[1] for _ in range(len(self._kept) - KEPT)]
        for one in left:
            one.close()
        return banks


def _kept(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that count. Raise `InputError` for another time zone: the process has only one."""
    if environment.get("TZ") != os.environ.get("TZ"):
        raise InputError("TZ", f"that of the server, {os.environ.get('TZ')}", environment.get("TZ"))
    return {name: value for name, value in environment.items() if name not in PASSING}


def _is_same(one: Resolved, other: Resolved) -> bool:
    return one == other and one.environ == other.environ
