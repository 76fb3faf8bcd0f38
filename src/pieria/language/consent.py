"""Recognise mere consent: a yes, a go on, a thank you, the letter of an option.

Such a message refers to an earlier one. Both capture and the context for a prompt use this check.
"""

from __future__ import annotations

import re

_SAID = (
    "yes|yep|yeah|yup|sure|ok(?:ay)?|agreed|right|fine|good|great|perfect|nice|cool|sounds good|looks good|lgtm"
    "|do (?:it|that|so)|go (?:ahead|for it|on)|continue|proceed|please(?: do)?|thanks?(?: you)?|then|no|nope"
)
_CONSENT = re.compile(rf"(?:{_SAID}|(?:option )?[a-d1-9])(?:[\s,.!]+(?:{_SAID}))*[\s.!]*", re.IGNORECASE)
_LONGEST = 100
"""Characters: a longer message has content of its own."""


def is_consent(text: str) -> bool:
    said = text.strip()
    return len(said) <= _LONGEST and _CONSENT.fullmatch(said) is not None
