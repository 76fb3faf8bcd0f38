"""Mere consent: a yes, a go on, a thank you, an option by its letter. What is meant by it was said before.

Exists because what is noticed of a session and what a prompt is told both go by it.
"""

from __future__ import annotations

import re

_SAID = (
    "yes|yep|yeah|yup|sure|ok(?:ay)?|agreed|right|fine|good|great|perfect|nice|cool|sounds good|looks good|lgtm"
    "|do (?:it|that|so)|go (?:ahead|for it|on)|continue|proceed|please(?: do)?|thanks?(?: you)?|then|no|nope"
)
_CONSENT = re.compile(rf"(?:{_SAID}|(?:option )?[a-d1-9])(?:[\s,.!]+(?:{_SAID}))*[\s.!]*", re.IGNORECASE)
_LONGEST = 100
"""Characters: whoever says more says something."""


def is_consent(text: str) -> bool:
    said = text.strip()
    return len(said) <= _LONGEST and _CONSENT.fullmatch(said) is not None
