"""Narrows a text query to candidates, in the same way in every store.

Looking up a frequent term costs as much as it has rows, and tells little. So terms are looked up rarest first until
their rows reach a budget. All terms count again when the candidates are ranked.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from heapq import merge
from itertools import pairwise
from operator import itemgetter

REPEATED = 0.2
"""Weight of a term's repeats in a text, relative to its first occurrence."""
CROWDED = 8
"""A term with more occurrences a text than this, on average, is looked up without its repeats. Listing them would take
as long as reading the texts.
"""


def is_crowded(frequency: int, occurrences: int) -> bool:
    return occurrences > CROWDED * frequency


def weight(documents: int, frequency: int) -> float:
    """Return a term's inverse document frequency, never negative."""
    return math.log(1.0 + (documents - frequency + 0.5) / (frequency + 0.5))


def rarest_first(frequencies: Mapping[str, int], budget: int) -> tuple[list[str], list[str]]:
    """Return (terms to look up, terms left out). The rarest known term is always looked up."""
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
    """Yield rows by the summed weight of their terms, repeats counting a little; of equals, the newer first.

    Each term's rows ascend, a row repeated for each occurrence. Callers use only the first few of thousands. So weights
    are added up only for rows that are listed more than once.
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
    return map(itemgetter(1), merge(whole, *once, reverse=True))


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
