"""Tokens of one sentence, with its times: the input of phrases and clauses."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from pieria.language.commonwords import TIMES
from pieria.language.packs import words

LONGEST = 100
"""Words of a sentence; a longer one is no plain statement."""


class Token(NamedTuple):
    text: str
    low: str
    start: int
    end: int
    quoted: bool = False


_TOKEN = re.compile(
    r"""
    (?P<marked> `[^`\n]{1,80}` | "[^"\n]{1,60}" | “[^“”\n]{1,60}” )
  | (?P<own> (?<=\w) ' (?: s | re | m | ve | ll | d )\b | (?<=s) ' (?=\s) )
  | [a-z]{1,12}n't\b
  | \b(?: mrs? | ms | dr | prof | st )\.(?=\s)
  | [@$€£]? \w+ (?: [-./+&@:] \w+ | ,(?=\d{3}\b) \d{3} | ' (?! (?: s | re | m | ve | ll | d )\b ) \w+ )*
    (?: \+\+ | [#%] )?
  | [^\s]
    """,
    re.VERBOSE,
)
_MONTHS = (
    "january|february|march|april|may|june|july|august|september|october|november|december"
    "|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"
)
_DAYS = "(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekdays|weekends"
_WHEN = re.compile(
    rf"""
    (?: \b(?:every|each|next|last|this|early|mid|late|the)\s+ (?:other\s+|second\s+)? )?\b(?: {_DAYS} )\b
      (?: \s+(?:morning|afternoon|evening|night)s? )?
  | \b\d{{1,2}} : \d{{2}} (?: \s?[ap]m )?\b | \b\d{{1,2}} \s? [ap]m\b
  | \b(?: noon | midnight | daily | weekly | monthly )\b
  | \b(?:every|each)\s+(?:other\s+)?(?:day|week|month|quarter|year|morning|evening|night|hour)\b
  | \b(?: (?:early|mid|late)[ -] )?(?:{_MONTHS})\b (?: \s+\d{{1,2}}(?:st|nd|rd|th)?\b )? (?: ,?\s+(?:19|20)\d\d\b )?
  | \b\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?(?:{_MONTHS})\b (?: ,?\s+(?:19|20)\d\d\b )?
  | (?<=in\s)(?:19|20)\d\d\b | (?<=since\s)(?:19|20)\d\d\b | (?<=until\s)(?:19|20)\d\d\b | (?<=from\s)(?:19|20)\d\d\b
  | (?<=to\s)(?:19|20)\d\d\b | (?<=by\s)(?:19|20)\d\d\b
    """,
    re.VERBOSE,
)
_JOINING = frozenset(("at", "on", "in", "of", ",", "the", "and"))


@cache
def closed_class() -> frozenset[str]:
    """Return the words that are not part of a name or noun."""
    keys = (
        *("determiners", "denying", "possessives", "pronouns", "prepositions", "conjunctions", "subordinators"),
        *("relatives", "be", "have", "do", "future", "modals", "adverbs"),
    )
    return frozenset().union(*(words("words", key) for key in keys))


def _is_manner(word: str) -> bool:
    return word.endswith("ly") and len(word) > 5 and word not in ("family", "assembly", "monopoly", "anomaly", "supply")


class Sentence:
    """The tokens of a sentence, and which of them belong to a time."""

    def __init__(self, text: str, low: str, times: Iterable[tuple[int, int]] = ()) -> None:
        self.text = text
        self.tokens = [
            Token(text[found.start() : found.end()], found[0], *found.span(), found["marked"] is not None)
            for found in _TOKEN.finditer(low)
        ]
        self.low = [token.low for token in self.tokens]
        self._timed = self._times(low, times)

    def __len__(self) -> int:
        return len(self.tokens)

    def at(self, place: int) -> str:
        """Return the word in lower case; empty after the end."""
        return self.low[place] if place < len(self.low) else ""

    def _times(self, low: str, times: Iterable[tuple[int, int]]) -> list[bool]:
        spans = sorted([*times, *(found.span() for found in _WHEN.finditer(low) if self._is_time(found))])
        timed = [False] * len(self.tokens)
        begun, reaches = 0, -1
        for at, token in enumerate(self.tokens):
            while begun < len(spans) and spans[begun][0] <= token.start:
                reaches, begun = max(reaches, spans[begun][1]), begun + 1
            inside = token.end <= reaches
            opens = inside and token.low in words("words", "prepositions") and not (at and timed[at - 1])
            timed[at] = inside and not opens
        return timed

    def _is_time(self, found: re.Match[str]) -> bool:
        """Return whether the match is a time: may and march are months only with a capital."""
        word = found[0].split()[0]
        return not (word in ("may", "march", "mar", "sun") and self.text[found.start()].islower())

    def is_time(self, place: int) -> bool:
        return place < len(self._timed) and self._timed[place]

    def time_at(self, place: int) -> tuple[str, int]:
        """Return the time that begins here, and the place after it. `Tuesday at 10:30` is one time."""
        end = place
        while self.is_time(end) or (self.at(end) in _JOINING and self.is_time(end + 1)):
            end += 1
        return self.span(place, end), end

    def span(self, first: int, after: int) -> str:
        """Return the text between two tokens, on one line."""
        text = self.text[self.tokens[first].start : self.tokens[after - 1].end] if first < after else ""
        return " ".join(text.split())

    def is_adverb(self, place: int) -> bool:
        word = self.at(place)
        if word in words("words", "denying"):
            return False
        return word in words("words", "adverbs") or (_is_manner(word) and self.tokens[place].text.islower())

    def is_name(self, place: int) -> bool:
        if self.tokens[place].quoted:
            return True
        if not self.tokens[place].text[:1].isupper():
            return any(map(str.isupper, self.tokens[place].text))
        return place > 0 or self.low[0] not in closed_class()

    def is_nominal(self, place: int) -> bool:
        """Return whether the word may be part of a name or noun: an adjective, noun, number or name."""
        if place >= len(self.tokens):
            return False
        token = self.tokens[place]
        if token.quoted:
            return True
        if not any(map(str.isalnum, token.text)) or token.low[0] == "'" or token.low.endswith("n't"):
            return False
        if token.low not in closed_class():
            return not (_is_manner(token.low) and token.text.islower())
        named = place > 0 and token.text[0].isupper() and len(token.text) > 1 and not self.text.isupper()
        return named and token.low not in TIMES
