"""Which files tools may read and write: only those below some folders, after links are resolved."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pieria.errors import InputError
from pieria.record.address import check_length

if TYPE_CHECKING:
    from pieria.workspace import Workspace


OUR_OWN = re.compile(r".*\.db(-.*)?|tokens\..*|pieria\.toml", re.DOTALL)
"""Our own files in the data folder, in lower case: banks with SQLite's side files, tokens and settings."""


@dataclass(frozen=True, slots=True)
class Paths:
    """The files tools may touch: those below `roots`, except Pieria's own files in `data`.

    Relative paths start at `base`.
    """

    base: Path
    roots: tuple[Path, ...]
    data: Path | None = None
    project: Path | None = None
    """The caller's project; None means `base`."""
    is_shared: bool = False
    """Whether callers share the folders but may not reach each other's banks."""

    def allowed(self, given: str, parameter: str) -> Path:
        """Return the absolute path with links resolved. Raise `InputError` if tools may not touch it."""
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
            expected = "a path outside the banks, tokens and settings in the data folder"
            raise InputError(parameter, expected, given, hint="Choose another name or folder.")
        return path

    def told(self, path: Path) -> str:
        """Return an allowed path as shown to the caller. Remote callers see paths relative to the exchange folder."""
        base = os.path.realpath(self.base)
        return str(path.relative_to(base) if self.is_shared and path.is_relative_to(base) else path)

    def _named(self, root: Path) -> str:
        return root.name if self.is_shared and root == self.base else str(root)

    def _is_our_own(self, path: Path) -> bool:
        """Return whether the path is Pieria's own. Ignore case, because some file systems do."""
        if self.data is None:
            return False
        data = os.path.realpath(self.data).casefold()
        return any(
            str(inner.parent).casefold() == data and OUR_OWN.fullmatch(inner.name.casefold())
            for inner in (path, *path.parents)
        )


def on_this_machine(data: Path, project: Path | None, working: Path, home: Path | None, more: Sequence[Path]) -> Paths:
    """Return the paths for a local user: their own folders and those of the `paths` setting."""
    roots = [data, project or working, *([home] if home else []), *more]
    return Paths(working, tuple(dict.fromkeys(roots)), data, project)


def paths_of_user(workspace: Workspace) -> Paths:
    """Return the paths for the user who runs this process, with the current working folder."""
    project = workspace.resolved.project
    try:
        home = Path.home()
    except RuntimeError:
        home = None
    root = project.root if project is not None else None
    return on_this_machine(workspace.data, root, Path.cwd(), home, workspace.resolved.roots)


def over_the_network(data: Path, more: Sequence[Path]) -> Paths:
    """Return the paths for a remote caller: the exchange folder and those of the `paths` setting."""
    exports = data / "exports"
    return Paths(exports, (exports, *more), data, is_shared=True)
