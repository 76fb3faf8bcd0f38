"""Finds the project that the working folder belongs to, and the name of its bank.

Only looks: it runs no git and writes nothing. What the project's file says is read by `settings`.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

from pieria.errors import ConfigError
from pieria.record.banks import bank_name_from

FILE = ".pieria.toml"

_LONGEST_STEM = 60
_MOST_BYTES_OF_STEM = 120
_DIGITS = 8
_LONGEST_POINTER = 16_384
_WORKTREE = re.compile(r"^[ \t]*worktree[ \t]*=[ \t]*(\S[^\n]*?)[ \t]*$", re.MULTILINE | re.IGNORECASE)


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


def work_root(folder: str, home: Path | None) -> Path:
    """Return the repository that an agent in this folder worked in, if it exists here, else the folder.

    Its name is the wing of the project's turns, whether they are captured or mined.
    """
    path = Path(folder)
    try:
        project = find_project(path, home) if path.is_absolute() and path.is_dir() else None
    except OSError:
        return path
    return project.git.parent if project is not None and project.git is not None else path


def innermost_project(folder: Path, home: Path | None) -> Path | None:
    """Return the nearest folder upwards that holds a `.pieria.toml` or a `.git`, whatever these are; None without one.

    Who can write there can put files below it. A folder that holds the whole home folder is not a project.
    """
    for upper in (folder, *folder.parents):
        if any(os.path.lexists(upper / name) for name in (FILE, ".git")):
            return None if home is not None and _holds(upper, home) else upper
    return None


def _holds(folder: Path, home: Path) -> bool:
    return Path(os.path.realpath(home)).is_relative_to(os.path.realpath(folder))


def _common_directory(git: Path) -> Path:
    """Return the folder that all worktrees of a repository share.

    A pointer out of the folder counts only where the repository points back: whoever packs a folder can write the
    pointer, but not into somebody's repository. A repository out of reach is known by the pointer's path alone.
    """
    if os.path.isdir(git):
        return Path(os.path.realpath(git))
    own = _pointed_at(git)
    shared = own / "commondir"
    if not os.path.exists(own):
        common = own.parent.parent if own.parent.name == "worktrees" else own
        return Path(os.path.realpath(git if os.path.exists(common) else common))
    if not _points_back(own, git):
        return Path(os.path.realpath(git))
    return Path(os.path.realpath(own / _read(shared) if os.path.isfile(shared) else own))


def _points_back(own: Path, git: Path) -> bool:
    """Return whether a repository's folder names the folder that points to it, as a worktree or a submodule."""
    back = own / "gitdir"
    if os.path.isfile(back):
        return os.path.realpath(own / _read(back)) == os.path.realpath(git)
    config = own / "config"
    found = _WORKTREE.search(_read(config)) if os.path.isfile(config) else None
    return found is not None and os.path.realpath(own / found[1].strip(' \t"')) == os.path.realpath(git.parent)


def _pointed_at(file: Path) -> Path:
    key, _, target = _read(file).partition(":")
    if key != "gitdir" or not target.strip():
        raise ConfigError(
            f"{file}: expected `gitdir: FOLDER`, so the project's bank is unknown",
            hint="repair the repository, or name the bank yourself with PIERIA_BANK",
        )
    return file.parent / target.strip()


def _read(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            return os.fsdecode(stream.read(_LONGEST_POINTER)).strip()
    except OSError as problem:
        raise ConfigError(
            f"{file}: cannot be read ({problem.strerror}), so the project's bank is unknown",
            hint="make the file readable, or name the bank yourself with PIERIA_BANK",
        ) from problem
