"""Phrases of the pack `notes`, as patterns: what makes a sentence a note, and what says that something is done."""

from __future__ import annotations

import re
from functools import cache

from pieria.language.analyser import query_terms, terms
from pieria.language.commonwords import COMMON, TIMES
from pieria.language.letters import lowered
from pieria.language.packs import pack, phrases

DISTINCT = 2
"""Terms that two texts about one matter share."""
_ASKS = re.compile(r"[?？]\W*\Z")
_DENYING = r"\b(?:not|no|never|without|instead of|rather than|than|against|drop|nicht|kein\w*|statt|pas|sans|sin|sem)"
_DENIED = (
    r"(?:is|was|are|were|stays?|remains?|would be|ist|war|wäre|bleibt|est|était|reste|es|era|queda|é|fica)"
    r"\s+(?:\w+\s+)?"
    r"(?:too|out|not|no|off|zu|draußen|raus|nicht|trop|pas|hors|demasiado|fuera|muito|não|fora)\b"
)
_DENIES = re.compile(r"\wn['’]t\b")
_SCRIPT_WITHOUT_SPACES = "\u3000"


def holds(key: str, low: str) -> bool:
    """Return whether a text in lower case has one of the phrases."""
    return _anywhere(key).search(low) is not None


@cache
def any_phrase(key: str) -> str:
    """Return the pattern of any of the phrases, longest first."""
    return "|".join(
        re.escape(phrase).replace(r"\ ", r"\s+").replace("'", "['’]")
        + (r"(?!\w)" if phrase[-1] < _SCRIPT_WITHOUT_SPACES else "")
        for phrase in sorted(phrases("notes", key), key=lambda phrase: (-len(phrase), phrase))
    )


@cache
def _anywhere(key: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![a-zà-ÿ])(?:{any_phrase(key)})")


def says_done(sentence: str) -> bool:
    """Return whether the sentence says that something is done, or no longer wanted."""
    low = lowered(sentence)
    if _ASKS.search(low):
        return False
    return holds("dropped", low) or (holds("done", low) and not (holds("undone", low) or _DENIES.search(low)))


def is_same_matter(owed: str, done: str) -> bool:
    """Return whether a sentence on something done is about what is owed: it names it, or shares its rare words."""
    theirs, ours = rare_terms(owed), rare_terms(done)
    named = {term.term for term in query_terms(done) if not term.stop}
    if len(named) >= DISTINCT and named <= {*terms(owed)}:
        return True
    return len(theirs & ours) >= min(DISTINCT, len(theirs) or DISTINCT)


def affirms(text: str, option: str) -> bool:
    """Return whether the text names an option and does not deny it."""
    wanted = {term.term for term in query_terms(option) if not term.stop}
    if not wanted or not wanted <= set(terms(text)):
        return False
    first = re.search(r"\w+", option)
    if first is None:
        return True
    name = re.escape(first[0])
    denied = rf"{_DENYING}\s+(?:\w+\s+)?{name}\b|\b{name}\s+{_DENIED}"
    return re.search(denied, text, re.IGNORECASE) is None


def rare_terms(text: str) -> frozenset[str]:
    """Return the terms of a text without those that any matter may have."""
    return frozenset(term.term for term in query_terms(text) if not term.stop) - _idle()


@cache
def _idle() -> frozenset[str]:
    """Return the terms of words that any matter may have."""
    said = " ".join(pack("notes")[key].replace("|", " ") for key in ("done", "dropped", "undone"))
    return frozenset(term for word in (*COMMON, *TIMES) for term in terms(word)) | frozenset(terms(said))
