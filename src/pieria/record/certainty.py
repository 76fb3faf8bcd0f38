"""How confidently a single text answers a question, on a scale from 0 to 1.

Every search uses this measure, so that confidences are comparable.
"""

from __future__ import annotations

import math

ALIKE_WORTH, HOLDS_WORTH, DOUBT = 8.0, 3.0, 3.5
MAX_EXPONENT = 700.0
"""`math.exp` overflows beyond this."""


def alone(alike: float | None, holds: float) -> float:
    """Return a confidence from 0 to 1.

    It uses the cosine to the question and the share of the question's terms in the text. Without a cosine it is that
    share.
    """
    return holds if alike is None else logistic(ALIKE_WORTH * alike + HOLDS_WORTH * holds - DOUBT)


def logistic(value: float) -> float:
    # A damaged vector may give any cosine.
    return 1 / (1 + math.exp(min(MAX_EXPONENT, -value)))
