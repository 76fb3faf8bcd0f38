"""What `pieria setup` writes into the home folder of Hermes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pieria.capture.install import jsontext
from pieria.capture.install.entries import EMPTY, Unusual
from pieria.capture.install.notes import Note
from pieria.capture.install.servers import BROKEN, BY_HAND, INSTALLED, MISSING
from pieria.hermes import install as installing
from pieria.hermes import options

NEXT = "hermes config set memory.provider pieria"
_DATA = "data"


@dataclass(frozen=True, slots=True)
class PluginPart:
    """One file of the plugin folder."""

    home: Path
    name: str
    what: str = "memory provider"
    entry: str = "the whole file"

    @property
    def file(self) -> Path:
        return installing.plugin(self.home).folder / self.name

    def state(self, text: str | None) -> str:
        if installing.plugin(self.home).state == installing.FOREIGN:
            return installing.FOREIGN
        return MISSING if text is None else INSTALLED if text == self.installed(text) else BROKEN

    def installed(self, text: str | None) -> str:
        return installing.contents()[self.name]

    def uninstalled(self, text: str, note: Note | None) -> str | None:
        return None if installing.MARK in text else text

    def about(self, text: str | None) -> dict[str, Any]:
        return {}


@dataclass(frozen=True, slots=True)
class DataPart:
    """The option that names the folder of the banks. One that the user chose stays.

    Without `data`, the part only serves for removal.
    """

    home: Path
    data: str
    what: str = "option"
    entry: str = _DATA

    @property
    def file(self) -> Path:
        return self.home / options.FILE

    def state(self, text: str | None) -> str:
        held = _root(text).value.get(_DATA)
        return MISSING if held is None else INSTALLED if held == self.data else BY_HAND

    def installed(self, text: str | None) -> str:
        return jsontext.with_entry(EMPTY if text is None else text, _root(text), self.data, _DATA)

    def uninstalled(self, text: str, note: Note | None) -> str | None:
        root = _root(text)
        ours = root.member(_DATA)
        if note is None or ours is None or self.data not in ("", ours.node.value):
            return text
        return None if note.is_new and len(root.entries) == 1 else jsontext.without_entry(text, root, ours)

    def about(self, text: str | None) -> dict[str, Any]:
        return {}


def _root(text: str | None) -> jsontext.Node:
    try:
        root = jsontext.parsed(EMPTY if text is None else text)
    except ValueError as problem:
        raise Unusual(str(problem)) from problem
    if not isinstance(root.value, dict):
        raise Unusual("expected an object of options")
    return root


def parts(home: Path, data: str | None) -> list[PluginPart | DataPart]:
    """Return what Hermes needs; without `data`, it uses the default folder."""
    files: list[PluginPart | DataPart] = [PluginPart(home, name) for name in installing.contents()]
    return files if data is None else [*files, DataPart(home, data)]


def removable_parts(home: Path) -> list[PluginPart | DataPart]:
    """Return what setup may have written."""
    return parts(home, "")


def plugin_file(home: Path) -> Path:
    """Return the file that Hermes loads."""
    return PluginPart(home, "__init__.py").file


def data_of(home: Path) -> str | None:
    """Return the folder of the banks that the agent uses, if an option names it."""
    return options.options_in(home).data
