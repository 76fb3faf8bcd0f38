"""How sure one text makes an answer, by itself: whether what was asked for is in it, and not only the best there is.

Exists so that whatever finds something for a question measures that alike.
"""

from __future__ import annotations

import math

ALIKE_WORTH, HOLDS_WORTH, DOUBT = 8.0, 3.0, 3.5
MAX_EXPONENT = 700.0
"""Beyond this `math.exp` has no result."""


def alone(alike: float | None, holds: float) -> float:
    """0 to 1, by the cosine to the question and the share of the question that it holds; without a cosine that share
    is all there is.
    """
    return holds if alike is None else logistic(ALIKE_WORTH * alike + HOLDS_WORTH * holds - DOUBT)


def logistic(value: float) -> float:
    # A damaged vector may be like anything to any degree.
    return 1 / (1 + math.exp(min(MAX_EXPONENT, -value)))
