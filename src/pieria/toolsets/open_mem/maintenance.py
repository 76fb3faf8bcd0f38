"""The tool `maintenance`: the context block in the project's files. A dry run only plans."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import unified_diff
from pathlib import Path, PurePosixPath
from tempfile import NamedTemporaryFile
from typing import Any, NamedTuple

from pieria.bank import Bank
from pieria.errors import ConflictError, InputError, StorageError
from pieria.record.memory import Memory
from pieria.toolsets.host import Call, Paths
from pieria.toolsets.open_mem.context import block, lines_of, stripped, with_block, without
from pieria.toolsets.open_mem.words import NOTED, Answer, answer, own_scope

AT_ONCE = 1_000
DRY_RUN = "folderContextDryRun"
NONE = "There is nothing to show: the block lists observations, and other memories that name files."
WORDS = {
    DRY_RUN: "dryRun", "folderContextRebuild": "rebuild", "folderContextClean": "clean", "folderContextPurge": "purge",
}  # fmt: skip
NAME = "AGENTS.md"
SKIPPED = frozenset({"node_modules", "dist", "build", "target", "vendor", "venv", "__pycache__"})
"""Folders that tools generate. Folders whose names begin with a dot are skipped as well."""
MOST_FOLDERS = 20_000
LARGEST = 1 << 20
MODE, WRITABLE = 0o644, 0o222


def maintenance(call: Call, action: str) -> Answer:
    bank = call.bank
    root = root_of(call.host.paths, bank.name)
    found = found_in(root)
    work = _Work(bank, root, found)
    warnings = [] if found.is_whole else ["The project has too many folders, so some were not read."]
    # A caller of a shared folder may not know where it lies.
    where = None if call.host.paths.is_shared else str(root)
    if action == DRY_RUN:
        data: dict[str, Any] = {
            **work.told("rebuild"),
            "action": WORDS[action],
            "would": {word: work.told(word) for word in ("clean", "purge")},
        }
    else:
        data = work.told(WORDS[action])
        write(root, work.changes[WORDS[action]])
        data["dryRun"] = False
    if data.get("observations") == 0:
        warnings.append(NONE)
    return answer(call, bank, data, root=where, warnings=warnings or None)


class _Work:
    """The planned changes of each action; nothing is written here."""

    def __init__(self, bank: Bank, root: Path, found: Found) -> None:
        self._bank, self._root, self._found = bank, root, found
        self.observations = 0
        self.kept: list[str] = []
        self.changes: dict[str, list[Change]] = {}

    def told(self, word: str) -> dict[str, Any]:
        made = {"rebuild": self._rebuild, "clean": self._clean, "purge": self._purge}[word]()
        changes = [change for change in made if change.before != change.after]
        self.changes[word] = changes
        names = [self._name(change) for change in changes]
        data: dict[str, Any] = {
            "action": word,
            "dryRun": True,
            "files": sorted({*self._found.files, *names}),
            "changed": len(changes),
            "diff": diff(self._root, changes),
            "refused": [{"path": path, "why": why} for path, why in sorted(self._found.refused.items())],
        }
        if word == "rebuild":
            data |= {"observations": self.observations, "filesTouched": names}
        else:
            data["deleted"] = [name for name, change in zip(names, changes, strict=True) if change.after is None]
        if word == "purge":
            data["kept"] = self.kept
        return data

    def _rebuild(self) -> Iterator[Change]:
        """Yield one block for the root's file, and the removal of blocks in folders below."""
        made, self.observations = block(_memories(self._bank), lambda memory: folders_of(self._root, memory))
        for name, (path, content) in self._found.files.items():
            if name != NAME:
                yield _cleaned(path, content)
        if NAME not in self._found.refused:
            path, before = self._found.files.get(NAME, (self._root / NAME, None))
            after = with_block((before or b"").decode("utf-8"), made).encode()
            yield Change(path, before, after or None) if made or before is None else _cleaned(path, before)

    def _clean(self) -> Iterator[Change]:
        for path, content in self._found.files.values():
            yield _cleaned(path, content)

    def _purge(self) -> Iterator[Change]:
        """Yield the deletion of files that hold only a block. Other files stay, block included."""
        self.kept = []
        for name, (path, content) in self._found.files.items():
            bare = stripped(content.decode("utf-8"))
            if bare.blocks and not bare.text.strip():
                yield Change(path, content, None)
            elif bare.blocks:
                self.kept.append(name)

    def _name(self, change: Change) -> str:
        return change.path.relative_to(self._root).as_posix()


def _cleaned(path: Path, content: bytes) -> Change:
    """Return the file without blocks and markers. Delete the file if nothing else is left."""
    text = content.decode("utf-8")
    bare = stripped(text)
    if not bare.blocks and not bare.orphans:
        return Change(path, content, content)
    rest = without(text)
    return Change(path, content, rest.encode() if rest.strip() else None)


def _memories(bank: Bank) -> Iterator[Memory]:
    """Yield shared observations, and other memories that name files, newest first."""
    cursor = None
    while True:
        page = bank.list(kinds=NOTED, scope=own_scope(bank), limit=AT_ONCE, cursor=cursor)
        yield from (memory for memory in page if memory.kind == "observation" or memory.files)
        cursor = page.cursor
        if cursor is None:
            return


class Change(NamedTuple):
    """A file's content before and after; None if there is no file."""

    path: Path
    before: bytes | None
    after: bytes | None


@dataclass(slots=True)
class Found:
    """The files by path from the root, and the reasons for those left alone."""

    files: dict[str, tuple[Path, bytes]] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    is_whole: bool = True


def root_of(paths: Paths, bank: str) -> Path:
    """Return the folder whose files may be written. If callers share it, return a subfolder for the bank.

    Raise `ConflictError` if the folder would be a whole home or the file system's root.
    """
    base = paths.base / bank if paths.is_shared else paths.base
    root = Path(os.path.realpath(paths.project or base))
    home = Path(os.path.realpath(Path.home()))
    if paths.project is None and (root == root.parent or home.is_relative_to(root)):
        hint = "Start the server in a project's folder."
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
                found.refused[name] = "it is not a file"
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
    """Return whether writing is forbidden. Without any write bit, that holds for the administrator, too."""
    return not path.stat().st_mode & WRITABLE or not os.access(path, os.W_OK)


def _folders(root: Path) -> Iterator[Path]:
    """Yield the root and its folders. Skip other repositories and generated folders."""
    for here, folders, files in os.walk(root, followlinks=False):
        if here != str(root) and (".git" in files or ".git" in folders):
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in SKIPPED)
        yield Path(here)


def folders_of(root: Path, memory: Memory) -> list[str]:
    """Return the folders of the memory's files, relative to the root. Leave out files outside the root."""
    folders = []
    for file in memory.files:
        path = os.path.normpath(os.path.join(root, file.replace("\\", "/")))
        if path.startswith(f"{root}{os.sep}"):
            folders.append(PurePosixPath(os.path.relpath(os.path.dirname(path), root)).as_posix())
    return folders


def diff(root: Path, changes: list[Change]) -> str:
    """Return one unified diff of all changes, with paths from the root."""
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
    """Check all files first and write none if a check fails. If a write fails, write the others, then raise
    `StorageError`.
    """
    for change in changes:
        try:
            _check(root, change)
        except OSError as problem:
            reason = f"{change.path.relative_to(root).as_posix()} cannot be looked at ({problem.strerror})"
            raise StorageError("write", reason, hint="None of the files was written. Try again.") from problem
    failed: list[tuple[Path, OSError]] = []
    for change in changes:
        try:
            # Check again: an editor may have saved the file, or another process made the same change.
            if not _check(root, change):
                _put(change)
        except OSError as problem:
            failed.append((change.path, problem))
    if failed:
        named = ", ".join(f"{path.relative_to(root).as_posix()} ({problem.strerror})" for path, problem in failed)
        done = len(changes) - len(failed)
        hint = f"{done} of {len(changes)} files were written. Text outside the markers was not changed."
        raise StorageError("write", f"not written: {named}", hint=hint) from failed[0][1]


def _check(root: Path, change: Change) -> bool:
    """Return whether the file already has the new content. Raise `ConflictError` if it differs from both contents."""
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
    """Write a temporary file and rename it. Keep the file's mode."""
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
