"""The files of a project: which of them people wrote, what they are called there, and their passages.

What git is told to ignore is left out, whether or not git is there: every `.gitignore` from the root of the repository
down to the file, and the repository's own `.git/info/exclude`, the nearest one having the last word.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from pieria.mining.conversations.discovery import is_conversation
from pieria.mining.files import decoded, digest_of, is_for_programs
from pieria.mining.formats import LARGEST, PROJECT
from pieria.mining.passage_cutter import CODE, MARKDOWN, PROSE, cut
from pieria.mining.said import Found, Heard, Left, Passage, Said, Source, Unseen
from pieria.project import find_project

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

IGNORED, LINKS, TOO_LARGE, OURS = "ignored by git", "links", "too large", "Pieria's own data"
BINARY, FOR_PROGRAMS, GENERATED, EMPTY = "not text", "with lines too long to read", "made by tools", "empty"
CONVERSATIONS = "conversations: to be mined with --conversations"
EXPORT_BEGINS = '{"pieria":"export"'
"""What a bank was exported to: it was remembered already, and some of it may have been purged since."""
_ASIDE = frozenset(
    {
        ".git", ".hg", ".svn", ".jj", "node_modules", "bower_components", ".venv", "venv", "__pycache__", ".tox",
        ".nox", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".gradle", ".terraform", ".idea",
        ".cache", ".next", ".nuxt", ".svelte-kit", ".eggs", "Pods", "DerivedData",
    }
)  # fmt: skip
_MADE = frozenset(
    {
        "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "poetry.lock", "uv.lock",
        "pdm.lock", "Pipfile.lock", "Cargo.lock", "Gemfile.lock", "composer.lock", "go.sum", "flake.lock",
        "Podfile.lock", "mix.lock", "packages.lock.json", ".DS_Store", ".git",
    }
)  # fmt: skip
"""In a worktree and in a submodule `.git` is a file."""
_MADE_ENDINGS = (".min.js", ".min.css", ".map", ".svg", ".lock", ".pyc", ".snap")
_MARKDOWN = (".md", ".markdown", ".mdx", ".qmd")
_PROSE = (".txt", ".rst", ".adoc", ".org", ".tex", ".text", ".html", ".htm", "")


@dataclass(frozen=True, slots=True)
class _Rules:
    """What a `.gitignore` says about the files below its folder."""

    folder: str
    spec: GitIgnoreSpec

    def ignores(self, path: str, is_folder: bool) -> bool | None:
        """None where it says nothing about it."""
        within = os.path.relpath(path, self.folder).replace(os.sep, "/")
        return self.spec.check_file(within + "/" if is_folder else within).include


@dataclass(frozen=True, slots=True)
class Tree:
    """`root` is the folder that paths are told from: the repository's, or else the one that was named."""

    root: Path
    top: Path
    data: Path | None = None
    """Where banks are kept: what is there was remembered already."""

    def find(self, largest: int = LARGEST) -> Iterator[Found]:
        """A source for every file of text, below the folder that was named or the one file that was."""
        rules = [*_above(self.root, self.top)]
        if self.top.is_file():
            yield from self._file(self.top, largest)
        else:
            yield from self._folder(self.top, rules, largest)

    def _folder(self, folder: Path, rules: Sequence[_Rules], largest: int) -> Iterator[Found]:
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
            rules = [*rules, *_rules_of(folder, folder / ".gitignore")]
        except FileNotFoundError:
            return
        except OSError as problem:
            yield Unseen(str(folder), f"cannot be looked into ({problem.strerror})")
            return
        for entry in entries:
            is_folder = entry.is_dir(follow_symlinks=False)
            if is_folder and entry.name in _ASIDE:
                continue
            if entry.is_symlink():
                yield Left(LINKS)
            elif is_folder and Path(entry.path) == self.data:
                yield Left(OURS)
            elif _ignored(entry.path, is_folder, rules):
                yield Left(IGNORED)
            elif is_folder:
                yield from self._folder(Path(entry.path), rules, largest)
            elif entry.is_file(follow_symlinks=False):
                yield from self._file(Path(entry.path), largest)

    def _file(self, path: Path, largest: int) -> Iterator[Found]:
        if path.name in _MADE or path.name.endswith(_MADE_ENDINGS):
            yield Left(GENERATED)
            return
        try:
            about = path.stat()
        except FileNotFoundError:
            return
        except OSError as problem:
            yield Unseen(str(path), f"cannot be looked at ({problem.strerror})")
            return
        if about.st_size > largest:
            yield Left(TOO_LARGE)
        elif not about.st_size:
            yield Left(EMPTY)
        else:
            yield Source(
                name=str(path),
                format=PROJECT,
                size=about.st_size,
                changed=about.st_mtime_ns,
                read=partial(passages, path),
                digest=partial(digest_of, path),
                title=path.relative_to(self.root).as_posix(),
                listed=True,
                present=True,
            )


def tree_at(path: Path, home: Path | None, data: Path | None = None) -> Tree:
    folder = path if path.is_dir() else path.parent
    project = find_project(folder, home)
    return Tree(project.git.parent if project is not None and project.git is not None else folder, path, data)


def passages(path: Path, _: Heard) -> Iterator[Said]:
    """What a file says, cut where it may be; or why it is left out."""
    text = decoded(path.read_bytes())
    if text is None:
        yield Left(BINARY)
    elif text.startswith(EXPORT_BEGINS):
        yield Left(OURS)
    elif is_conversation(path):
        yield Left(CONVERSATIONS)
    elif is_for_programs(text):
        yield Left(FOR_PROGRAMS)
    else:
        yield from map(Passage, cut(text, kind_of(path.name)))


def kind_of(name: str) -> str:
    suffix = PurePosixPath(name).suffix.lower()
    return MARKDOWN if suffix in _MARKDOWN else PROSE if suffix in _PROSE else CODE


def _above(root: Path, top: Path) -> Iterator[_Rules]:
    """The rules of the repository that hold for the folder which was named, those of its own apart."""
    yield from _rules_of(root, root / ".git" / "info" / "exclude")
    for folder in reversed(top.parents):
        if folder.is_relative_to(root):
            yield from _rules_of(folder, folder / ".gitignore")


def _rules_of(folder: Path, file: Path) -> Iterator[_Rules]:
    from pathspec import GitIgnoreSpec

    try:
        lines = file.read_text("utf-8", "replace").splitlines()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return
    yield _Rules(str(folder), GitIgnoreSpec.from_lines(lines))


def _ignored(path: str, is_folder: bool, rules: Sequence[_Rules]) -> bool:
    for each in reversed(rules):
        if (said := each.ignores(path, is_folder)) is not None:
            return said
    return False
