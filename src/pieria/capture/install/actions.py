"""Install, inspect and uninstall hooks for each host that has them. A dry run returns the same and writes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pieria.capture.install import files
from pieria.capture.install.commands import CAPTURE, CONTEXT, Commands
from pieria.capture.install.entries import Unusual
from pieria.capture.install.hosts import HOOKED, INSTALLED, MISSING, PROJECT, SCOPES, USER, Foreign, Host
from pieria.capture.spool import spool_of
from pieria.errors import ConfigError, ConflictError, InputError
from pieria.record import check
from pieria.settings.folders import home_folder
from pieria.settings.source import PROJECT as PROJECTS

if TYPE_CHECKING:
    from pieria.workspace import Workspace

ABSENT, UNREADABLE = "absent", "unreadable"
NONE: Mapping[str, list[str]] = {}


@dataclass(frozen=True, slots=True)
class Found:
    """The state of one host's hooks: events that are captured, and events that add context.

    `absent`: the host is not on this machine.
    """

    host: str
    scope: str
    file: str
    state: str
    events: list[str] = field(default_factory=list)
    context: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    next_step: str | None = None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Where:
    """Which files are meant: `root` is the project's folder, `spool` the hooks' target; `data` is the folder of the
    banks, if it is neither the default nor a project's.
    """

    spool: Path
    home: Path
    root: Path
    environ: Mapping[str, str]
    scope: str = USER
    data: Path | None = None

    def commands(self, host: Host) -> Commands:
        return Commands(host.name, self.spool, self.data)

    def file(self, host: Host) -> Path:
        return host.path(self.scope, self.environ, self.home, self.root)

    def is_here(self, host: Host) -> bool:
        return host.is_here(self.environ, self.home)


def where(workspace: Workspace, scope: str, environ: Mapping[str, str]) -> Where:
    """Return the files for this user and folder. Raise `ConfigError` if the scope needs a project and there is none."""
    check.one_of(scope, "scope", SCOPES)
    home = home_folder()
    if home is None:
        raise ConfigError("the user's home folder is unknown", hint="Set HOME.")
    project = workspace.resolved.project
    if scope == PROJECT and project is None:
        raise ConfigError("the working folder is in no project", hint="Change to one, or leave scope out.")
    root = home if project is None else project.root
    data = workspace.resolved.settings.data
    own = workspace.resolved.is_default("data") or workspace.resolved.origins["data"] == PROJECTS
    return Where(
        spool_of(workspace).folder, home, root, environ, scope, data if isinstance(data, Path) and not own else None
    )


def chosen(names: Iterable[str], where: Where, among: Mapping[str, Host] = HOOKED) -> list[Host]:
    """Return the named hosts, or those on this machine if none are named."""
    given = list(names)
    for name in given:
        if name not in among:
            near = get_close_matches(name, among, 1)
            hint = f"Did you mean {near[0]}?" if near else None
            raise InputError("host", "one of " + ", ".join(among), name, hint=hint)
    if given:
        return [among[name] for name in dict.fromkeys(given)]
    here = [host for host in among.values() if where.is_here(host)]
    if not here:
        raise ConfigError(
            "none of the hosts was found: " + ", ".join(host.title for host in among.values()),
            hint="Name a host with --host to prepare it anyway.",
        )
    return here


def status(host: Host, where: Where) -> Found:
    path = where.file(host)

    def made(state: str, found: Mapping[str, list[str]] = NONE, problems: Iterable[str] = ()) -> Found:
        step = host.next_step if state == INSTALLED else None
        events = [event for event, done in found.items() if CAPTURE in done]
        telling = [event for event, done in found.items() if CONTEXT in done]
        return Found(host.name, where.scope, str(path), state, events, telling, list(problems), step)

    try:
        text = files.read(path)
        found, state = host.found(text), host.state(text, where.commands(host))
    except ConfigError as problem:
        return made(UNREADABLE, problems=[problem.message])
    except Unusual as problem:
        return made(UNREADABLE, problems=[f"{path}: {problem}"])
    if not found:
        return made(ABSENT if state == MISSING and where.scope == USER and not where.is_here(host) else state)
    telling = any(CONTEXT in done for done in found.values())
    return made(
        state, found, [*host.warnings(text, where.environ, where.home), *(_twice(host, where) if telling else ())]
    )


def _twice(host: Host, where: Where) -> list[str]:
    """Return a warning if a host runs the hooks twice, for the user and for the project. Captured events are stored
    once.
    """
    path = replace(where, scope=USER if where.scope == PROJECT else PROJECT).file(host)
    if path == where.file(host):
        return []  # The home folder is the project.
    try:
        found = host.found(files.read(path))
    except (ConfigError, Unusual):
        return []
    both = any(CONTEXT in done for done in found.values())
    return [f"{path} has them as well, so agents get everything twice"] if both else []


def install(host: Host, where: Where, *, context: bool = True, dry_run: bool = False) -> Found:
    """Install the hooks and return the state before. With `context` the host also shows what is remembered; without
    it, those entries are removed.
    """
    before, path = status(host, where), where.file(host)
    try:
        text = files.read(path)
        wanted = host.installed(text, where.commands(host), context=context)
    except Unusual as problem:
        hint = "Nothing was changed. Repair the file, then install again."
        raise ConfigError(f"{path}: {problem}", hint=hint) from problem
    except Foreign as problem:
        raise ConflictError(f"{path}: {problem}", hint="Move it away, then install again.") from problem
    if not dry_run and wanted != text:
        files.write(path, wanted)
    return before


def uninstall(host: Host, where: Where, *, dry_run: bool = False) -> Found:
    """Remove the hooks and return the state before. Captured events stay."""
    before, path = status(host, where), where.file(host)
    try:
        text = files.read(path)
        left = None if text is None else host.uninstalled(text)
    except Unusual as problem:
        hint = "Nothing was changed. Repair the file, then uninstall again."
        raise ConfigError(f"{path}: {problem}", hint=hint) from problem
    if dry_run or text is None or left == text:
        return before
    if left is None:
        files.remove(path)
    else:
        files.write(path, left)
    return before
