"""Where tools may read and write files: under some folders, however a path is written and wherever its links lead."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pieria.errors import InputError
from pieria.record.pathnames import check_length

if TYPE_CHECKING:
    from pieria.workspace import Workspace


OUR_OWN = re.compile(r".*\.db(-.*)?|tokens\..*|pieria\.toml", re.DOTALL)
"""Names in the data folder, in lower case: banks with what SQLite keeps beside them, tokens and settings."""


@dataclass(frozen=True, slots=True)
class Paths:
    """`roots` are the folders; a relative path counts from `base`. What `data` itself lives on is no file for tools."""

    base: Path
    roots: tuple[Path, ...]
    data: Path | None = None
    project: Path | None = None
    """The project that the caller works on; where there is none, `base` stands for it."""
    is_shared: bool = False
    """Callers who may not reach each other's banks have the same folders."""

    def allowed(self, given: str, parameter: str) -> Path:
        """The path in full, with its links resolved. Raises `InputError` where it leads elsewhere."""
        if not given.strip() or "\0" in given:
            raise InputError(parameter, "the path of a file", given)
        check_length(given, parameter)
        try:
            path = Path(os.path.realpath(self.base / Path(given).expanduser()))
        except (RuntimeError, OSError, ValueError) as problem:
            raise InputError(parameter, "the path of a file", given) from problem
        check_length(str(path), parameter)
        if not any(path.is_relative_to(os.path.realpath(root)) for root in self.roots):
            folders = ", ".join(self._named(root) for root in self.roots)
            hint = "The setting paths allows further folders."
            raise InputError(parameter, f"a path under {folders}", given, hint=hint)
        if self._is_our_own(path):
            expected = "a path other than of the banks, tokens and settings in the data folder"
            raise InputError(parameter, expected, given, hint="Choose another name or folder.")
        return path

    def told(self, path: Path) -> str:
        """What the caller is told of an allowed path: where the folder for exchange lies, is not for whoever asks from
        elsewhere."""
        base = os.path.realpath(self.base)
        return str(path.relative_to(base) if self.is_shared and path.is_relative_to(base) else path)

    def _named(self, root: Path) -> str:
        return root.name if self.is_shared and root == self.base else str(root)

    def _is_our_own(self, path: Path) -> bool:
        """However it is spelt: to some file systems, upper and lower case are one."""
        if self.data is None:
            return False
        data = os.path.realpath(self.data).casefold()
        return any(
            str(inner.parent).casefold() == data and OUR_OWN.fullmatch(inner.name.casefold())
            for inner in (path, *path.parents)
        )


def on_this_machine(data: Path, project: Path | None, working: Path, home: Path | None, more: Sequence[Path]) -> Paths:
    """For a caller who is a user of this machine: what belongs to them, and what the setting adds."""
    roots = [data, project or working, *([home] if home else []), *more]
    return Paths(working, tuple(dict.fromkeys(roots)), data, project)


def paths_of_user(workspace: Workspace) -> Paths:
    """For the user who runs this process, in the folder where they run it."""
    project = workspace.resolved.project
    try:
        home = Path.home()
    except RuntimeError:
        home = None
    root = project.root if project is not None else None
    return on_this_machine(workspace.data, root, Path.cwd(), home, workspace.resolved.roots)


def over_the_network(data: Path, more: Sequence[Path]) -> Paths:
    """For a caller who is not: a folder for exchange, and what the setting adds."""
    exports = data / "exports"
    return Paths(exports, (exports, *more), data, is_shared=True)
