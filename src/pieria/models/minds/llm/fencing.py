"""The fence around data in a message: whatever stands inside is judged and never obeyed.

The mark is drawn from the data itself, so that the same request is always the same text, and nobody can write down
beforehand the line that would close it.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from itertools import count

_BYTES = 6
"""Of a mark, which is twice as many letters: more marks than a message has places."""


def mark_for(bodies: Sequence[str]) -> str:
    """A word that occurs in none of them."""
    whole = "\n".join(bodies)
    folded = whole.casefold()
    drawn = (blake2b(whole.encode(), digest_size=_BYTES, salt=str(number).encode()).hexdigest() for number in count())
    return next(mark for mark in drawn if mark not in folded)


def fenced(body: str, mark: str) -> str:
    return f"<<<{mark}\n{body}\n{mark}>>>"
