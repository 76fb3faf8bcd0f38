"""Finds the project that the working folder belongs to, and the name of its bank.

Only looks: it runs no git and writes nothing. What the project's file says is read by `settings`.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from pieria.errors import ConfigError
from pieria.record.banks import bank_name_from

FILE = ".pieria.toml"

_LONGEST_STEM = 60
_MOST_BYTES_OF_STEM = 120
_DIGITS = 8
_LONGEST_POINTER = 16_384


@dataclass(frozen=True, slots=True)
class Project:
    """`file` is the nearest `.pieria.toml`, `git` the nearest `.git`; a project has at least one of them."""

    root: Path
    file: Path | None
    git: Path | None

    def bank_name(self) -> str | None:
        """The bank of the git repository, the same for all its worktrees; None without a repository.

        The folder's name alone would let two repositories called `app` share a bank, so the real path of what
        their worktrees share goes in as a hash.
        """
        if self.git is None:
            return None
        common = _common_directory(self.git)
        named = common.parent if common.name == ".git" else common
        stem = bank_name_from(named.name.removesuffix(".git"), _LONGEST_STEM, _MOST_BYTES_OF_STEM)
        digest = hashlib.sha256(os.fsencode(common)).hexdigest()[:_DIGITS]
        return f"{stem or 'project'}-{digest}"


def find_project(start: Path, home: Path | None) -> Project | None:
    """The project around a folder.

    A repository that holds the whole home folder (people keep their dotfiles in one) is not a project:
    everything they do would land in its bank.
    """
    upwards = (start, *start.parents)
    file = next((folder / FILE for folder in upwards if os.path.isfile(folder / FILE)), None)
    git = next((folder / ".git" for folder in upwards if os.path.exists(folder / ".git")), None)
    if git is not None and home is not None and _holds(git.parent, home):
        git = None
    if file is not None:
        return Project(file.parent, file, git)
    return Project(git.parent, None, git) if git is not None else None


def _holds(folder: Path, home: Path) -> bool:
    return Path(os.path.realpath(home)).is_relative_to(os.path.realpath(folder))


def _common_directory(git: Path) -> Path:
    """What all worktrees of a repository share; out of reach, it is still told by the pointer's path."""
    own = git if os.path.isdir(git) else _pointed_at(git)
    shared = own / "commondir"
    if os.path.isfile(shared):
        own = own / _read(shared)
    elif own.parent.name == "worktrees" and not os.path.exists(own):
        own = own.parent.parent
    return Path(os.path.realpath(own))


def _pointed_at(file: Path) -> Path:
    key, _, target = _read(file).partition(":")
    if key != "gitdir" or not target.strip():
        raise ConfigError(
            f"{file}: expected `gitdir: FOLDER`, so the project's bank cannot be told",
            hint="repair the repository, or name the bank yourself with PIERIA_BANK",
        )
    return file.parent / target.strip()


def _read(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            return os.fsdecode(stream.read(_LONGEST_POINTER)).strip()
    except OSError as problem:
        raise ConfigError(
            f"{file}: cannot be read ({problem.strerror}), so the project's bank cannot be told",
            hint="make the file readable, or name the bank yourself with PIERIA_BANK",
        ) from problem
