"""The tool `maintenance`: the context block in the project's files. A dry run only plans."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pieria.bank import Bank
from pieria.record.memory import Memory
from pieria.toolsets.host import Call
from pieria.toolsets.open_mem.context import block, stripped, with_block, without
from pieria.toolsets.open_mem.envelope import Answer, answer
from pieria.toolsets.open_mem.folders import NAME, Change, Found, diff, folders_of, found_in, root_of, write
from pieria.toolsets.open_mem.words import OBSERVED, own_scope

AT_ONCE = 1_000
DRY_RUN = "folderContextDryRun"
NONE = "There is nothing to show: the block lists observations, and other memories that name files."
WORDS = {
    DRY_RUN: "dryRun", "folderContextRebuild": "rebuild", "folderContextClean": "clean", "folderContextPurge": "purge",
}  # fmt: skip


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
        page = bank.list(kinds=OBSERVED, scope=own_scope(bank), limit=AT_ONCE, cursor=cursor)
        yield from (memory for memory in page if memory.kind == "observation" or memory.files)
        cursor = page.cursor
        if cursor is None:
            return
