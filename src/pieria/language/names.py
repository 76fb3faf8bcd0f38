"""Find known names in a text: thousands of authors and entities, in any spelling.

People write names in lower case and with possessives. Finding names that are not yet known belongs in `entities`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pieria.language.analyser.fold import fold_aligned
from pieria.language.analyser.words import lowered
from pieria.language.letters import UNSPACED

LONGEST = 16
"""Most words of a name. A longer one is a sentence and is not searched for."""


class Named(NamedTuple):
    """The known name that `text[start:end]` spells."""

    name: str
    start: int
    end: int


class _Word(NamedTuple):
    key: str
    start: int
    end: int


# Punctuation between two words counts, so that "Maya, Lee" is not Maya Lee. Spaces and hyphens do not.
_WORD = re.compile(rf"[{UNSPACED}]|[^\W{UNSPACED}_]+(?:'[^\W{UNSPACED}_]+)*'?|[^\s\w'-]|_+")
_EDGES = " \t\r\n\"'“”‘’«».,;:!?()"
_ABBREVIATION = 4
"""A word shorter than this may be an abbreviation, and its full stop is skipped: Dr. Lee is Dr Lee."""


class Names:
    """An index of known names. Build it once, then search many texts.

    Case, accents, possessives and the space between two parts do not matter. Of names that are equal under these
    rules, the first one given is found. Names without letters or digits are left out, and so are single characters of
    a script without spaces: they would match everywhere.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._root: dict[str, _Node] = {}
        for name in names:
            keys = [word.key for word in _words(name.strip(_EDGES))]
            if 0 < len(keys) <= LONGEST and _tells(keys):
                self._add(name, keys)

    def _add(self, name: str, keys: list[str]) -> None:
        below = self._root
        for key in keys[:-1]:
            below = below.setdefault(key, _Node()).below
        last = below.setdefault(keys[-1], _Node())
        last.name = name if last.name is None else last.name

    def found_in(self, text: str) -> list[Named]:
        """Return the names in the text, in order and without overlaps. At each position the longest name wins."""
        words = list(_words(text))
        found: list[Named] = []
        at = 0
        while at < len(words):
            name, length = self._longest(words, at)
            if name is not None:
                found.append(Named(name, words[at].start, words[at + length - 1].end))
            at += length
        return found

    def _longest(self, words: list[_Word], at: int) -> tuple[str | None, int]:
        below, name, length = self._root, None, 1
        for reach in range(at, min(at + LONGEST, len(words))):
            node = below.get(words[reach].key)
            if node is None:
                break
            if node.name is not None:
                name, length = node.name, reach - at + 1
            below = node.below
        return name, length


class _Node:
    """The words that may come next, and the name that ends here."""

    __slots__ = ("below", "name")

    def __init__(self) -> None:
        self.below: dict[str, _Node] = {}
        self.name: str | None = None


def named_in(text: str, names: Iterable[str]) -> list[Named]:
    """Return the given names that occur in a text. To search several texts, build `Names` once."""
    return Names(names).found_in(text)


def _tells(keys: list[str]) -> bool:
    if len(keys) == 1 and re.fullmatch(f"[{UNSPACED}]", keys[0]):
        return False
    return any(any(map(str.isalnum, key)) for key in keys)


def _words(text: str) -> Iterator[_Word]:
    folded, starts, ends = _aligned(text)
    short = False
    for found in _WORD.finditer(folded):
        if found[0] == "." and short:
            continue
        bare = found[0].rstrip("'").removesuffix("'s").removesuffix("'S")
        key = lowered(bare).replace("'", "")
        short = len(key) < _ABBREVIATION and key.isalpha()
        if key:
            yield _Word(key, starts[found.start()], ends[found.start() + len(bare) - 1])


def _aligned(text: str) -> tuple[str, Sequence[int], Sequence[int]]:
    if text.isascii():
        return text, range(len(text)), range(1, len(text) + 1)
    return fold_aligned(text)
