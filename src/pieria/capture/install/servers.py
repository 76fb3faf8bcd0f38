"""Pieria's MCP server in a host's file, as JSON or TOML. All else in the file keeps its bytes."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pieria.capture.install import jsontext, tomltext
from pieria.capture.install.entries import EMPTY, Unusual
from pieria.capture.install.files import MARK

NAME = "pieria"
JSON, TOML = "json", "toml"
MISSING, INSTALLED, BROKEN, BY_HAND = "missing", "installed", "broken", "by hand"
RUN = ("-P", "-m", "pieria", "mcp")
"""Arguments of Python. -P keeps the agent's working folder, which others may have written, out of the imports."""
DATA = "--data"


@dataclass(frozen=True, slots=True)
class Launch:
    """How a host starts a server. An empty `command` is a server that the host reaches by its address."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_ours(self) -> bool:
        return self.args[: len(RUN)] == RUN

    @property
    def program(self) -> str | None:
        """Return the command as this machine finds it, or None if only the host can resolve it."""
        program = os.path.expanduser(self.command)
        is_relative = os.sep in program and not os.path.isabs(program)
        return None if "$" in program or program.startswith("~") or is_relative else program

    @property
    def is_gone(self) -> bool:
        return self.program is not None and shutil.which(self.program) is None

    @property
    def data(self) -> str | None:
        """Return the folder of the banks, if the launch names it."""
        named = self.env.get("PIERIA_DATA")
        for place, argument in enumerate(self.args):
            if argument == DATA and place + 1 < len(self.args):
                named = self.args[place + 1]
            elif argument.startswith(f"{DATA}="):
                named = argument.partition("=")[2]
        return named

    @property
    def folder(self) -> str:
        """Return the folder of the banks, as a host's server finds it."""
        from pieria.settings.folders import DATA as DEFAULT

        return self.data or str(DEFAULT)

    def mended(self, wanted: Launch) -> Launch:
        """Return the wanted command with the options of this one, which may name another data folder."""
        options = self.args[self.args.index("mcp") + 1 :] if "mcp" in self.args else ()
        return Launch(wanted.command, (*(wanted.args if self.data is None else RUN), *options))


def wanted_launch(data: str | None) -> Launch:
    """Return the command of this installation; `data` names the banks, if they are not in the default folder."""
    return Launch(sys.executable, (*RUN, *((DATA, data) if data else ())))


@dataclass(frozen=True, slots=True)
class Servers:
    """How a host writes MCP servers: an object under `key`, by name.

    Each server has the keys `fixed`, besides its command. A new one has `initial`, too, which the user may change.
    """

    key: str
    fixed: Mapping[str, Any] = field(default_factory=dict)
    initial: Mapping[str, Any] = field(default_factory=dict)
    format: str = JSON
    is_one_list: bool = False
    """Whether `command` is a list that holds the arguments as well."""

    @property
    def entry(self) -> str:
        return f"{self.key}.{NAME}"

    def found(self, text: str | None) -> Any:
        """Return the value of our name, or None. Raise `Unusual` if the file is not in its host's format."""
        rest = _split(text)[1]
        if self.format == TOML:
            return tomltext.value_at(tomltext.parsed(rest), (self.key, NAME))
        return _root(rest, self.key).value.get(self.key, {}).get(NAME)

    def launch(self, value: Any) -> Launch:
        """Return what the host starts for a value that `found` returned."""
        held = value if isinstance(value, dict) else {}
        command, args = held.get("command"), held.get("args")
        if self.is_one_list:
            command, *args = command if isinstance(command, list) and command else [""]
        env = held.get("environment" if self.is_one_list else "env")
        return Launch(
            command if isinstance(command, str) else "",
            tuple(map(str, args)) if isinstance(args, list) else (),
            {name: str(one) for name, one in env.items()} if isinstance(env, dict) else {},
        )

    def state(self, text: str | None) -> str:
        """Return whether the entry is there, and its command exists. The user may have changed all else in it."""
        value = self.found(text)
        if value is None:
            return MISSING
        launch = self.launch(value)
        if launch.is_gone and (launch.is_ours or launch.command):
            return BROKEN
        return INSTALLED if launch.is_ours else BY_HAND

    def installed(self, text: str | None, wanted: Launch) -> str:
        """Return the text with our entry. A broken one is mended, and keeps its options and other keys."""
        mark, rest = _split(text)
        value, state = self.found(text), self.state(text)
        if state == MISSING:
            return mark + self._added(rest, {**self._values(wanted), **self.initial})
        if state == BROKEN:
            rest = self._changed(rest, {**value, **self._values(self.launch(value).mended(wanted))})
        return mark + rest

    def uninstalled(self, text: str, *, container: bool, before: Any = None) -> str:
        """Return the text without our entry; an entry written by hand stays.

        `container`: also remove the object of all servers, if it is now empty. `before` are the keys that `replaced`
        returned for an entry that was mended, and are put back.
        """
        value = self.found(text)
        if value is None or not self.launch(value).is_ours:
            return text
        mark, rest = _split(text)
        if before is None:
            return mark + self._removed(rest, container)
        kept = {name: one for name, one in value.items() if name not in self._keys}
        return mark + self._changed(rest, {**before, **kept})

    def replaced(self, text: str | None) -> dict[str, Any] | None:
        """Return the keys of the entry that mending replaces; None if there is no entry."""
        value = self.found(text)
        return {name: value[name] for name in self._keys if name in value} if isinstance(value, dict) else None

    def has_container(self, text: str | None) -> bool:
        rest = _split(text)[1]
        return self.key in (tomltext.parsed(rest) if self.format == TOML else _root(rest, self.key).value)

    def is_empty(self, text: str) -> bool:
        """Return whether the file holds nothing, not even a comment."""
        return not _split(text)[1].translate(_BRACES).strip()

    @property
    def _keys(self) -> list[str]:
        return list(self._values(Launch("")))

    def _values(self, wanted: Launch) -> dict[str, Any]:
        if self.is_one_list:
            return {**self.fixed, "command": [wanted.command, *wanted.args]}
        return {**self.fixed, "command": wanted.command, "args": list(wanted.args)}

    def _added(self, rest: str, values: Mapping[str, Any]) -> str:
        if self.format == TOML:
            return tomltext.with_table(rest, (self.key, NAME), values)
        root, rest = _root(rest, self.key), rest if rest.strip() else EMPTY
        container = root.member(self.key)
        if container is None:
            return jsontext.with_entry(rest, root, {NAME: values}, self.key)
        return jsontext.with_entry(rest, container.node, values, NAME)

    def _changed(self, rest: str, value: Any) -> str:
        if self.format == TOML:
            return tomltext.with_values(rest, (self.key, NAME), value)
        return jsontext.with_value(rest, _members(rest, self.key)[1].node, value)

    def _removed(self, rest: str, container: bool) -> str:
        if self.format == TOML:
            return tomltext.without_table(rest, (self.key, NAME))
        all_servers, ours = _members(rest, self.key)
        if container and len(all_servers.node.entries) == 1:
            return jsontext.without_entry(rest, _root(rest, self.key), all_servers)
        return jsontext.without_entry(rest, all_servers.node, ours)


_BRACES = {ord(brace): None for brace in "{}"}


def _split(text: str | None) -> tuple[str, str]:
    """Return the byte order mark, if any, and the rest."""
    text = text or ""
    mark = MARK if text.startswith(MARK) else ""
    return mark, text.removeprefix(mark)


def _root(rest: str, key: str) -> jsontext.Node:
    try:
        root = jsontext.parsed(rest if rest.strip() else EMPTY)
    except ValueError as problem:
        raise Unusual(str(problem)) from problem
    if not isinstance(root.value, dict):
        raise Unusual("expected an object")
    if not isinstance(root.value.get(key, {}), dict):
        raise Unusual(f"expected {key} to be an object")
    return root


def _members(rest: str, key: str) -> tuple[jsontext.Entry, jsontext.Entry]:
    """Return the member with all servers, and the member in it that is ours."""
    container = _root(rest, key).member(key)
    ours = None if container is None else container.node.member(NAME)
    assert container is not None and ours is not None
    return container, ours
