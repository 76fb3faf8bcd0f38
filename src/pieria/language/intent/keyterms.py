"""The topics of a text, as entities: names, acronyms, technologies, and nouns that name a subject."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pieria.language.analyser.stem import stem
from pieria.language.entities import entities
from pieria.language.intent.phrases import meanings, words
from pieria.language.letters import lowered

MOST = 10
_SHORTEST = 7
"""Fewest letters of a noun that is recognised only by its ending."""
_WORD = re.compile(r"(?<![\w#@/.-])[^\W\d_]{3,40}(?![\w@/-])")
_TAG = re.compile(r"(?<![\w&#/])#([^\W\d_][\w/-]{0,99})")


def keyterms(text: str, named: Iterable[str] | None = None) -> tuple[str, ...]:
    """Return at most ten topics in lower case and text order. Implied topics come last.

    `named` are the names in the text. Without it, names are recognised by their capitals.
    """
    low = lowered(text)
    placed = [(_place(low, lowered(name)), lowered(name).lstrip("#@")) for name in names_of(text, named)]
    placed += _matters(low)
    placed += [(len(low), means) for said, means in meanings("terms", "means") if said.search(low)]
    told = [term for _, term in sorted(placed, key=lambda pair: pair[0]) if term not in words("terms", "idle")]
    return tuple(_apart(told))[:MOST]


def names_of(text: str, named: Iterable[str] | None) -> list[str]:
    return list(dict.fromkeys(entity.name for entity in entities(text))) if named is None else list(named)


def tags_of(text: str) -> tuple[str, ...]:
    """Return the hashtags in the text."""
    return tuple(dict.fromkeys(tag.lower() for tag in _TAG.findall(text)))


def _place(low: str, name: str) -> int:
    found = low.find(name)
    return len(low) if found < 0 else found


def _matters(low: str) -> Iterator[tuple[int, str]]:
    topics, idle = words("terms", "topics"), words("terms", "idle")
    endings = tuple(sorted(words("terms", "endings")))
    for found in _WORD.finditer(low):
        word = found[0]
        single = word.removesuffix("s")
        by_ending = len(word) >= _SHORTEST and single.endswith(endings) and single not in idle
        if by_ending or word in topics:
            yield found.start(), word


def _apart(terms: Iterable[str]) -> Iterator[str]:
    """Yield each topic once, in the form that comes first."""
    seen: set[str] = set()
    for term in terms:
        key = " ".join(map(stem, term.split()))
        if term and key not in seen:
            seen.add(key)
            yield term
