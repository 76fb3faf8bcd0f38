"""Parse a line of the spool into an event with its id and project files. Opens nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from pieria.errors import InputError
from pieria.project import find_project, work_root
from pieria.record.event import SPOKEN, AgentEvent, digest_of, event_id
from pieria.record.json_text import parsed
from pieria.record.patch import edits_of
from pieria.record.place_name import place_name
from pieria.settings.folders import home_folder

LONGEST_PATH = 1_000
PATHS = ("file_path", "filePath", "notebook_path", "path", "file", "filename", "files", "paths")
"""Argument names that the hosts' tools use for files."""


@dataclass(frozen=True, slots=True)
class Told:
    """An event, and the bank named in its environment."""

    event: AgentEvent
    bank: str | None = None


def told_by(line: bytes) -> Told:
    """Return the event of a line. Raise `InputError` if the line is foreign or cut off."""
    try:
        read = parsed(line)
    except ValueError as problem:
        raise InputError(
            "line",
            "a whole line of JSON",
            f"{len(line):,} bytes",
            hint="The line was cut, or another program wrote it.",
        ) from problem
    if not isinstance(read, Mapping) or not isinstance(read.get("event"), Mapping):
        raise InputError("line", "an object with an event", type(read).__name__)
    bank = read.get("bank")
    if not (bank is None or isinstance(bank, str)):
        raise InputError("bank", "a name", bank)
    return Told(event_of(read["event"], str(read.get("own") or "")), bank)


def event_of(told: Mapping[str, Any], own: str = "") -> AgentEvent:
    """Return the event. `own` is the host's id; the same id with different words makes two events."""
    event = AgentEvent.from_dict(told)
    if own and told.get("id") is None:
        said = (digest_of(event.text),) if event.what in SPOKEN else ()
        event = replace(event, id=event_id(event.host, event.session, event.what, own, *said))
    files = event.files or tuple(_named(event.input))
    project = event.project or (_project(event.folder) if event.folder else None)
    return replace(event, project=project, files=tuple(dict.fromkeys(_within(event.folder, file) for file in files)))


def _named(given: Mapping[str, Any]) -> Iterator[str]:
    """Yield the files in a tool's arguments or in its patch."""
    for key in PATHS:
        value = given.get(key)
        for path in value if isinstance(value, list) else (value,):
            if isinstance(path, str) and _is_path(path):
                yield path
    for value in given.values():
        if isinstance(value, str) and "*** " in value:
            yield from filter(_is_path, (str(edit["file_path"]) for edit in edits_of(value)))
    for edit in edits if isinstance(edits := given.get("edits"), list) else ():
        if isinstance(edit, Mapping):
            yield from _named({name: value for name, value in edit.items() if name != "edits"})


def _is_path(text: str) -> bool:
    return bool(text.strip()) and len(text) <= LONGEST_PATH and text.isprintable()


def _within(folder: str | None, file: str) -> str:
    """Return the path relative to the project's root if it is below it, else as given."""
    if folder is None:
        return file
    whole = os.path.normpath(os.path.join(folder, os.path.expanduser(file)))
    root = _root(folder)
    return os.path.relpath(whole, root) if whole.startswith(root.rstrip("/") + "/") else file


@lru_cache(256)
def _root(folder: str) -> str:
    project = find_project(Path(folder), home_folder())
    return folder if project is None else str(project.root)


@lru_cache(256)
def _project(folder: str) -> str | None:
    name = work_root(folder, home_folder()).name
    return place_name(name) if name else None
