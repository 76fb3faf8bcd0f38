"""What an overview is to be of: a request for one without the words that only ask for it.

Exists because "Can you walk me through the order in which I brought up …, throughout our conversations?" is mostly
about conversations, as words and as meaning go, and what it asks for is the little that is left.
"""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_SUMMING = "overview recap rundown summaries summarise summarize summary synopsis"
_FORMING = """
chat chats chronological conversation conversations discussion discussions gist list order outline sequence talks
throughout timeline walk
"""
_ASKING = """
a about across all an and aspect aspects at bring brought brief by can clear complete comprehensive concept concepts
could covered describe detailed did different discuss discussed do during everything far few for from full give had has
have high how i in including item items key kindly level me mention mentioned months my of on one only our over part
parts past please points progress progressed provide put session sessions short so some tell that the things three
through time to together topic topics two up various way ways we weeks what which with would you your
four five six seven eight nine ten developed evolved i've we've i'd
"""
SURE = frozenset(_SUMMING.split())
"""Words that tell by themselves that it is spoken of telling, and not of things."""
FORMS = frozenset(_FORMING.split())
"""Words that tell it where there are several; one alone may be what it is about."""
LEAST = 2
IDLE = SURE | FORMS | frozenset(_ASKING.split())


def subject(text: str) -> str | None:
    """The words that are left; None where it is no request to tell of what was said, or names nothing."""
    words = [word[0] for word in _WORD.finditer(text)]
    folded = [word.casefold() for word in words]
    if SURE.isdisjoint(folded) and sum(word in FORMS for word in folded) < LEAST:
        return None
    left = [word for word in words if word.casefold().replace("’", "'") not in IDLE]
    return " ".join(left) or None
