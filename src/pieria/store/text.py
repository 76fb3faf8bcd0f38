"""How any store narrows a text question to candidates, so that two stores offer the same ones.

Looking a frequent term up costs as much as it has rows and tells little. Terms are looked up rarest first until their
rows reach a budget; every term counts again when the candidates are ranked.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from heapq import merge
from itertools import pairwise

REPEATED = 0.2
"""What a word's second occurrence in a text counts, against its first."""
CROWDED = 8
"""A term that its texts hold so many times on average is looked up without its repeats: listing them would take as
long as reading the texts."""


def is_crowded(frequency: int, occurrences: int) -> bool:
    return occurrences > CROWDED * frequency


def weight(documents: int, frequency: int) -> float:
    """A term's inverse document frequency, never negative."""
    return math.log(1.0 + (documents - frequency + 0.5) / (frequency + 0.5))


def rarest_first(frequencies: Mapping[str, int], budget: int) -> tuple[list[str], list[str]]:
    """(terms to look up, terms left out). The rarest is always looked up: a question is never answered with nothing."""
    known = sorted((frequency, term) for term, frequency in frequencies.items() if frequency)
    chosen: list[str] = []
    spent = 0
    for frequency, term in known:
        if chosen and spent + frequency > budget:
            break
        chosen.append(term)
        spent += frequency
    return chosen, [term for _, term in known[len(chosen) :]]


def rough_order(postings: Sequence[tuple[float, Sequence[int]]]) -> Iterator[int]:
    """Rows by the summed weight of the terms they hold, a repeat counting a little; newer first among equals.

    Each term's rows come in ascending order, a row as often as it holds the term. Only the first few of thousands are
    ever taken, so that nothing is added up but for rows that are listed more than once.
    """
    several = _listed_again(postings)
    scores = dict.fromkeys(several, 0.0)
    for gain, rows in postings:
        last = -1
        for row in filter(several.__contains__, rows):
            scores[row] += gain * REPEATED if row == last else gain
            last = row
    whole = sorted(((score, row) for row, score in scores.items()), reverse=True)
    once = (_listed_once(gain, rows, several) for gain, rows in postings)
    return (row for _, row in merge(whole, *once, reverse=True))


def _listed_again(postings: Sequence[tuple[float, Sequence[int]]]) -> set[int]:
    seen: set[int] = set()
    again: set[int] = set()
    for _, rows in postings:
        held = set(rows)
        if len(held) < len(rows):
            again.update(row for row, following in pairwise(rows) if row == following)
        again |= seen & held
        seen |= held
    return again


def _listed_once(gain: float, rows: Sequence[int], several: set[int]) -> Iterator[tuple[float, int]]:
    return ((gain, row) for row in reversed(rows) if row not in several)
