"""What distinguishes two similar statements: their names, numbers, paths and negations.

A vector hardly separates Anna from Bea, or port 8000 from port 8001. Statements with equal particulars may still
differ; comparing vectors decides that.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence, Set
from typing import NamedTuple

from pieria.language.commonwords import COMMON, OPENINGS, TIMES
from pieria.language.letters import lowered
from pieria.language.packs import words
from pieria.language.shapes import has_capital, kind_of, without_ending, without_line

_WORD = re.compile(r"\S+")
_AROUND = "\"'“”‘’«»„`()[]{}<>,;:!?.…*–—"
_ENDS_SENTENCE = (".", "!", "?", ":")
_PART = re.compile(r"[^\W_]+")
_NUMBERED = re.compile(r"\w*\d\w*")
_NUMBERS, _SIDES = words("particulars", "numbers"), words("particulars", "sides")
_DENIALS = words("particulars", "denials")


class Particulars(NamedTuple):
    """`marks` are the numbers, paths and identifiers, negations, and words such as "before" or "enabled"."""

    marks: tuple[str, ...]
    names: tuple[str, ...]
    """Words with capitals, in order. At the start of a sentence a common word may be among them."""
    words: str
    """All words, separated by spaces."""
    sure: frozenset[str] = frozenset()
    """The names that are certain: capitalised within a sentence, not all in capitals, and no common word."""


def particulars(text: str) -> Particulars:
    marks: Counter[str] = Counter(dict.fromkeys(_NUMBERED.findall(lowered(text)), 1))
    names: list[str] = []
    words: list[str] = []
    sure: set[str] = set()
    first = True
    for token in _WORD.findall(text):
        bare = token.strip(_AROUND)
        word = without_ending(bare)
        low = lowered(word)
        words.append(low)
        if low in _DENIALS or low.endswith("n't"):
            marks["not"] += 1
        elif low in _NUMBERS or low in _SIDES:
            marks[low] = 1
        elif not _is_plain(word) and kind_of(without_line(word)):
            marks[word] = 1
        elif has_capital(word) and not (low in OPENINGS and (first or low == "i" or "'" in low)):
            names.append(low)
            if not (first or word.isupper() or low in COMMON):
                sure.add(low)
        first = token.rstrip("\"'”’»)").endswith(_ENDS_SENTENCE)
    return Particulars(tuple(sorted(marks.elements())), tuple(names), f" {' '.join(words)} ", frozenset(sure))


def _is_plain(word: str) -> bool:
    """Return whether the word is only letters, with at most an initial capital. Most words are, so test this first."""
    return word.isalpha() and (word.islower() or word.istitle())


def are_apart(one: Particulars, other: Particulars, known: Set[str] = frozenset()) -> bool:
    """Return whether the statements differ in names, numbers or negations, or in the order of shared names.

    Times may come in any order. Names in `known` count even without a capital.
    """
    names, others = _names(one, known), _names(other, known)
    if one.marks != other.marks or not (_holds(one, others) and _holds(other, names)):
        return True
    shared = set(names) & set(others) - TIMES
    return [name for name in names if name in shared] != [name for name in others if name in shared]


def _names(one: Particulars, known: Set[str]) -> tuple[str, ...]:
    words = one.words.split()
    return one.names if known.isdisjoint(words) else tuple(word for word in words if word in known or word in one.names)


def _holds(one: Particulars, names: tuple[str, ...]) -> bool:
    return all(f" {name} " in one.words for name in names)


def invented(text: str, sources: Sequence[str]) -> tuple[str, ...]:
    """Return the names and numbers of a text that none of its sources has, such as those that a model made up."""
    read = lowered(" ".join(sources))
    known = set(_PART.findall(read))
    said = particulars(text)
    numbers = [number for number in _NUMBERED.findall(lowered(text)) if any(map(str.isdigit, number))]
    return tuple(
        dict.fromkeys(word for word in (*numbers, *sorted(said.sure)) if not known.issuperset(_PART.findall(word)))
    )
