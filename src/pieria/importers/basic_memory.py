"""Basic Memory: its folder of Markdown notes, with observations and relations in their text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from pieria.importers import Importer
from pieria.importers.items import Item, Left, MemoryItem
from pieria.importers.notes import Note, notes
from pieria.importers.source import Source
from pieria.importers.values import moment_of
from pieria.record.draft import NewLink, NewMemory
from pieria.record.link import End
from pieria.record.place_name import place_name
from pieria.vault.markdown import RELATION, Names

EXPECTS = "the folder of a project of Basic Memory, such as ~/basic-memory"
_RELATION = re.compile(
    r"^\s*[-*]\s+(?:([^\[\]\n]{1,100}?)\s+)?\[\[([^\[\]|#^\n]{1,300})(?:[#^|][^\[\]\n]*)?\]\]", re.MULTILINE
)
_MANY = re.compile(r"\s+")


def read(source: Source) -> Iterator[Item]:
    """Yield the notes, and then their relations: a relation may name a note that comes later."""
    titles: dict[str, str] = {}
    origins: dict[str, str] = {}
    for found in notes(source, EXPECTS):
        if not isinstance(found, Note):
            yield found
            continue
        origin = found.text("permalink") or found.path
        origins[found.path] = origin
        titles.setdefault(found.title.casefold(), origin)
        titles.setdefault(origin.casefold(), origin)
        yield _memory(found, origin, source.path)
    names = Names(origins)
    for found in notes(source, EXPECTS):
        if isinstance(found, Note):
            yield from _links(found, origins, titles, names)


def _memory(note: Note, origin: str, top: Path) -> MemoryItem:
    kind = note.text("type")
    given = next((when for key in ("created", "created_at", "date") if (when := moment_of(note.text(key)))), None)
    meta = {
        key: value for key, value in note.front.items() if key not in ("title", "tags", "tag", "permalink") and value
    }
    new = NewMemory(
        note.body,
        title=note.title,
        tags=note.tags(),
        at=given or note.changed,
        files=[note.path],
        source=str(top / note.path),
        place=f"{place_name(top.name)}/{place_name(note.folder or kind or 'notes')}",
        meta={**meta, "permalink": origin},
    )
    return MemoryItem(origin, new)


def _links(note: Note, origins: Mapping[str, str], titles: Mapping[str, str], names: Names) -> Iterator[Item]:
    """Yield each relation with its type, and the other links of the text as `links_to`."""
    here = origins.get(note.path)
    if here is None:
        return
    typed = {target.strip(): _MANY.sub("_", relation.strip()) for relation, target in _RELATION.findall(note.body)}
    for target in dict.fromkeys((*typed, *note.links())):
        there = titles.get(target.casefold()) or names.found(target, note.path)
        relation = typed.get(target) or RELATION
        if there is None:
            yield Left("relations to notes that do not exist yet")
        elif there != here:
            yield NewLink(f"{here} {relation} {there}", End("memory", here), relation, End("memory", there))


def find(environment: Mapping[str, str], home: Path) -> Path | None:
    folder = Path(environment["BASIC_MEMORY_HOME"]) if environment.get("BASIC_MEMORY_HOME") else home / "basic-memory"
    return folder if folder.is_dir() and next(folder.rglob("*.md"), None) is not None else None


IMPORTER = Importer("basic-memory", "Basic Memory", EXPECTS, read, find)
