"""How recall reads a question: its terms and their order, the times it names, and what kind of answer it wants.

Exists so that everything that is decided by the question alone is decided once, before any store is asked. Which terms
weigh what, and whose names are authors of the bank, is known only with the bank.
"""

from __future__ import annotations

import re
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

from pieria.recall.asking import considered_terms
from pieria.recall.evidence import Span
from pieria.record.analyser import query_terms
from pieria.record.asks import asks
from pieria.record.time import micros
from pieria.record.timewords import timewords

OVERVIEWS = frozenset({"order", "summary"})
OF_FACTS = frozenset({"when", "where", "who", "count", "yes-no"})
FULLY, PARTLY = 1.0, 0.5
"""How far a request asks for something to be done, and how far a question does that is neither request nor of facts."""
_READ = 4_000
"""Characters at the beginning in which a question shows of what kind it is."""
_OF_WHAT_WAS = re.compile(
    r"""\b(?: (?:did|had|was|were|have|has) \s (?:i|we|you|my|our)
      | (?:i|we|you) \s (?:said|told|asked|mentioned|discussed|talked|agreed|decided|chose|planned|used|shared)
      | (?:our|these|those|previous|earlier|past) \s (?:conversations?|chats?|discussions?|sessions?)
      | (?:across|throughout|over) \s (?:all|our|my|the)
      | ago | yesterday | last \s (?:night|week|month|year|time) )\b""",
    re.VERBOSE | re.IGNORECASE,
)
_OWN = re.compile(r"\b(?:i|me|my|mine|we|us|our|ours)\b", re.IGNORECASE)


class Reading(NamedTuple):
    """`considered` and `beyond` are the terms as `asking` has them, `order` all of them as they follow each other, and
    `pairs` those neighbours of which at least one tells something."""

    considered: list[str]
    beyond: list[str]
    order: list[str]
    pairs: frozenset[tuple[str, str]]
    spans: tuple[Span, ...]
    wants_done: float
    is_overview: bool
    is_when: bool
    may_heed_rules: bool
    """Rules bind whoever asks for something or in the first person, but not what is asked of what was."""


def reading(text: str, now: datetime) -> Reading:
    considered, beyond = considered_terms(text)
    words = query_terms(text)
    beginning = text[:_READ]
    kinds = asks(beginning)
    is_overview = bool(kinds & OVERVIEWS)
    looks_back = is_overview or _OF_WHAT_WAS.search(beginning) is not None
    wanted = 0.0 if looks_back else FULLY if "request" in kinds else 0.0 if kinds & OF_FACTS else PARTLY
    return Reading(
        considered=considered,
        beyond=beyond,
        order=[word.term for word in words],
        pairs=frozenset((one.term, other.term) for one, other in pairwise(words) if not (one.stop and other.stop)),
        spans=tuple(_spans(beginning, now)),
        wants_done=wanted,
        is_overview=is_overview,
        is_when="when" in kinds,
        may_heed_rules=not looks_back and (wanted == FULLY or _OWN.search(beginning) is not None),
    )


def _spans(text: str, now: datetime) -> list[Span]:
    """The times that the question names, relative ones as seen now."""
    return [
        Span(
            None if word.since is None else micros(word.since),
            None if word.until is None else micros(word.until),
            word.yearless,
        )
        for word in timewords(text, now=now)
    ]
