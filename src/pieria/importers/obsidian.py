"""Obsidian: a vault of Markdown notes, with front matter, tags and links between notes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pieria.errors import TransferError
from pieria.importers import Importer
from pieria.importers.items import Item, Left, MemoryItem, Problem
from pieria.importers.source import Source
from pieria.importers.values import digest_of, moment_of, name_of, names_of, text_of
from pieria.record.draft import NewLink, NewMemory
from pieria.record.link import End
from pieria.record.place_name import GENERAL, place_name

EXPECTS = "the folder of a vault with Markdown notes"
OTHERS, LINKS, EMPTY = "files that are no notes", "links to notes that are not in the vault", "notes without a text"
RELATION = "links_to"
LARGEST = 4 << 20
_FRONT = re.compile(r"\A---[ \t]*\n(.*?\n)?---[ \t]*(?:\n|\Z)", re.DOTALL)
_WIKI = re.compile(r"!?\[\[([^\[\]|#^\n]+)[^\[\]\n]*\]\]")
_MARKDOWN = re.compile(r"\[[^\]\n]*\]\(<?([^)\s>#]+\.md)[^)\n]*\)")
_TAG = re.compile(r"(?:(?<=\s)|\A)#([^\W\d][\w/-]*|\d[\w/-]*[^\W\d][\w/-]*)")
_CODE = re.compile(r"^(```|~~~).*?^\1[^\n]*$|`[^`\n]+`", re.DOTALL | re.MULTILINE)
_TIMES = ("created", "date", "date created", "created_at")
_READ = ("tags", "tag", "aliases", "alias", "title", *_TIMES)


def read(source: Source) -> Iterator[Item]:
    vault = source.path
    if not vault.is_dir():
        raise TransferError(vault, "it is no folder", hint=f"Expected {EXPECTS}.")
    notes, others = _files(vault)
    source.total = len(notes)
    if others:
        yield Left(OTHERS, others)
    linked: list[tuple[str, list[str]]] = []
    for number, path in enumerate(notes, 1):
        source.heard(number)
        name = path.relative_to(vault).as_posix()
        item = _note(path, name, linked)
        yield item
    yield from _links(linked, {path.relative_to(vault).as_posix() for path in notes})


def _files(vault: Path) -> tuple[list[Path], int]:
    """Return the notes in order, and the number of other files. Hidden folders hold settings and removed notes."""
    notes: list[Path] = []
    others = 0
    for folder, folders, files in os.walk(vault, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(folder) / name
            is_note = path.suffix.lower() == ".md" and not path.is_symlink()
            if is_note:
                notes.append(path)
            others += not is_note and not name.startswith(".")
    return notes, others


def _note(path: Path, name: str, linked: list[tuple[str, list[str]]]) -> Item:
    try:
        about = path.stat()
        if about.st_size > LARGEST:
            return Problem(name, f"expected a note of at most {LARGEST >> 20} MiB")
        written = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as problem:
        return Problem(name, f"expected a note in UTF-8 that can be read ({getattr(problem, 'strerror', None)})")
    front = _FRONT.match(written)
    values = _front_matter(front[1] or "") if front else {}
    if values is None:
        return Problem(name, "expected front matter in YAML", written[:80])
    text = (written[front.end() :] if front else written).strip()
    if not text:
        return Left(EMPTY)
    plain = _CODE.sub(" ", text)
    linked.append((name, list(dict.fromkeys((*_WIKI.findall(plain), *_MARKDOWN.findall(plain))))))
    tags = [*names_of(values.get("tags", values.get("tag"))), *_TAG.findall(plain)]
    parts = Path(name).parts
    new = NewMemory(
        text,
        title=(text_of(values.get("title")) or path.stem)[:300],
        tags=list(dict.fromkeys(tag.strip("#/") for tag in tags if tag.strip("#/"))),
        files=[name],
        place=f"{place_name(path.parents[len(parts) - 1].name)}/{place_name(parts[0]) if len(parts) > 1 else GENERAL}",
        author_type="human",
        at=next((at for key in _TIMES if (at := moment_of(values.get(key))) is not None), about.st_mtime),
        meta=_rest(values),
    )
    return MemoryItem(name, new)


def _front_matter(front: str) -> dict[str, Any] | None:
    """Return the values of a note's front matter; None if it is not YAML."""
    import yaml  # type: ignore[import-untyped]

    try:
        read = yaml.load(front, Loader=yaml.BaseLoader)  # noqa: S506 - it makes only texts, lists and mappings
    except (yaml.YAMLError, RecursionError):
        return None
    return {str(key).lower(): value for key, value in read.items()} if isinstance(read, dict) else {}


def _rest(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the other values of the front matter, and the note's other names."""
    kept = {name: value for name, value in values.items() if name not in _READ and value not in ("", None)}
    aliases = names_of(values.get("aliases", values.get("alias")))
    return kept | ({"aliases": aliases} if aliases else {})


def _links(linked: list[tuple[str, list[str]]], notes: set[str]) -> Iterator[Item]:
    """Yield a link for each that leads to a note of the vault, by its path or by its name alone."""
    here = {name for name, _ in linked}
    by_name: dict[str, str] = {}
    for name in sorted(here, key=lambda name: (name.count("/"), name)):
        by_name.setdefault(Path(name).stem.casefold(), name)
    lost = 0
    for name, targets in linked:
        seen: set[str] = set()
        for target in targets:
            to = _target(name, name_of(target) or "", here, by_name)
            if to is None:
                lost += 1
            elif to != name and to not in seen:
                seen.add(to)
                yield NewLink(digest_of(name, to), End("memory", name), RELATION, End("memory", to))
    if lost:
        yield Left(LINKS, lost)


def _target(name: str, target: str, here: set[str], by_name: Mapping[str, str]) -> str | None:
    from urllib.parse import unquote

    spelt = unquote(target) if target.endswith(".md") else f"{target}.md"
    beside = os.path.normpath(os.path.join(os.path.dirname(name), spelt))
    found = next((path for path in (spelt, beside) if path in here), None)
    return found or by_name.get(Path(spelt).stem.casefold())


IMPORTER = Importer("obsidian", "Obsidian", EXPECTS, read)
