"""What tells two statements apart however alike they look: the names, numbers and paths in them, and what they deny.

Exists because a vector hardly tells Anna from Bea, nor port 8000 from port 8001. What is not told apart here may still
say something else; that is for vectors to tell.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Set
from typing import NamedTuple

from pieria.record.commonwords import COMMON, OPENINGS, TIMES
from pieria.record.letters import lowered
from pieria.record.shapes import has_capital, kind_of, without_ending, without_line

_WORD = re.compile(r"\S+")
_AROUND = "\"'“”‘’«»„`()[]{}<>,;:!?.…*–—"
_ENDS_SENTENCE = (".", "!", "?", ":")
_NUMBERED = re.compile(r"\w*\d\w*")
_SPELT = """
two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen
twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion half twice
second third fourth fifth sixth seventh eighth ninth tenth
"""
# Words that turn what is said into another thing, with nothing else changed.
_OPPOSED = """
before after above below off enabled disabled allowed forbidden upstream downstream increases decreases increased
decreased accepted rejected minimum maximum left right north south east west more less fewer true false
"""
_NUMBERS, _SIDES = frozenset(_SPELT.split()), frozenset(_OPPOSED.split())
_DENIALS = frozenset(
    (
        "no",
        "not",
        "never",
        "none",
        "nobody",
        "nothing",
        "nowhere",
        "neither",
        "nor",
        "cannot",
        "without",
        "unless",
        "except",
    )
)


class Particulars(NamedTuple):
    """`marks` are its numbers, paths and identifiers, what it denies, and on which side of things it is."""

    marks: tuple[str, ...]
    names: tuple[str, ...]
    """Words with capitals, in their order; of one that only begins a sentence nobody knows better."""
    words: str
    """All of them, each between spaces."""
    sure: frozenset[str] = frozenset()
    """Those of the names that no word is: they have their capital within a sentence, and it is not all capitals."""


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
    """Letters alone, with a capital at most in front: no shape of its own, and most words are like that."""
    return word.isalpha() and (word.islower() or word.istitle())


def are_apart(one: Particulars, other: Particulars, known: Set[str] = frozenset()) -> bool:
    """Whether one names, counts or denies what the other does not, or tells it of the same in another order; when that
    is stands anywhere. What is among the names `known` from elsewhere is one without its capital, too.
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
