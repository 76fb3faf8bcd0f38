"""The work of `pieria setup` on one machine: plan, write, remove, and try out. The command asks and shows."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pieria.capture.install import actions, setup
from pieria.capture.install.hosts import HOSTS, USER, Host
from pieria.capture.install.notes import Notes
from pieria.capture.install.servers import MISSING, wanted_launch
from pieria.capture.install.setup import Found, Part
from pieria.errors import ConfigError, PieriaError
from pieria.record.address import Address

if TYPE_CHECKING:
    from pieria.capture.install.actions import Where
    from pieria.doors.cli.host_trial import Trial
    from pieria.workspace import Workspace

ADD, MEND, REMOVE = "add", "mend", "remove"
RESTART = "start it again, so that it sees Pieria"
MODELS = "PIERIA_MODELS"
UNSEEN_MODELS = (
    f"the agent does not see {MODELS} of this shell, and so not the models there: set models in the data folder's "
    "pieria.toml"
)
LOCAL = ("auto", "local")
"""Values of the setting `embedder` that use the local model."""


@dataclass
class Plan:
    """One host: what was found in its files, and what is to be done there."""

    host: Host
    found: list[Found]
    todo: dict[Path, str] = field(default_factory=dict)
    """The change of each file."""
    problems: list[str] = field(default_factory=list)
    unrelated: list[str] = field(default_factory=list)
    """Those problems of a removal whose files do not name Pieria."""
    warnings: list[str] = field(default_factory=list)
    done: list[Path] = field(default_factory=list)
    trial: Trial | None = None
    next_step: str | None = None

    def as_dict(self) -> dict[str, Any]:
        entries = [
            {**each.as_dict(), "change": self.todo.get(each.part.file), "changed": each.part.file in self.done}
            for each in self.found
        ]
        return {
            "host": self.host.name,
            "title": self.host.title,
            "entries": entries,
            "problems": self.problems,
            "warnings": self.warnings,
            "check": None if self.trial is None else self.trial.as_dict(),
            "next": self.next_step,
        }


@dataclass(frozen=True, slots=True)
class Sessions:
    """Past sessions of a host."""

    host: Host
    folder: Path
    files: int

    def as_dict(self) -> dict[str, Any]:
        command = f"pieria mine {self.folder} --conversations"
        about = {"host": self.host.name, "folder": str(self.folder), "files": self.files}
        return {**about, "command": command, "mined": None}


class Setup:
    """The plans for the named hosts, or for those on this machine."""

    def __init__(self, workspace: Workspace, names: Sequence[str], *, remove: bool) -> None:
        self._workspace = workspace
        self.where = actions.where(workspace, USER, os.environ)
        self._data = None if remove else _data_of(workspace, self.where)
        self._notes = Notes(self.where.spool.parent)
        if remove:
            # An agent may be gone, and its file still be there.
            plans = map(self._plan_removal, actions.chosen(names or HOSTS, self.where, HOSTS))
            self.plans = [plan for plan in plans if plan.todo or plan.problems]
        else:
            self.plans = [self._plan(host) for host in actions.chosen(names, self.where, HOSTS)]

    @property
    def problems(self) -> list[str]:
        """Return the problems with files that may start Pieria."""
        return [problem for plan in self.plans for problem in plan.problems if problem not in plan.unrelated]

    @property
    def unrelated(self) -> list[str]:
        """Return the problems with files that do not name Pieria."""
        return [problem for plan in self.plans for problem in plan.unrelated]

    def _parts(self, host: Host, *, removable: bool = False) -> Sequence[Part]:
        if host.servers is None:
            from pieria.hermes import setup as hermes

            home = host.folder(self.where.environ, self.where.home)
            return hermes.removable_parts(home) if removable else hermes.parts(home, self._data)
        return setup.parts_of(host, self.where, wanted_launch(self._data))

    def _plan(self, host: Host) -> Plan:
        plan = Plan(host, [setup.find(part) for part in self._parts(host)])
        plan.problems += [each.problem for each in plan.found if each.problem]
        plan.todo = {each.part.file: ADD if each.state == MISSING else MEND for each in plan.found if each.is_to_write}
        return plan

    def _plan_removal(self, host: Host) -> Plan:
        plan = Plan(host, [setup.find(part) for part in self._parts(host, removable=True)])
        for each in plan.found:
            if each.state == actions.UNREADABLE:
                plan.problems.append(str(each.problem))
                if not _may_name_pieria(each.part.file):
                    plan.unrelated.append(str(each.problem))
                continue
            try:
                if setup.is_removable(each.part, self._notes):
                    plan.todo[each.part.file] = REMOVE
            except ConfigError as problem:
                plan.problems.append(problem.message)
        return plan

    def write(self) -> None:
        """Write the entries that are missing or broken. A problem with one file does not stop the others."""
        self._each(setup.install)
        for plan in self.plans:
            plan.next_step = self._next_step(plan)
            plan.warnings += self._warnings(plan.host)

    def remove(self) -> None:
        """Put the files back as they were."""
        self._each(setup.uninstall)

    def _each(self, verb: Callable[[Part, Notes], None]) -> None:
        for plan in self.plans:
            for each in plan.found:
                if each.part.file not in plan.todo:
                    continue
                try:
                    verb(each.part, self._notes)
                    plan.done.append(each.part.file)
                except PieriaError as problem:
                    plan.problems.append(problem.message)

    def try_out(self, progress: Callable[[int, int], None] | None) -> None:
        """Try out each host whose files are as they should be."""
        from pieria.doors.cli.host_trial import Trials

        trials = Trials(self.where)
        ready = [plan for plan in self.plans if not plan.problems]
        for place, plan in enumerate(ready):
            plan.trial = trials.of(plan.host)
            if plan.trial.worked is False:
                plan.next_step = None
            if progress is not None:
                progress(place + 1, len(ready))

    def missing_model(self) -> Any:
        """Return the local model if the setting `embedder` wants it and it is not installed."""
        if self._workspace.resolved.settings.embedder not in LOCAL:
            return None
        return next((each for each in self._workspace.models.list() if each.state != "installed"), None)

    def sessions(self) -> list[Sessions]:
        """Return the folders of past sessions on this machine."""
        found = []
        for plan in self.plans:
            if plan.host.sessions is not None:
                of, patterns = plan.host.sessions
                folder = of(self.where.environ, self.where.home)
                files = sum(1 for pattern in patterns for _ in folder.glob(pattern))
                found += [Sessions(plan.host, folder, files)] if files else []
        return found

    def _next_step(self, plan: Plan) -> str | None:
        if not plan.done or plan.problems:
            return None
        if plan.host.servers is None:
            from pieria.hermes.setup import NEXT

            return NEXT
        return plan.host.next_step or RESTART

    def _warnings(self, host: Host) -> list[str]:
        problems = actions.status(host, self.where).problems if host.file else []
        return [*problems, UNSEEN_MODELS] if MODELS in self.where.environ else problems


def _may_name_pieria(file: Path) -> bool:
    """Return whether a file that is not in its agent's format may start Pieria."""
    try:
        # Another encoding may put a zero byte beside each letter.
        return b"pieria" in file.read_bytes().replace(b"\0", b"").lower()
    except OSError:
        return True


def _data_of(workspace: Workspace, where: Where) -> str | None:
    """Return what entries say of the data folder. Raise `ConfigError` for an address with a password."""
    data = workspace.resolved.settings.data
    if not isinstance(data, Address):
        return None if where.data is None else str(where.data)
    if str(data) != data.url:
        reason = f"{data}: its address holds more than setup may write into the agents' files, such as a password"
        raise ConfigError(reason, hint="Set PIERIA_DATA in the agents' environment, and connect them by hand.")
    return data.url
