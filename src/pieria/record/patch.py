"""Read patches as edits: those of Codex's `apply_patch`, and unified diffs. Pure; agent hooks load it.

An edit is a mapping as tools that edit get it: `file_path` with `old_string` and `new_string`, with `content` for a new
file, with `deleted`, or with `moved_from`. Lines around a change are left out.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SHELL = re.compile(r"\s*(?:cd [^\n;&|]+ && )?apply_?patch\b[^\n]*\n?\*\*\* Begin Patch")
_FILE = re.compile(r"^\*\*\* (?P<how>Update|Add|Delete) File: (?P<path>.+)$", re.MULTILINE)
_DIFFED = re.compile(r"^(?:--- [^\n]*\n)?\+\+\+ (?:b/)?(?P<path>[^\n\t]+)[^\n]*$", re.MULTILINE)
_MOVED = re.compile(r"^\*\*\* Move to: (?P<path>.+)$", re.MULTILINE)
_HUNK = re.compile(r"^(?:@@|\*\*\* |diff --git ).*$", re.MULTILINE)
Edit = dict[str, str | bool]


def edits_of(patch: str) -> list[Edit]:
    """Return the edits in order, one for each hunk. Empty for a text that is no patch."""
    marks = list(_FILE.finditer(patch)) or list(_DIFFED.finditer(patch))
    ends = [*(mark.start() for mark in marks[1:]), len(patch)]
    return [
        edit
        for mark, end in zip(marks, ends, strict=False)
        for edit in _edits(mark["path"].strip(), mark.groupdict().get("how"), patch[mark.end() : end])
    ]


def _edits(path: str, how: str | None, body: str) -> Iterator[Edit]:
    if how == "Delete":
        yield {"file_path": path, "deleted": True}
        return
    if moved := _MOVED.search(body):
        yield {"file_path": moved["path"].strip(), "moved_from": path}
        path = moved["path"].strip()
    for hunk in _HUNK.split(body):
        old, new = ("\n".join(line[1:] for line in hunk.splitlines() if line.startswith(mark)) for mark in "-+")
        if how == "Add":
            yield {"file_path": path, "content": new}
            return
        if old or new:
            yield {"file_path": path, "old_string": old, "new_string": new}


def is_shell_patch(command: str) -> bool:
    """Return whether a command line gives a patch to `apply_patch`."""
    return _SHELL.match(command) is not None


def fits(edit: Mapping[str, str | bool], text: str | None) -> bool:
    """Return whether the edit can apply to a file with this text, or to none."""
    old = edit.get("old_string")
    if text is None:
        return "content" in edit
    return not isinstance(old, str) or all(line in text for line in old.splitlines())
