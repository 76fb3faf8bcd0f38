"""A request to trust a folder: what its settings files would change, and the record of a person's consent.

The command line asks the person; nothing is written before that.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pieria.errors import ConfigError, InputError, NotFoundError
from pieria.project import FILE as PROJECT_FILE
from pieria.project import innermost_project
from pieria.settings import NAMES, Resolved, resolve
from pieria.settings.files import FILE, SHARED
from pieria.settings.folders import working_folder
from pieria.settings.source import PROJECT
from pieria.settings.trust import ABSENT, Standing, Trust, change, contents, digest_at, digest_of, name_within

ORIGINS = {PROJECT_FILE: PROJECT, FILE: SHARED}


class Setting(NamedTuple):
    """One setting of a file: its new and its current value."""

    file: str
    name: str
    value: Any
    now: Any
    origin: str
    """Where the current value comes from."""
    counts: bool
    """Whether the file's value would take effect: an argument or a variable may override it."""


@dataclass(frozen=True, slots=True)
class Request:
    folder: Path
    standing: Standing
    files: Mapping[str, str]
    settings: tuple[Setting, ...]
    data: str
    """Where banks would be."""

    def grant(self) -> None:
        """Record that the folder is trusted, with just these files."""
        change(lambda held: held.having(self.folder, self.files))

    def as_dict(self) -> dict[str, Any]:
        return {
            "folder": str(self.folder),
            "standing": self.standing,
            "files": dict(self.files),
            "data": self.data,
            "settings": [one._asdict() for one in self.settings],
        }


class Trusted(NamedTuple):
    """A trusted folder, and whether its files have changed since."""

    folder: str
    standing: str
    files: tuple[str, ...]
    at: str


def request_for(folder: str | Path | None, arguments: Mapping[str, Any]) -> Request:
    """Return what the folder's files would change. Raise `ConfigError` for an invalid file."""
    start = working_folder(None) / Path(folder or ".").expanduser()
    if not start.is_dir():
        raise InputError("folder", "an existing folder", str(folder))
    project = innermost_project(Path(os.path.normpath(start)), None)
    if project is None:
        expected = f"a folder with a {PROJECT_FILE} or a repository, or a folder inside one"
        raise InputError("folder", expected, str(start), hint="There is nothing to trust here.")
    held = _readable()
    read = _contents_of(project / PROJECT_FILE)
    then, read = _with_data_folder(project, read, held, arguments)
    files = {name_within(project, file): digest_of(content) for file, content in read.items()}
    now = resolve(arguments, cwd=project, by_door=True, trust=held)
    settings = tuple(_settings_in(project, read, now, then))
    standing = held.standing(project, {PROJECT_FILE: ABSENT, **files})
    return Request(Path(os.path.realpath(project)), standing, files, settings, str(then.settings.data))


def trusted_folders() -> list[Trusted]:
    held = _readable()
    found = []
    for folder, grant in sorted(held.folders.items()):
        digests = {name: digest_at(Path(folder, name)) for name in {PROJECT_FILE, *grant.files}}
        standing = held.standing(Path(folder), digests) if os.path.isdir(folder) else "gone"
        found.append(Trusted(folder, standing, tuple(sorted(grant.files)), grant.at))
    return found


def revoke(folder: str | Path | None) -> str:
    """Forget that a folder is trusted, even if the folder is gone. Return its real path."""
    start = Path(os.path.normpath(working_folder(None) / Path(folder or ".").expanduser()))
    held = _readable()
    paths = (os.path.realpath(upper) for upper in (start, *start.parents))
    found = next((path for path in paths if path in held.folders), None)
    if found is None or (folder is not None and found != os.path.realpath(start)):
        raise NotFoundError("trusted folder", str(start), hint="`pieria trust --list` lists them.")
    change(lambda now: now.without(found))
    return found


def _readable() -> Trust:
    held = Trust.read()
    if held.problem is not None:
        raise ConfigError(held.problem, hint="Move the file away. Then nothing is trusted, and you can start over.")
    return held


def _contents_of(file: Path) -> dict[Path, bytes]:
    return {file: contents(file)} if os.path.lexists(file) else {}


def _with_data_folder(
    project: Path, read: dict[Path, bytes], held: Trust, arguments: Mapping[str, Any]
) -> tuple[Resolved, dict[Path, bytes]]:
    """Add the settings file of a data folder inside the project: the author could have put it there, too."""
    then = _as_trusted(project, read, held, arguments)
    data = then.settings.data
    if (
        isinstance(data, Path)
        and then.is_judged
        and Path(os.path.realpath(data)).is_relative_to(os.path.realpath(project))
    ):
        read = {**read, **_contents_of(data / FILE)}
        then = _as_trusted(project, read, held, arguments)
    return then, read


def _as_trusted(project: Path, read: Mapping[Path, bytes], held: Trust, arguments: Mapping[str, Any]) -> Resolved:
    files = {name_within(project, file): digest_of(content) for file, content in read.items()}
    return resolve(arguments, cwd=project, by_door=True, trust=held.having(project, files))


def _settings_in(project: Path, read: Mapping[Path, bytes], now: Resolved, then: Resolved) -> Iterator[Setting]:
    before, after = now.shown(), then.shown()
    for file, content in read.items():
        for name in tomllib.loads(content.decode("utf-8")):
            if name in NAMES:
                held, origin = before[name]
                value, says = after[name]
                yield Setting(name_within(project, file), name, value, held, origin, says == ORIGINS[file.name])
