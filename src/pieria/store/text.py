"""How any store narrows a text question to candidates, so that two stores offer the same ones.

Looking a frequent term up costs as much as it has rows and tells little. Terms are looked up rarest first until their
rows reach a budget; every term counts again when the candidates are ranked.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence


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


def rough_order(postings: Sequence[tuple[float, Sequence[int]]]) -> list[int]:
    """Rows by the summed weight of the terms they hold, a repeat counting a little; newer first among equals."""
    scores: dict[int, float] = {}
    for gain, rows in postings:
        last = -1
        for row in rows:
            if row == last:
                scores[row] += gain * 0.2
            else:
                scores[row] = scores.get(row, 0.0) + gain
                last = row
    return [row for _, row in sorted(zip(scores.values(), scores, strict=True), reverse=True)]
