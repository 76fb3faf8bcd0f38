"""The files of a project that may hold a block: found without following a link, written aside, and never lost.

What was planned is what is done: a file that is another by the time it is written is left alone.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import unified_diff
from pathlib import Path, PurePosixPath
from tempfile import NamedTemporaryFile
from typing import NamedTuple

from pieria.errors import ConflictError, InputError, StorageError
from pieria.record.memory import Memory
from pieria.toolsets.open_mem.context import lines_of
from pieria.toolsets.paths import Paths

NAME = "AGENTS.md"
SKIPPED = frozenset({"node_modules", "dist", "build", "target", "vendor", "venv", "__pycache__"})
"""Folders that somebody's tools made; so did those whose names begin with a dot."""
MOST_FOLDERS = 20_000
LARGEST = 1 << 20
MODE, WRITABLE = 0o644, 0o222


class Change(NamedTuple):
    """A file as it is and as it is to be; None where there is none."""

    path: Path
    before: bytes | None
    after: bytes | None


@dataclass(slots=True)
class Found:
    """The files of that name, by their paths from the root, and why some are left alone."""

    files: dict[str, tuple[Path, bytes]] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    is_whole: bool = True


def root_of(paths: Paths, bank: str) -> Path:
    """The folder whose files may be written, where others share it one of the bank's own: a block tells what is in a
    bank. Raises `ConflictError` where that would be somebody's whole home.
    """
    base = paths.base / bank if paths.is_shared else paths.base
    root = Path(os.path.realpath(paths.project or base))
    home = Path(os.path.realpath(Path.home()))
    if paths.project is None and (root == root.parent or home.is_relative_to(root)):
        hint = "Start the server in the folder of a project."
        raise ConflictError(f"there is no project here to keep {NAME} in", hint=hint)
    return root


def found_in(root: Path) -> Found:
    found = Found()
    for number, folder in enumerate(_folders(root)):
        if number >= MOST_FOLDERS:
            found.is_whole = False
            break
        path = folder / NAME
        name = PurePosixPath(path.relative_to(root)).as_posix()
        try:
            kind = path.lstat().st_mode
            if stat.S_ISLNK(kind):
                found.refused[name] = "it is a link"
            elif not stat.S_ISREG(kind):
                found.refused[name] = "it is no file"
            elif _is_read_only(path) or _is_read_only(folder):
                found.refused[name] = "it is read-only"
            elif path.stat().st_size > LARGEST:
                found.refused[name] = f"it has more than {LARGEST:,} bytes"
            else:
                content = path.read_bytes()
                content.decode("utf-8")
                found.files[name] = path, content
        except FileNotFoundError:
            if folder == root and _is_read_only(root):
                found.refused[name] = "the folder is read-only"
        except UnicodeDecodeError:
            found.refused[name] = "it is not UTF-8"
        except OSError as problem:
            found.refused[name] = f"it cannot be read ({problem.strerror})"
    return found


def _is_read_only(path: Path) -> bool:
    """Whoever took all rights to write from it meant it, and meant the administrator as well."""
    return not path.stat().st_mode & WRITABLE or not os.access(path, os.W_OK)


def _folders(root: Path) -> Iterator[Path]:
    """The root first; what is another repository's, or some tool's, is left out."""
    for here, folders, files in os.walk(root, followlinks=False):
        if here != str(root) and (".git" in files or ".git" in folders):
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in SKIPPED)
        yield Path(here)


def folders_of(root: Path, memory: Memory) -> list[str]:
    """The folders that a memory's files lie in, from the root; what lies elsewhere is nobody's here."""
    folders = []
    for file in memory.files:
        path = os.path.normpath(os.path.join(root, file.replace("\\", "/")))
        if path.startswith(f"{root}{os.sep}"):
            folders.append(PurePosixPath(os.path.relpath(os.path.dirname(path), root)).as_posix())
    return folders


def diff(root: Path, changes: list[Change]) -> str:
    """All of them as one unified diff, by paths from the root."""
    parts: list[str] = []
    for change in changes:
        name = PurePosixPath(change.path.relative_to(root)).as_posix()
        old = "/dev/null" if change.before is None else f"a/{name}"
        new = "/dev/null" if change.after is None else f"b/{name}"
        before, after = (lines_of((content or b"").decode("utf-8")) for content in change[1:])
        for line in unified_diff(before, after, old, new):
            parts.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(parts)


def write(root: Path, changes: list[Change]) -> None:
    """All of them; where one cannot be written the others are, and it is told."""
    for change in changes:
        try:
            _check(root, change)
        except OSError as problem:
            reason = f"{change.path.relative_to(root).as_posix()} cannot be looked at ({problem.strerror})"
            raise StorageError("write", reason, hint="None of the files was written. Ask again.") from problem
    failed: list[tuple[Path, OSError]] = []
    for change in changes:
        try:
            # Whoever has it open may have saved it since; who made the same of it has done the work.
            if not _check(root, change):
                _put(change)
        except OSError as problem:
            failed.append((change.path, problem))
    if failed:
        named = ", ".join(f"{path.relative_to(root).as_posix()} ({problem.strerror})" for path, problem in failed)
        done = len(changes) - len(failed)
        hint = f"{done} of {len(changes)} files were written. What is outside of the markers is as it was."
        raise StorageError("write", f"not written: {named}", hint=hint) from failed[0][1]


def _check(root: Path, change: Change) -> bool:
    """Whether it is already as it is to be. Raises `ConflictError` where it is neither that nor what was looked at."""
    if change.path.is_symlink() or not Path(os.path.realpath(change.path)).is_relative_to(root):
        raise InputError("action", f"a file under {root}", str(change.path), hint="It is a link, and is not followed.")
    try:
        is_there = change.path.read_bytes()
    except FileNotFoundError:
        is_there = None
    if is_there not in (change.before, change.after):
        raise ConflictError("it was changed meanwhile", ids=(str(change.path),), hint="Ask again.")
    return is_there == change.after


def _put(change: Change) -> None:
    if change.after is None:
        change.path.unlink(missing_ok=True)
    else:
        _replace(change.path, change.after)


def _replace(path: Path, content: bytes) -> None:
    """Aside and renamed, with the rights that the file had."""
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else MODE
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as aside:
        try:
            aside.write(content)
            aside.flush()
            os.fsync(aside.fileno())
            os.fchmod(aside.fileno(), mode)
            os.replace(aside.name, path)
        except BaseException:
            Path(aside.name).unlink(missing_ok=True)
            raise
