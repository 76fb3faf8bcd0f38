"""Set up hosts: show, write and remove all that Pieria needs in their files. `doors` ask the person and try it out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from pieria.capture.install import files
from pieria.capture.install.actions import UNREADABLE, Where
from pieria.capture.install.commands import CONTEXT, Commands
from pieria.capture.install.entries import EMPTY, HOOKS, Unusual
from pieria.capture.install.files import MARK
from pieria.capture.install.hosts import FOREIGN, OUTDATED, Host
from pieria.capture.install.notes import Note, Notes, note_of
from pieria.capture.install.servers import BROKEN, MISSING, Launch, Servers
from pieria.errors import ConfigError

WRITES = (MISSING, BROKEN)
"""The states in which setup writes an entry."""


class Part(Protocol):
    """What Pieria needs in one file of a host."""

    @property
    def what(self) -> str: ...
    @property
    def entry(self) -> str: ...
    @property
    def file(self) -> Path: ...

    def state(self, text: str | None) -> str: ...

    def installed(self, text: str | None) -> str:
        """Return the text with our entry."""

    def uninstalled(self, text: str, note: Note | None) -> str | None:
        """Return the text without our entry; None if there should be no file."""

    def about(self, text: str | None) -> dict[str, Any]:
        """Return what a note must say about a file without our entry."""


@dataclass(frozen=True, slots=True)
class ServerPart:
    """The entry of the MCP server."""

    servers: Servers
    file: Path
    launch: Launch
    what: str = "MCP server"

    @property
    def entry(self) -> str:
        return self.servers.entry

    def state(self, text: str | None) -> str:
        return self.servers.state(text)

    def installed(self, text: str | None) -> str:
        return self.servers.installed(text, self.launch)

    def uninstalled(self, text: str, note: Note | None) -> str | None:
        note = note or Note("")
        left = self.servers.uninstalled(text, container=note.container, before=note.mended)
        return None if note.is_new and self.servers.is_empty(left) else left

    def about(self, text: str | None) -> dict[str, Any]:
        return {"container": not self.servers.has_container(text), "mended": self.servers.replaced(text)}


@dataclass(frozen=True, slots=True)
class HooksPart:
    """The hooks, as `pieria hooks install` writes them. Installed ones keep their data folder, and give no context if
    they gave none.
    """

    host: Host
    where: Where
    what: str = "hooks"

    @property
    def entry(self) -> str:
        return HOOKS if self.host.events else "the whole file"

    @property
    def file(self) -> Path:
        return self.where.file(self.host)

    def state(self, text: str | None) -> str:
        state = self.host.state(_filled(text), self._commands(text))
        return BROKEN if state == OUTDATED else state

    def installed(self, text: str | None) -> str:
        found = self.host.found(_filled(text))
        context = not found or any(CONTEXT in done for done in found.values())
        return self.host.installed(_filled(text), self._commands(text), context=context)

    def uninstalled(self, text: str, note: Note | None) -> str | None:
        return self.host.uninstalled(text) if text.removeprefix(MARK).strip() else text

    def about(self, text: str | None) -> dict[str, Any]:
        return {}

    def _commands(self, text: str | None) -> Commands:
        return self.host.like(_filled(text), self.where.commands(self.host))


@dataclass(frozen=True, slots=True)
class SharedPart:
    """The MCP server and the hooks of a host that keeps both in one file."""

    server: ServerPart
    hooks: HooksPart
    what: str = "MCP server and hooks"

    @property
    def entry(self) -> str:
        return f"{self.server.entry}, {self.hooks.entry}"

    @property
    def file(self) -> Path:
        return self.server.file

    def state(self, text: str | None) -> str:
        """Return the state that asks for most."""
        states = (self.server.state(text), self.hooks.state(text))
        return next((state for state in (BROKEN, MISSING) if state in states), states[0])

    def installed(self, text: str | None) -> str:
        """Return the text with what is missing or broken. An entry that was written by hand stays."""
        if self.server.state(text) in WRITES:
            text = self.server.installed(text)
        return self.hooks.installed(text)

    def uninstalled(self, text: str, note: Note | None) -> str | None:
        left = self.hooks.uninstalled(text, note)
        return None if left is None else self.server.uninstalled(left, note)

    def about(self, text: str | None) -> dict[str, Any]:
        return self.server.about(text)


def _filled(text: str | None) -> str | None:
    """Return an empty object for an empty file, which some hosts write."""
    return EMPTY if text is not None and not text.removeprefix(MARK).strip() else text


def parts_of(host: Host, where: Where, launch: Launch) -> list[Part]:
    hooks = HooksPart(host, where)
    if host.servers is None:
        return [hooks]
    server = ServerPart(host.servers, host.server_path(where.environ, where.home), launch)
    if not host.file:
        return [server]
    return [SharedPart(server, hooks)] if server.file == hooks.file else [server, hooks]


@dataclass(frozen=True, slots=True)
class Found:
    """The state of one part. `problem` says why its file is left alone."""

    part: Part
    state: str
    problem: str | None = None

    @property
    def is_to_write(self) -> bool:
        return self.state in WRITES and self.problem is None

    def as_dict(self) -> dict[str, Any]:
        part = self.part
        return {"what": part.what, "file": str(part.file), "entry": part.entry, "state": self.state}


def find(part: Part) -> Found:
    """Return the state of a part. A file that cannot be read has a state, too."""
    state = UNREADABLE
    try:
        with _told(part):
            text = files.read(part.file)
            state = part.state(text)
            if state in WRITES:
                part.installed(text)
    except ConfigError as problem:
        return Found(part, state, problem.message)
    if state == FOREIGN:
        return Found(part, state, f"{part.file}: Pieria did not write it, so it was not touched: move it away")
    return Found(part, state)


@contextmanager
def _told(part: Part) -> Iterator[None]:
    """Turn `Unusual` into an error of ours, which names the file."""
    try:
        yield
    except Unusual as problem:
        reason = f"{part.file}: {problem}, so it was not touched: repair it, then run this again"
        raise ConfigError(reason) from problem


def install(part: Part, notes: Notes) -> None:
    """Write our entry, and note how the file was before. A note without its entry is harmless, so it comes first."""
    text = files.read(part.file)
    with _told(part):
        now = part.installed(text)
        before = None if text is None else _without(part, text, notes)
        note = note_of(before, now, **part.about(before))
    notes.put(part.file, note)
    files.write(part.file, now)


def is_removable(part: Part, notes: Notes) -> bool:
    """Return whether the file holds anything that `uninstall` would remove."""
    text = files.read(part.file)
    return text is not None and _without(part, text, notes) != text


def uninstall(part: Part, notes: Notes) -> None:
    """Put the file back as it was before."""
    text = files.read(part.file)
    left = None if text is None else _without(part, text, notes)
    if left is None:
        files.remove(part.file)
    elif left != text:
        files.write(part.file, left)
    notes.drop(part.file)


def _without(part: Part, text: str, notes: Notes) -> str | None:
    """Return the text without our entry: the exact text before, if the file did not change since."""
    note = notes.get(part.file)
    if note is not None and note.is_of(text):
        return note.restored(text)
    with _told(part):
        return part.uninstalled(text, note)
