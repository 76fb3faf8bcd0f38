"""The fence around data in a message to a model: the model judges the data inside and does not obey it.

The mark is a hash of the data, so the same message always gives the same text. An author of the data cannot predict
the closing line. The other parts of a message do not belong here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b
from itertools import count

_BYTES = 6
"""Bytes of a mark, written as twice as many hex digits. Enough that a message cannot contain every mark."""
_HOSTS_OWN = re.compile(
    r"""<(?=
        \s*+ /?+ \s*+ (?: memory|system|user|assistant|human|developer|tool|function|hook|session|command|local ) \b
      | \| )""",
    re.VERBOSE | re.IGNORECASE,
)
"""The beginning of a tag that a host or a model's template uses to mark its own words."""
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Characters that a reader does not see but a model does."""
_SEEN = "\ufffd"


def mark_for(bodies: Sequence[str]) -> str:
    """Return a mark that occurs in none of the texts."""
    whole = "\n".join(bodies)
    folded, written = whole.casefold(), whole.encode("utf-8", "replace")
    drawn = (blake2b(written, digest_size=_BYTES, salt=str(number).encode()).hexdigest() for number in count())
    return next(mark for mark in drawn if mark not in folded)


def fenced(body: str, mark: str) -> str:
    return f"<<<{mark}\n{body}\n{mark}>>>"


def inert(text: str) -> str:
    """Return a text that closes no tag of its host and hides nothing. Put it inside a fence."""
    return _UNSEEN.sub(_SEEN, _HOSTS_OWN.sub("&lt;", "\n".join(text.splitlines())))
