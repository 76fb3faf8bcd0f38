"""Where links between notes lead: names and paths, as people write them, to the memories of the notes."""

from __future__ import annotations

import posixpath
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

RELATION = "links_to"
"""What ties a note's memory to those of the notes that its text leads to."""


class Names:
    """The notes there are, with the id of each one's memory."""

    def __init__(self, ids: Mapping[str, str]) -> None:
        """`ids` by path."""
        self._ids = {_spelt(path): id for path, id in ids.items()}
        self._by_name: dict[str, list[str]] = {}
        for path in sorted(self._ids, key=lambda path: (path.count("/"), path)):
            self._by_name.setdefault(PurePosixPath(path).name, []).append(path)

    def found(self, target: str, origin: str) -> str | None:
        """The id of what a link in the note at `origin` leads to: the nearest of that name, as editors take it."""
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
    """Pairs of memories that are to be tied, of notes with their ids, paths and links."""
    return {
        (id, found)
        for id, path, links in notes
        for link in links
        if (found := names.found(link, path)) is not None and found != id
    }


def _spelt(path: str) -> str:
    """The same for all spellings that an editor takes for one note."""
    plain = unicodedata.normalize("NFC", path).casefold()
    return plain[:-3] if plain.endswith(".md") else plain
