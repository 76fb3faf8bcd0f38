"""Resolves links between notes, written as names or paths, to the memories of the notes."""

from __future__ import annotations

import posixpath
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

RELATION = "links_to"
"""The relation from a note's memory to those of the notes it links to."""


class Names:
    """The existing notes, with the id of each one's memory."""

    def __init__(self, ids: Mapping[str, str]) -> None:
        """Index the ids, given by path."""
        self._ids = {_spelt(path): id for path, id in ids.items()}
        self._by_name: dict[str, list[str]] = {}
        for path in sorted(self._ids, key=lambda path: (path.count("/"), path)):
            self._by_name.setdefault(PurePosixPath(path).name, []).append(path)

    def found(self, target: str, origin: str) -> str | None:
        """Return the id for a link in the note at `origin`: the nearest note of that name, as editors choose it."""
        spelt = _spelt(target)
        folder = _spelt(posixpath.dirname(origin))
        if target.startswith(("./", "../")):
            spelt = posixpath.normpath(posixpath.join(folder, spelt))
            return self._ids.get(spelt)
        if "/" in spelt:
            beside = posixpath.normpath(posixpath.join(folder, spelt))
            return self._ids.get(spelt.lstrip("/")) or self._ids.get(beside) or self._ending(spelt)
        named = self._by_name.get(spelt, ())
        nearest = next((path for path in named if posixpath.dirname(path) == folder), named[0] if named else None)
        return None if nearest is None else self._ids[nearest]

    def _ending(self, spelt: str) -> str | None:
        named = self._by_name.get(PurePosixPath(spelt).name, ())
        return next((self._ids[path] for path in named if path.endswith(f"/{spelt}")), None)


def wanted(notes: Iterable[tuple[str, str, Iterable[str]]], names: Names) -> set[tuple[str, str]]:
    """Return pairs of memories to link. `notes` holds (id, path, links)."""
    return {
        (id, found)
        for id, path, links in notes
        for link in links
        if (found := names.found(link, path)) is not None and found != id
    }


def _spelt(path: str) -> str:
    """Return a key that is equal for all spellings of one note."""
    plain = unicodedata.normalize("NFC", path).casefold()
    return plain[:-3] if plain.endswith(".md") else plain
