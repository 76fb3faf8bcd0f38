"""Room in a reply for other hits than near copies of one text. It finds nothing and scores nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import replace
from typing import Any

SAME = 0.9
"""The share of words that near copies have in common: one word in ten may differ."""
KEPT = 2
"""How many of a group of near copies keep their place: a text, and one that may correct it."""
CLOSE = 0.75
"""A further copy goes behind other hits with at least this share of its score."""
COMPARED = 2_000
"""Characters of a text to compare."""
_WORD = re.compile(r"\w+")


def with_room(hits: Sequence[Any], question: str, further: Callable[[], Iterable[Any]]) -> list[Any]:
    """Return as many hits with the third and later near copies of a text behind others of a similar score.

    Calls `further` for the hits after these only if there are such copies. A copy keeps its place if it has a word of
    the question that the copies before it lack. A moved hit has the score of its new place.
    """
    asked = _words(question)
    groups: list[list[Set[str]]] = []
    is_further = [_joins(groups, _words(hit.memory.text), asked) for hit in hits]
    if not any(is_further):
        return list(hits)
    ranked = [(hit.score * CLOSE if moved else hit.score, hit) for hit, moved in zip(hits, is_further, strict=True)]
    ranked += [(hit.score, hit) for hit in further() if not _joins(groups, _words(hit.memory.text), asked)]
    ranked.sort(key=lambda pair: -pair[0])
    return _with_falling_scores(hit for _, hit in ranked[: len(hits)])


def _words(text: str) -> Set[str]:
    return frozenset(_WORD.findall(text[:COMPARED].casefold()))


def _joins(groups: list[list[Set[str]]], words: Set[str], asked: Set[str]) -> bool:
    """Add the text to its group of near copies, or to a new one. Return whether it says no more than the group."""
    group = next((one for one in groups if _is_copy(one[0], words)), None)
    if group is None:
        groups.append([words])
        return False
    adds = bool((words & asked) - frozenset().union(*group))
    group.append(words)
    return len(group) > KEPT and not adds


def _is_copy(one: Set[str], other: Set[str]) -> bool:
    return len(one & other) >= SAME * max(len(one), len(other))


def _with_falling_scores(hits: Iterable[Any]) -> list[Any]:
    shown: list[Any] = []
    for hit in hits:
        lowest = shown[-1].score if shown else hit.score
        shown.append(hit if hit.score <= lowest else replace(hit, score=lowest))
    return shown
