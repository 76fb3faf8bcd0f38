"""Narrows a text query to candidates, in the same way in every store.

Looking up a frequent term costs as much as it has rows, and tells little. So terms are looked up rarest first until
their rows reach a budget. All terms count again when the candidates are ranked.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[np.int64]

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


def rough_order(postings: Sequence[tuple[float, Sequence[int] | Rows]]) -> list[int]:
    """Return rows by the summed weight of their terms, repeats counting a little; of equals, the newer first.

    Each term's rows ascend, a row repeated for each occurrence.
    """
    import numpy as np

    if not postings:
        return []
    listed = [np.asarray(rows, dtype=np.int64) for _, rows in postings]
    gains = [
        np.where(np.diff(rows, prepend=-1) == 0, gain * REPEATED, gain)
        for (gain, _), rows in zip(postings, listed, strict=True)
    ]
    rows, places = np.unique(np.concatenate(listed), return_inverse=True)
    # Summed in the order of the terms.
    scores = np.bincount(places, weights=np.concatenate(gains), minlength=len(rows))
    found: list[int] = rows[np.lexsort((-rows, -scores))].tolist()
    return found
