"""The fence around data in a message to a model: whatever stands inside is judged and never obeyed.

The mark is drawn from the data itself, so that the same message is always the same text, and nobody can write down
beforehand the line that would close it. What a message says besides does not belong here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b
from itertools import count

_BYTES = 6
"""Of a mark, which is twice as many letters: more marks than a message has places."""
_HOSTS_OWN = re.compile(
    r"""<(?=
        \s*+ /?+ \s*+ (?: memory|system|user|assistant|human|developer|tool|function|hook|session|command|local ) \b
      | \| )""",
    re.VERBOSE | re.IGNORECASE,
)
"""Where a tag begins by which a host, or a model's own template, tells its words from those of others."""
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]"
)
"""What nobody sees who reads the text, while a model does."""
_SEEN = "\ufffd"


def mark_for(bodies: Sequence[str]) -> str:
    """A word that occurs in none of them."""
    whole = "\n".join(bodies)
    folded, written = whole.casefold(), whole.encode("utf-8", "replace")
    drawn = (blake2b(written, digest_size=_BYTES, salt=str(number).encode()).hexdigest() for number in count())
    return next(mark for mark in drawn if mark not in folded)


def fenced(body: str, mark: str) -> str:
    return f"<<<{mark}\n{body}\n{mark}>>>"


def inert(text: str) -> str:
    """A text that closes no tag of the host that shows it, and hides nothing. To be put behind a fence."""
    return _UNSEEN.sub(_SEEN, _HOSTS_OWN.sub("&lt;", "\n".join(text.splitlines())))
