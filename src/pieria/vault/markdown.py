"""The hashtags and the links in a note's Markdown, and the notes that links lead to.

Code does not count: it holds neither tags nor links.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from urllib.parse import quote, unquote

LOOKED_AT = 1 << 20
"""Characters of a note to search."""
MOST_TAGS, MOST_LINKS = 200, 500
_FENCE = re.compile(r"[ ]{0,3}(`{3,}|~{3,})")
_CODE = re.compile(r"`+[^`\n]*`+")
_TARGET = re.compile(r"\]\([^()\n]*\)")
_COMMENT = re.compile(r"<!--.*?-->|%%.*?%%", re.DOTALL)
_TAG = re.compile(r"(?:(?<=^)|(?<=[\s(\[{,;]))#([\w/\-\U0001F000-\U0001FAFF]{1,100})(?![\w#])", re.MULTILINE)
_COLOUR = re.compile(r"(?:[0-9a-f]{3}|[0-9a-f]{4}|[0-9a-f]{6}|[0-9a-f]{8})", re.IGNORECASE)
_WIKI = re.compile(r"\[\[([^\[\]|#^\n]{1,300})(?:[#^][^\[\]|\n]{0,300})?(?:\|[^\[\]\n]{0,300})?\]\]")
_INLINE = re.compile(r"\]\(<?([^()<>\n]{1,500}?\.md)(?:#[^()<>\n]{0,300})?>?\)", re.IGNORECASE)
_NOT_IN_TAGS = re.compile(r"[^\w/\-]+")
RELATION = "links_to"
"""The relation from a note's memory to those of the notes it links to."""


def prose(text: str) -> str:
    """Return the text without code and comments."""
    fence = ""
    kept: list[str] = []
    for line in text[:LOOKED_AT].split("\n"):
        marked = _FENCE.match(line)
        if not fence and marked is not None:
            fence = marked[1]
        elif fence:
            if marked is not None and marked[1].startswith(fence) and not line.strip("`~ \t"):
                fence = ""
        else:
            kept.append(line)
    return _COMMENT.sub(" ", _CODE.sub(" ", "\n".join(kept)))


def hashtags(text: str) -> tuple[str, ...]:
    """Return each hashtag once, in order, except colours and numbers."""
    return tuple(_tags(_TARGET.sub(" ", prose(text))))


def _tags(text: str) -> Iterator[str]:
    seen: set[str] = set()
    for found in _TAG.finditer(text):
        tag = found[1].strip("/-")
        if tag.casefold() in seen or tag.replace("/", "").isdigit() or not tag or _is_colour(tag):
            continue
        seen.add(tag.casefold())
        yield tag
        if len(seen) == MOST_TAGS:
            return


def as_hashtag(tag: str) -> str | None:
    """Return the tag as a hashtag; None if it has no characters for one."""
    spelt = _NOT_IN_TAGS.sub("-", tag).strip("-/")
    return f"#{spelt}" if spelt and not spelt.isdigit() else None


def links(text: str) -> tuple[str, ...]:
    """Return link targets as written: `[[names]]`, and paths of other notes."""
    plain = prose(text)
    found = dict.fromkeys(match[1].strip() for match in _WIKI.finditer(plain))
    found |= dict.fromkeys(f"./{unquote(match[1])}" for match in _INLINE.finditer(plain) if "://" not in match[1])
    return tuple(target for target in found if target)[:MOST_LINKS]


def as_name(entity: str) -> str:
    """Return the entity as a link target; empty if it has characters that a link cannot hold."""
    return "" if re.search(r"[\[\]|#^\n:\\/%]", entity) else entity.strip()


def wiki_link(path: str, title: str) -> str:
    """Return a link to a note, in Obsidian's syntax."""
    name = path.removesuffix(".md")
    shown = re.sub(r"[\[\]|\n]+", " ", title).strip()
    return f"[[{name}]]" if shown in ("", name) else f"[[{name}|{shown}]]"


def plain_link(path: str, title: str, origin: str) -> str:
    """Return a Markdown link to a note, relative to the note `origin`."""
    up = len(PurePosixPath(origin).parent.parts)
    shown = re.sub(r"[\[\]\n]+", " ", title).strip() or PurePosixPath(path).stem
    return f"[{shown}]({quote('../' * up + path)})"


def hashtag_line(tags: Iterable[str]) -> str:
    return " ".join(dict.fromkeys(spelt for tag in tags if (spelt := as_hashtag(tag)) is not None))


def _is_colour(tag: str) -> bool:
    return bool(_COLOUR.fullmatch(tag)) and (any(char.isdigit() for char in tag) or len(set(tag.lower())) == 1)


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
