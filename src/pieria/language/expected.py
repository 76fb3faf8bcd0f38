"""What an answer must contain: "how much?" needs a number, "who?" a person, "what is it called?" a name.

Recall uses this to reject texts on the topic that do not answer: "The dog barks" is close to "What is the dog's
name?". Rules are English; questions in other languages expect nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from pieria.language.analyser import STOP_WORDS, terms
from pieria.language.commonwords import COMMON, TIMES
from pieria.language.packs import words

_READ = 400
"""Characters read at the beginning of a question."""
_ASKED = (
    ("phone", r"\b(?:tele)?phone number|\bmobile number|\bnumber of \w+ phone|\biban\b"),
    ("email", r"\be-?mail\b.{0,9}\baddress|\be-?mail\b"),
    ("code", r"\b(?:number|postcode|zip|code|password|pin|plate)\b"),
    ("name", r"\b(?:names?|called|surname)\b"),
    (
        "moment",
        r"\bwhen\b|\bwhat time\b|\b(?:what|which) (?:date|day|month|year|hour|half hour|weekday)\b"
        r"|\bhow (?:soon|late|often)\b|\bat what hour\b|\bdate of\b",
    ),
    (
        "amount",
        r"\bhow (?:much|many|old|long|far|deep|tall|big|heavy|fast|high|large|wide|hot|cold|loud)\b|\bcosts?\b"
        r"|\b(?:what|which) (?:\w+ )?(?:price|fee|rate|fare|dose|size|age|percentage|share|amount|budget|weight|height"
        r"|salary|rent|wage|version)\b",
    ),
    ("person", r"\bwho(?:m|se)?\b"),
    ("place", r"\bwhere\b|\bwhich (?:city|town|country|street)\b"),
    (
        "which",
        r"\b(?:which|what) (?:(?:kind|sort|type) of )?(?!(?:is|are|was|were|do|does|did|will|would|can|could|has|have"
        r"|had|should|must|may|might)\b)(?P<thing>\w+(?: \w+)?)",
    ),
)
"""Expected kinds and the patterns that ask for them. The first match counts."""
_QUESTIONS = tuple((what, re.compile(pattern, re.IGNORECASE)) for what, pattern in _ASKED)
_OF_WHAT_WAS = re.compile(r"\b(?:did|was|were|had|has|have)\b", re.IGNORECASE)
_AMOUNTS = words("questions", "numbers")
_MOMENTS = TIMES | _AMOUNTS | words("questions", "times")
_PERSONS = words("questions", "people")
_PLACED = words("questions", "before_places")
_WHERE_NAMES_ARE_PLACES = frozenset({"in", "at", "from", "near", "to", "under"})
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_POSSESSIVE = re.compile(r"['’]s$")
_PHONE = re.compile(r"\d[\d ()/-]{2,}\d")


@dataclass(frozen=True, slots=True)
class Expected:
    """`own` are the terms of the question, which never count as an answer; `thing` those of what "which …" asks for."""

    what: str
    own: frozenset[str]
    thing: frozenset[str] = frozenset()

    def is_in(self, text: str) -> bool:
        """Return whether the text holds the expected kind in words that are not in the question."""
        return _HOLDS[self.what](self, text)


def expected(question: str) -> Expected | None:
    """Return what an answer must contain, or None if unknown.

    A question about a past moment expects nothing: the time of the text may answer it.
    """
    beginning = question[:_READ]
    for what, pattern in _QUESTIONS:
        found = pattern.search(beginning)
        if found is None:
            continue
        if what == "moment" and _OF_WHAT_WAS.search(beginning):
            return None
        thing = found["thing"] if what == "which" else ""
        return Expected(what, _telling(beginning), _telling(thing))
    return None


def _telling(text: str) -> frozenset[str]:
    return frozenset(terms(text)) - STOP_WORDS


def _new_words(of: Expected, text: str) -> Iterator[str]:
    return (word[0] for word in _WORD.finditer(text) if of.own.isdisjoint(terms(word[0])))


def _has_digits(of: Expected, text: str) -> bool:
    return any(any(map(str.isdigit, word)) for word in _new_words(of, text))


def _has(words: frozenset[str], of: Expected, text: str) -> bool:
    """Return whether the text has one of the words, in singular or plural."""
    return any(
        not words.isdisjoint((word.casefold(), word.casefold().removesuffix("s"))) for word in _new_words(of, text)
    )


def _names(of: Expected, text: str) -> Iterator[str | None]:
    """Yield the word before each name that is not in the question."""
    before: str | None = None
    end = 0
    for word in _WORD.finditer(text):
        opens = end == 0 or any(mark in text[end : word.start()] for mark in ".!?:")
        end = word.end()
        if _is_name(of, word[0], text[end : end + 2], opens=opens):
            yield before
        before = word[0].casefold()


def _is_name(of: Expected, word: str, behind: str, *, opens: bool) -> bool:
    """Return whether the word is a name. `opens` means that it begins a sentence, where every word has a capital."""
    low = _POSSESSIVE.sub("", word.casefold())
    if not word[0].isupper() or len(low) < 2 or low in TIMES:
        return False
    held = frozenset(terms(word))
    if held <= STOP_WORDS or not held.isdisjoint(of.own):
        return False
    is_certain = not opens or low != word.casefold() or behind[1:].isupper()
    return is_certain or low not in COMMON


def _is_which(of: Expected, text: str) -> bool:
    """Return whether the text says which one. Repeating the thing asked for is not enough."""
    if of.thing.isdisjoint(terms(text)):
        return True
    return any(True for _ in _names(of, text)) or _has_digits(of, text)


_HOLDS: Mapping[str, Callable[[Expected, str], bool]] = {
    "phone": lambda of, text: _PHONE.search(text) is not None,
    "email": lambda of, text: "@" in text,
    "code": _has_digits,
    "name": lambda of, text: any(before not in _WHERE_NAMES_ARE_PLACES for before in _names(of, text)),
    "moment": lambda of, text: _has_digits(of, text) or _has(_MOMENTS, of, text),
    "amount": lambda of, text: _has_digits(of, text) or _has(_AMOUNTS, of, text),
    "person": lambda of, text: any(True for _ in _names(of, text)) or _has(_PERSONS, of, text),
    "place": lambda of, text: any(word[0].casefold() in _PLACED for word in _WORD.finditer(text)),
    "which": _is_which,
}
