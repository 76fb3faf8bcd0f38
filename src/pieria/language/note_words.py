"""Phrases of the pack `notes`, as patterns: what makes a sentence a note, and what says that something is done."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import cache

from pieria.language.analyser import query_terms, terms
from pieria.language.commonwords import COMMON, TIMES
from pieria.language.foreign_dates import english_dates
from pieria.language.grammar.forms import forms
from pieria.language.grammar.tokens import closed_class
from pieria.language.letters import lowered
from pieria.language.packs import pack, phrases
from pieria.language.timewords import TimeWord, timewords

DISTINCT = 2
"""Terms that two texts about one matter share."""
_ASKS = re.compile(r"[?？]\W*\Z")
_DENYING = r"\b(?:not|no|never|without|instead of|rather than|than|against|drop|nicht|kein\w*|statt|pas|sans|sin|sem)"
_DENIED = (
    r"(?:is|was|are|were|stays?|remains?|would be|ist|war|wäre|bleibt|est|était|reste|es|era|queda|é|fica)"
    r"\s+(?:\w+\s+)?"
    r"(?:too|out|not|no|off|zu|draußen|raus|nicht|trop|pas|hors|demasiado|fuera|muito|não|fora)\b"
)
_CLAUSES = re.compile(
    r"[,;:.!?()。、，；：！？]+|\b(?:because|since|as|although|though|weil|denn|da|obwohl|parce que|car|porque|pois)\b",
    re.IGNORECASE,
)
"""What parts a choice from its reason."""
_DENIES = re.compile(r"\wn['’]t\b")
_SCRIPT_WITHOUT_SPACES = "\u3000"
_FEW_WORDS = r"[^.!?。！？]{1,60}?"
_LONGEST = 400
"""Characters of a sentence in which a day is looked for."""
_LIMITS = ("by", "before", "no later than")
_SOME_DAY = datetime(2020, 6, 15, 12, tzinfo=UTC)
"""Any moment: whether a text names a day does not depend on it."""
_NUMBER = re.compile(
    r"(?:\b(?:is|are|was|were|reads|ist|lautet|war|est|était|es|era|é|foi)|[:：]|は|是|为|為)\s*(?:#|no\.?|nr\.?)?\s*"
    r"(?=[\w./-]{0,30}\d)(?:[\w./-]*\d){3}"
)
"""A number or code that something has: `the reading was 48213`."""


def holds(key: str, low: str) -> bool:
    """Return whether a text in lower case has one of the phrases."""
    return _anywhere(key).search(low) is not None


@cache
def any_phrase(key: str) -> str:
    """Return the pattern of any of the phrases, longest first. Words of scripts with spaces must be whole."""
    ordered = sorted(phrases("notes", key), key=lambda phrase: (-len(phrase), phrase))
    spaced = [phrase for phrase in ordered if phrase[0] < _SCRIPT_WITHOUT_SPACES]
    unspaced = [phrase for phrase in ordered if phrase not in spaced]
    parts = [rf"(?<![a-zà-ÿ])(?:{'|'.join(map(_spelt, spaced))})"] if spaced else []
    return "|".join([*parts, *map(_spelt, unspaced)])


def _spelt(phrase: str) -> str:
    spelt = re.escape(phrase).replace(r"\ ", r"\s+").replace("'", "['’]").replace("…", _FEW_WORDS)
    return spelt + (r"(?!\w)" if phrase[-1].isalpha() and phrase[-1] < _SCRIPT_WITHOUT_SPACES else "")


@cache
def _anywhere(key: str) -> re.Pattern[str]:
    return re.compile(any_phrase(key))


def says_done(sentence: str) -> bool:
    """Return whether the sentence says that something is done, or no longer wanted."""
    low = lowered(sentence)
    if _ASKS.search(low):
        return False
    return holds("dropped", low) or (holds("done", low) and not (holds("undone", low) or _DENIES.search(low)))


def is_owed(sentence: str) -> bool:
    """Return whether the sentence says that something is left to do, or promised for a day, or due by a day."""
    low = lowered(sentence)
    if says_done(sentence):
        return False
    if holds("owed", low) or holds("outstanding", low):
        return True
    promised = holds("promising", low)
    if len(sentence) > _LONGEST or not (promised or holds("must", low) or _is_order(low)):
        return False
    return bool(promised and _days(sentence)) or names_last_day(sentence)


def _is_order(low: str) -> bool:
    """Return whether a sentence is an imperative or a heading: no verb follows its first word, which is no subject."""
    first, *rest = re.findall(r"[^\W\d_]+", low) or [""]
    if not first or first in closed_class():
        return False
    held = [form.kinds for word in rest if (form := forms().get(word))]
    return not any("third" in kinds or kinds == {"past"} for kinds in held) and not holds("past", low)


def names_last_day(sentence: str) -> bool:
    """Return whether the sentence says by which day something is to be done."""
    return len(sentence) <= _LONGEST and any(word.direction == "before" for word in _days(sentence))


def _days(sentence: str) -> list[TimeWord]:
    """Return the days that a sentence names, without those up to which something lasts."""
    text = english_dates(sentence)
    found = timewords(text, now=_SOME_DAY)
    return [word for word in found if word.direction != "before" or text[word.start :].lower().startswith(_LIMITS)]


def states_number(sentence: str) -> bool:
    """Return whether the sentence says which number or code something has."""
    return _NUMBER.search(lowered(sentence)) is not None


def reports_past(clause: str) -> bool:
    """Return whether a clause tells what happened, not what is to come."""
    low = lowered(clause)
    if holds("must", low) or holds("undone", low):
        return False
    verbs = (forms().get(word) for word in re.findall(r"[a-z']+", low))
    return holds("past", low) or any(form is not None and "past" in form.kinds - {"base"} for form in verbs)


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


def takes(text: str, option: str) -> bool:
    """Return whether a clause of the text takes an option: it names the option alone, or with words of a choice."""
    wanted = {term.term for term in query_terms(option) if not term.stop}
    for clause in _CLAUSES.split(text):
        low = lowered(clause)
        if affirms(clause, option) and not _DENIES.search(low):
            named = {term.term for term in query_terms(clause) if not term.stop}
            if named == wanted or any(holds(key, low) for key in ("taking", "choosing", "reversing")):
                return True
    return False


def rare_terms(text: str) -> frozenset[str]:
    """Return the terms of a text without those that any matter may have."""
    return frozenset(term.term for term in query_terms(text) if not term.stop) - _idle()


@cache
def _idle() -> frozenset[str]:
    """Return the terms of words that any matter may have."""
    said = " ".join(pack("notes")[key].replace("|", " ") for key in ("done", "dropped", "undone"))
    return frozenset(term for word in (*COMMON, *TIMES) for term in terms(word)) | frozenset(terms(said))
