"""Decide whether a text states what a reversal overturns: the same thing, affirmed, in a short text.

Pure. Whose words may be overturned, and which came first, is decided in `bank.write.reversals`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from functools import cache
from itertools import pairwise

from pieria.language.analyser import terms
from pieria.language.letters import lowered, spaced
from pieria.language.reversal import Reversal, Sentence, find_reversals, stating_sentences, telling_terms
from pieria.language.reversal_forms import BACK, CHANGED, SPEAKER, UNSTATED

SHORT = 600
"""Most characters of a text that can be overturned. One sentence does not outdate a longer text."""
HALF = 0.5
BRIEF, LONGEST, FEW_WORDS, SEVERAL = 150, 160, 6, 3
"""`BRIEF`: most characters of a text that may match by a single common word. `LONGEST`: most characters of a sentence
that states something. `FEW_WORDS`: most words of a sentence that counts as personal. `SEVERAL`: enough shared terms
to be sure.
"""
NEAR = 4
"""Most words from a verb to the end of its statement."""
NAME = "name"
_NAME = re.compile(r"(?<![\w.])(?:[A-Z][\w.+#-]*|[a-z]+[A-Z0-9][\w.+#-]*)")
_STATING = re.compile(
    spaced(
        r"\b(?:is|are|am|was|were|be|been|has|have|had|goes|go|going|takes?|took|kept|gets?|got|sent|wrote|written"
        r"|built|chose|chosen|makes?|made|led|agreed|bought|stud(?:y|ies)|rel(?:y|ies)|fl(?:y|ies)|asked for|wants?"
        r"|do|does|don|manag\w{1,3}|(?:deploy|use|us|live|liv|run|sit|work|meet|eat|drink|drive|own|keep|store|host|pay"
        r"|send|write|build|test|ship|start|open|close|book|decide|pick|prefer|like|love|play|speak|read|rent|buy"
        r"|subscribe|pin|stand|hire|learn|watch|wear|order|commute|train|teach|format|lint|package|compile|log|monitor"
        r"|track|call|name|answer|belong|report|feed|cook|swim|ride|sleep|smoke|practi[sc]e|attend|follow|serve|sell|set"
        r"|lead|chat|talk|listen|connect|sync|publish|release|merge|sing|cycle|walk)(?:e?s|e?d|ned|ing|ning)?)\b"
        r"|[a-z](?:'s|'re|'m|'ve) |: |\b(?:we|i|they|you|he|she|it|everyone) [a-z]{2,20} "
    )
)
"""What makes the words after it a statement."""
_COUNT = r"(?:\d[\d.,]*|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|half an)"
_MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}"
VALUES = {
    "time of day": r"\d{1,2}[:.]\d\d\b|\d{1,2} ?(?:am|pm|o'clock)\b|noon\b|midnight\b",
    "day of the week": r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b",
    "length of time": rf"{_COUNT} (?:(?:second|minute|min|hour|day|week|month|year|sec|hr)s?|s|h)\b",
    "date": rf"\d{{4}}-\d\d-\d\d\b|{_MONTH} \d{{1,2}}\b|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}\b",
    "share": r"\d[\d.,]* ?(?:%|percent|per cent)",
    "number": r"[€$£]?\d[\d.,]*",
}
"""Sorts of values, narrowest first. If a value changes, the older text holds another value of the same sort."""


def measure_fit(reversal: Reversal, text: str, title: str | None = None) -> int:
    """Return how many terms a short text shares with the reversal that overturns it, or 0 if that is not certain."""
    if len(text) > SHORT:
        return 0
    return max(_earlier(reversal, text) if reversal.kind == BACK else _fits(reversal, text, title or ""), default=0)


def lookup_terms(reversal: Reversal) -> tuple[str, ...]:
    """Return the terms to look up memories that the reversal may overturn."""
    known = reversal.instead if reversal.kind == BACK else reversal.dropped
    return tuple(dict.fromkeys((*known, *reversal.about, *reversal.beside)))


def _fits(reversal: Reversal, text: str, title: str) -> Iterator[int]:
    called = terms(title)
    for said in stating_sentences(text, LONGEST):
        known = said.terms.union(called)
        if UNSTATED.search(said.low) or not _is_about(reversal, said, known):
            continue
        about, beside = ([term for term in each if term in known] for each in (reversal.about, reversal.beside))
        shared = max(1, len(reversal.dropped)) + len(about) + len(beside)
        is_stated = _is_changed if reversal.kind == CHANGED else _is_dropped
        if (shared > 1 or reversal.is_named or len(text) <= BRIEF) and is_stated(reversal, said, beside, shared):
            yield shared


def _is_dropped(reversal: Reversal, said: Sentence, beside: Sequence[str], shared: int) -> bool:
    """Return whether the sentence states everything that is dropped."""
    if not said.terms.issuperset(reversal.dropped) or said.terms.issuperset(reversal.instead or ("",)):
        return False
    if shared == len(reversal.dropped) and not _is_stated(reversal.dropped, said):
        return False
    if reversal.instead and not reversal.is_news and len(beside) < HALF * len(reversal.beside):
        return False
    names = {term for name in _names(said.text) for term in terms(name)}
    if not reversal.is_named and names.isdisjoint(reversal.dropped):
        is_sure = reversal.is_news or shared >= SEVERAL
        if not is_sure or not (names or _is_personal(said)):
            return False
    # A text that drops the same thing is not overturned.
    return all(each.dropped != reversal.dropped for each in find_reversals(said.text))


def _is_changed(reversal: Reversal, said: Sentence, beside: Sequence[str], shared: int) -> bool:
    """Return whether the sentence gives the same thing another value of the same sort."""
    sort = _sort_of(reversal.new)
    if sort is None or (not reversal.about and len(beside) < HALF * len(reversal.beside)):
        return False
    verb = _STATING.search(said.low)
    if sort != NAME:
        head = [*beside, *reversal.about][-1]
        return verb is not None and _differs(sort, reversal.new, said.low) and _is_head(head, said)
    about = {*reversal.about, *reversal.beside}
    names = [terms(name) for name in _names(said.text) if about.isdisjoint(terms(name))]
    if not said.terms.isdisjoint(reversal.instead) or not any(_is_stated(name, said) for name in names):
        return False
    # The sentence begins with that thing, or is personal.
    begins = verb is not None and not about.isdisjoint(terms(said.text[: verb.start() + 1]))
    return begins or _is_personal(said)


def _earlier(reversal: Reversal, text: str) -> Iterator[int]:
    """Yield a score for each earlier reversal that dropped or changed the thing that is now back."""
    around = {*reversal.about, *reversal.beside}
    for each in find_reversals(text):
        theirs = {*each.about, *each.beside}
        if each.kind == BACK or not set(each.instead).isdisjoint(reversal.instead):
            continue
        if set(reversal.instead) <= set(each.dropped) and (not around or not theirs or around & theirs):
            yield len(each.dropped) + len(around & theirs)
        elif not each.dropped and around & theirs:
            yield len(around & theirs)


def _is_about(reversal: Reversal, said: Sentence, known: Set[str]) -> bool:
    """Return whether the sentence has the head of the reversal's topic and more than half of its terms."""
    about = set(reversal.about)
    if about <= known:
        return True
    if reversal.about[-1] not in known or len(about & known) <= HALF * len(about):
        return False
    # “The reporting database” is not “the main database”.
    before: list[str] = []
    for start, end, held in said.words:
        if reversal.about[-1] in held and not about.issuperset(before):
            return False
        before = held if telling_terms(said.text[start:end]) else []
    return True


def _is_stated(wanted: Sequence[str], said: Sentence) -> bool:
    """Return whether the sentence states these terms: a verb or a colon comes shortly before one."""
    words = said.words
    return any(
        _STATING.search(said.low, words[max(0, number - NEAR)][0], start) is not None
        for number, (start, _, held) in enumerate(words)
        if not set(held).isdisjoint(wanted)
    )


def _is_personal(said: Sentence) -> bool:
    """Return whether the sentence is personal, or has few words."""
    return SPEAKER.search(said.low) is not None or len(said.words) <= FEW_WORDS


def _is_head(term: str, said: Sentence) -> bool:
    """Return whether the term is not just part of another name: “the dentist is on”, not “the dentist bill is”."""
    words = [*said.words, (len(said.low), len(said.low), [])]
    return any(
        said.low[end:start].strip()
        or not telling_terms(said.text[start:to].strip("0123456789"))
        or _STATING.match(said.low, start)
        for (_, end, held), (start, to, _) in pairwise(words)
        if term in held
    )


def _names(text: str) -> list[str]:
    """Return the names in a sentence, except its first word."""
    names = [found[0].rstrip(".-") for found in _NAME.finditer(text) if found.start() > 0]
    return [name for name in names if telling_terms(name)]


def _sort_of(phrase: str) -> str | None:
    """Return the sort of the value in a phrase: a key of `VALUES`, or `NAME`."""
    low = lowered(phrase)
    return next((sort for sort, form in _values().items() if form.search(low)), NAME if _NAME.search(phrase) else None)


def _differs(sort: str, new: str, said: str) -> bool:
    """Return whether the sentence lacks the new value and gives another one of this sort."""
    held, now = ({found[0].rstrip(".,") for found in _values()[sort].finditer(each)} for each in (said, lowered(new)))
    return bool(held - now) and bool(now - held)


@cache
def _values() -> dict[str, re.Pattern[str]]:
    return {sort: re.compile(spaced(rf"\b(?:{form})")) for sort, form in VALUES.items()}
