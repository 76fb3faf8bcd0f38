"""Records of the folders that this user trusts, and of banks inside projects that this user's Pieria made.

The records are always in `~/.pieria/trust.json`: neither a project nor a data folder can choose the place. `source`
says which settings an untrusted file may change.

A file is known by its identity. A path is not enough: a clone can bring another file of the same name. Nor is an inode
number: file systems reuse it. The system sets the time of birth, and no program that unpacks or checks out files can
choose it.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import stat
import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pieria.errors import ConfigError
from pieria.project import FILE as PROJECT_FILE
from pieria.project import innermost_project
from pieria.record.time import iso, system_clock
from pieria.settings.folders import DATA, home_folder
from pieria.store.files import PRIVATE_FILE, PRIVATE_FOLDER, flush, storage_error, written_aside

_BUFFER = 256
_BIRTH_WANTED = 0x800
_MASK_AT, _BIRTH_AT = 0, 0x50
_HERE = -100
_SECOND = 1_000_000_000
FILE, LOCK = "trust.json", "trust.lock"
LARGEST = 65_536
"""Bytes of a settings file. A larger one is not read."""
ABSENT = ""
"""The digest of a file that is not there."""
HOMELESS = "the user's home folder is unknown, so nothing can be trusted"
Standing = Literal["trusted", "changed", "untrusted"]
Digests = Mapping[str, str | None]
"""By a file's path inside the folder; None for a file that cannot be read."""


def identity_of(path: Path) -> str | None:
    """Return inode and time of birth; None if there is no file, or no time of birth on its file system."""
    try:
        about = os.stat(path)
    except OSError:
        return None
    birth = _birth(path, about)
    return None if birth is None else f"{about.st_ino}:{birth}"


def _birth(path: Path, about: os.stat_result) -> int | None:
    """Return the time of birth in nanoseconds. Python has it on some systems only; elsewhere ask the C library."""
    told: float | None = getattr(about, "st_birthtime", None)
    if told is not None:
        return round(told * _SECOND)
    import ctypes

    try:
        statx = ctypes.CDLL(None, use_errno=True).statx
    except (AttributeError, OSError):
        return None
    buffer = ctypes.create_string_buffer(_BUFFER)
    if statx(_HERE, os.fsencode(path), 0, _BIRTH_WANTED, buffer):
        return None
    (mask,) = struct.unpack_from("=I", buffer.raw, _MASK_AT)
    seconds, rest = struct.unpack_from("=qI", buffer.raw, _BIRTH_AT)
    return int(seconds) * _SECOND + int(rest) if mask & _BIRTH_WANTED else None


class Grant(NamedTuple):
    """One trusted folder: the digests of its settings files, and when a person trusted it."""

    files: Mapping[str, str]
    at: str


@dataclass(frozen=True, slots=True)
class Trust:
    """The records, read once. `path` is None if this user's home is not known."""

    path: Path | None
    folders: Mapping[str, Grant] = field(default_factory=dict)
    banks: Mapping[str, str] = field(default_factory=dict)
    """Identities of banks that were made here, by the real path of their files."""
    problem: str | None = None
    """Why the records cannot be read. Nothing is trusted then."""

    @classmethod
    def read(cls) -> Trust:
        if home_folder() is None:
            return cls(None, problem=HOMELESS)
        path = DATA.expanduser() / FILE
        try:
            return _parsed(cls(path), path.read_bytes())
        except FileNotFoundError:
            return cls(path)
        except OSError as problem:
            return cls(path, problem=f"{path} cannot be read ({problem.strerror})")
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return cls(path, problem=f"{path} is damaged")

    def standing(self, folder: Path, digests: Digests) -> Standing:
        """Return whether the folder is trusted with just these files."""
        held = self.folders.get(os.path.realpath(folder))
        if held is None:
            return "untrusted"
        return "trusted" if all(held.files.get(name, ABSENT) == found for name, found in digests.items()) else "changed"

    def project_around(self, place: Path) -> Path | None:
        """Return the project around a data folder: an untrusted one, if a link leads from one project to another.

        The default data folder is in no project.
        """
        home = home_folder()
        if home is not None and place.is_relative_to(DATA.expanduser()):
            return None
        ends = dict.fromkeys((place, Path(os.path.realpath(place))))
        found = [project for end in ends if (project := innermost_project(end, home)) is not None]
        return next((project for project in found if not self.covers(project)), found[0] if found else None)

    def covers(self, project: Path) -> bool:
        return self.standing(project, own_digest(project)) == "trusted"

    def doubted_project(self, place: Path) -> Path | None:
        """Return the project around a data folder if it is not trusted."""
        project = self.project_around(place)
        return None if project is None or self.covers(project) else project

    def doubted_bank(self, file: Path) -> Path | None:
        """Return the untrusted project around a bank's file, unless this user's Pieria made just that file."""
        real = Path(os.path.realpath(file))
        project = self.doubted_project(file.parent)
        if project is None and file.is_symlink():
            project = self.doubted_project(real.parent)
        if project is None or not real.exists():
            return None
        made = self.banks.get(str(real))
        return None if made is not None and made == identity_of(real) else project

    def having(self, folder: Path, files: Mapping[str, str]) -> Trust:
        """Return the records with one more trusted folder."""
        grant = Grant(dict(files), iso(system_clock()))
        return replace(self, folders={**self.folders, os.path.realpath(folder): grant})

    def without(self, folder: str) -> Trust:
        return replace(self, folders={name: grant for name, grant in self.folders.items() if name != folder})

    def as_dict(self) -> dict[str, Any]:
        folders = {name: {"files": dict(grant.files), "at": grant.at} for name, grant in self.folders.items()}
        return {"version": 1, "folders": folders, "banks": dict(self.banks)}


def change(make: Callable[[Trust], Trust]) -> Trust:
    """Change the records, one process at a time. Raise `ConfigError` if they cannot be read."""
    with _locked() as path:
        held = Trust.read()
        if held.problem is not None:
            raise ConfigError(held.problem, hint=f"Move {path} away. Then nothing is trusted, and you can start over.")
        made = make(held)
        with written_aside(path, "trust") as aside:
            aside.write_text(json.dumps(made.as_dict(), indent=1), "ascii")
            flush(aside)
            os.replace(aside, path)
            flush(path.parent)
    return made


def note_made(file: Path) -> None:
    """Remember a bank that was just made, if it is in a project, and forget banks that are gone."""
    real = Path(os.path.realpath(file))
    if home_folder() is None or innermost_project(real.parent, home_folder()) is None:
        return
    made = identity_of(real)
    if made is not None:
        change(lambda held: replace(held, banks={**_still_there(held.banks), str(real): made}))


def own_digest(folder: Path) -> Digests:
    """Return the digest of the settings file that a project itself has."""
    return {PROJECT_FILE: digest_at(folder / PROJECT_FILE)}


def name_within(folder: Path, file: Path) -> str:
    """Return the name of a file in the records of a folder."""
    within = os.path.relpath(os.path.realpath(file.parent), os.path.realpath(folder))
    return os.path.normpath(os.path.join(within, file.name))


def digest_at(file: Path) -> str | None:
    """Return the digest of a settings file: `ABSENT` for no file, None for one that cannot be read whole."""
    try:
        return digest_of(contents(file)) if os.path.lexists(file) else ABSENT
    except ConfigError:
        return None


def digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def contents(file: Path) -> bytes:
    """Return the bytes of a settings file. Raise `ConfigError` for a file that is special, too large or unreadable.

    Opening a pipe does not block.
    """
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as problem:
        hint = "Make the file readable, or remove it."
        raise ConfigError(f"{file}: cannot be read ({problem.strerror})", hint=hint) from problem
    with os.fdopen(handle, "rb") as opened:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise ConfigError(f"{file}: expected a file, found something else", hint="Remove it.")
        read = opened.read(LARGEST + 1)
    if len(read) > LARGEST:
        raise ConfigError(f"{file}: larger than {LARGEST:,} bytes", hint="Keep only settings in it.")
    return read


def _still_there(banks: Mapping[str, str]) -> dict[str, str]:
    return {name: made for name, made in banks.items() if os.path.lexists(name)}


def _parsed(empty: Trust, read: bytes) -> Trust:
    held = json.loads(read)
    folders = {
        name: Grant({file: _text(digest) for file, digest in grant["files"].items()}, _text(grant["at"]))
        for name, grant in held["folders"].items()
    }
    return replace(empty, folders=folders, banks={name: _text(made) for name, made in held["banks"].items()})


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


@contextmanager
def _locked() -> Iterator[Path]:
    """Yield the path of the records under a lock, to one thread of one process at a time."""
    if home_folder() is None:
        raise ConfigError(HOMELESS, hint="Set HOME.")
    folder = DATA.expanduser()
    try:
        folder.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
    except OSError as problem:
        raise storage_error("trust", folder / FILE, problem) from problem
    with os.fdopen(handle, "rb"):
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield folder / FILE
