"""The subject of a request for an overview, without the words that only phrase the request.

"Can you walk me through the order in which I brought up …, throughout our conversations?" is mostly about
conversations, in words and in meaning. Only the few remaining words say what it asks for.
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
"""One of these words is enough to mark a request for an overview."""
FORMS = frozenset(_FORMING.split())
"""`LEAST` of these words mark such a request. A single one may be the subject."""
LEAST = 2
IDLE = SURE | FORMS | frozenset(_ASKING.split())


def subject(text: str) -> str | None:
    """Return the remaining words. None if it asks for no overview, or if no words remain."""
    words = [word[0] for word in _WORD.finditer(text)]
    folded = [word.casefold() for word in words]
    if SURE.isdisjoint(folded) and sum(word in FORMS for word in folded) < LEAST:
        return None
    left = [word for word in words if word.casefold().replace("’", "'") not in IDLE]
    return " ".join(left) or None
