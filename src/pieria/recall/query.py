"""How recall reads a query: its terms and their order, the times it names, and the kind of answer it wants.

This uses the query alone and runs once, before any store is asked. The weights of terms, and which names are authors,
depend on the bank and do not belong here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from itertools import pairwise
from typing import Any, NamedTuple

from pieria.language.analyser import STOP_WORDS, QueryTerm, phrases, query_terms, terms
from pieria.language.asks import asks, subject
from pieria.language.entities import entities
from pieria.language.expected import Expected, expected
from pieria.language.index_terms import compared
from pieria.language.timewords import timewords
from pieria.recall.bm25 import Corpus
from pieria.recall.walk import LEFT_OUT
from pieria.record.fact import folded
from pieria.record.time import micros
from pieria.store.parts import Run

Key = tuple[int, int]
"""(index of the source, row in it)."""
TERMS_LIMIT = 64
"""Terms to look up; of a longer query, the rarest of those considered."""
CONSIDERED = 512
"""Terms to count, so that the rarest can be chosen."""
NAMED = 100
"""Terms left out that `plan` names; it counts them all."""
OVERVIEWS = frozenset({"order", "summary"})
OF_FACTS = frozenset({"when", "where", "who", "count", "yes-no"})
FULLY, PARTLY = 1.0, 0.5
"""How far a request asks for an action; and how far a query does that is neither a request nor about facts."""
_NAMES, _WORDS, _LONGEST_NAME = 20, 60, 3
"""Names to look for, words of the beginning to search for them, and words in one name."""
_EDGES = re.compile(r"^\W+|(?<!\W)(?:\W*['’][sS])?\W*$")
"""Anchored behind a letter: otherwise it would rescan a long run of marks at every mark."""
_READ = 4_000
"""Characters of the beginning that decide the kind of query."""
_OF_WHAT_WAS = re.compile(
    r"""\b(?: (?:did|had|was|were|have|has) \s (?:i|we|you|my|our)
      | (?:i|we|you) \s (?:said|told|asked|mentioned|discussed|talked|agreed|decided|chose|planned|used|shared)
      | (?:our|these|those|previous|earlier|past) \s (?:conversations?|chats?|discussions?|sessions?)
      | (?:across|throughout|over) \s (?:all|our|my|the)
      | ago | yesterday | last \s (?:night|week|month|year|time) )\b""",
    re.VERBOSE | re.IGNORECASE,
)
_OF_BEFORE = re.compile(
    r"""\b(?: before | used \s to | previous(?:ly)? | former(?:ly)? | original(?:ly)? | earlier | at \s first
      | initial(?:ly)? | in \s the \s past | back \s then | no \s longer | prior \s to | history | over \s time | until
      | (?:switch|chang|mov|migrat|replac|revers|overturn)(?:e|ed|es|ing)? )\b""",
    re.VERBOSE | re.IGNORECASE,
)
_PAST = re.compile(r"\b(?:did|was|were|had)\b", re.IGNORECASE)
_OWN = re.compile(r"\b(?:i|me|my|mine|we|us|our|ours)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Span:
    """A time that the query names, in microseconds; None for an open end.

    A `yearly` span matches in any year. A `relative` span was counted from now.
    """

    since: int | None
    until: int | None
    yearly: bool = False
    relative: bool = False

    @property
    def is_counted(self) -> bool:
        """Return whether it is a closed span that was counted from now, such as "last week"."""
        return self.relative and self.since is not None and self.until is not None


class Stated(NamedTuple):
    """When a fact held, in microseconds, and whether another value replaced it. Only for a memory that states
    one fact."""

    since: int | None
    until: int | None
    is_replaced: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """The parsed query.

    `known` weighs its terms. `wants_done` is how far it asks for an action or advice, 0 to 1, instead of the past.
    """

    known: Corpus
    now: int = 0
    """The moment of asking, in microseconds."""
    spans: Sequence[Span] = ()
    entities: Sequence[frozenset[str]] = ()
    """The terms of each entity that the query names, without authors."""
    wants_done: float = 0.0
    is_overview: bool = False
    is_when: bool = False
    looks_back: bool = False
    """It asks for something that no longer holds."""
    expects: Expected | None = None
    """The kind of value that an answer must hold."""
    is_past: bool = False
    """It is worded in the past tense."""
    heeds_rules: bool = False
    """Standing rules apply where the speaker asks for something, in the first person or as a request."""


def considered_terms(found: Sequence[QueryTerm]) -> tuple[list[str], list[str]]:
    """Return (terms to look up, terms over the limit). Stop words count only if there are no other terms."""
    telling = [word.term for word in found if not word.stop] or [word.term for word in found]
    return telling[:CONSIDERED], telling[CONSIDERED:]


def rarest(terms: Sequence[str], frequencies: Mapping[str, int]) -> list[int]:
    """Return the frequency of each term in order; `LEFT_OUT` for terms too frequent to be looked up.

    An unknown term stays: its look-up is free, and it adds to the weight of the query.
    """
    held = sorted((term for term in terms if frequencies[term]), key=lambda term: (frequencies[term], term))
    left = set(held[TERMS_LIMIT:])
    return [LEFT_OUT if term in left else frequencies[term] for term in terms]


def truncated(terms: Sequence[str], frequencies: Sequence[int], beyond: Sequence[str]) -> dict[str, Any]:
    """Return the plan's entry on the terms that were not looked up; empty if all were."""
    left = [term for term, frequency in zip(terms, frequencies, strict=True) if frequency == LEFT_OUT]
    left += beyond
    return {"terms": {"left_out": len(left), "among_them": left[:NAMED]}} if left else {}


class Reading(NamedTuple):
    """A parsed query. `considered` and `beyond` are terms for the look-up and terms over the limit. `order` are all
    terms in sequence. `pairs` are adjacent terms near its beginning, without pairs of stop words."""

    text: str
    about: str
    """The text without words that only ask to hear about a topic. It is searched for and embedded."""
    considered: list[str]
    beyond: list[str]
    order: list[str]
    pairs: frozenset[Run]
    quoted: tuple[Run, ...]
    """The terms of each quoted passage with more than one term."""
    now: int
    zone: tzinfo
    """The time zone of the asker."""
    spans: tuple[Span, ...]
    named: tuple[frozenset[str], ...]
    """The terms of each name, recognized by spelling."""
    labels: tuple[str, ...]
    fact_keys: tuple[str, ...]
    """Anything that may be a name, in the form that labels use and in the form that facts use."""
    wants_done: float
    is_overview: bool
    is_when: bool
    may_heed_rules: bool
    """Rules apply to requests and to queries in the first person, but not to queries about the past."""
    looks_back: bool = False
    """It asks for something that no longer holds."""
    expects: Expected | None = None
    """The kind of value that an answer must hold."""
    is_past: bool = False
    """It is worded in the past tense."""

    @property
    def runs(self) -> tuple[Run, ...]:
        """Return all runs of terms to search for in the texts."""
        return tuple(dict.fromkeys([*self.pairs, *self.quoted]))


def asks_of_before(question: str) -> bool:
    """Return whether a query asks for something that may no longer hold."""
    return _OF_BEFORE.search(question[:_READ]) is not None


def looked_for(text: str) -> list[str]:
    """Return the terms to look a query up by, without reading it further."""
    return _considered(query_terms(text), _quoted(text[:_READ]))[0]


def reading(text: str, now: datetime, zone: tzinfo = UTC) -> Reading:
    """Read a query. `zone` decides the days of "yesterday"."""
    beginning = text[:_READ]
    kinds = asks(beginning)
    is_overview = bool(kinds & OVERVIEWS)
    about = (subject(beginning) if is_overview and len(text) <= _READ else None) or text
    words = query_terms(about)
    quoted = _quoted(beginning)
    considered, beyond = _considered(words, quoted)
    names = [entity.name for entity in entities(beginning)][:_NAMES]
    maybe = [*names, *_phrases(beginning)]
    is_of_past = is_overview or _OF_WHAT_WAS.search(beginning) is not None
    wanted = 0.0 if is_of_past else FULLY if "request" in kinds else 0.0 if kinds & OF_FACTS else PARTLY
    return Reading(
        text=text,
        about=about,
        considered=considered,
        beyond=beyond,
        order=[word.term for word in words],
        pairs=_pairs(terms(about[:_READ])[:CONSIDERED]),
        quoted=quoted,
        now=micros(now),
        zone=zone,
        spans=tuple(_spans(beginning, now, zone)),
        named=tuple(dict.fromkeys(held for name in names if (held := frozenset(terms(name))))),
        labels=tuple(dict.fromkeys(compared(name) for name in maybe)),
        fact_keys=tuple(dict.fromkeys(folded(name) for name in maybe)),
        wants_done=wanted,
        is_overview=is_overview,
        is_when="when" in kinds,
        looks_back=asks_of_before(beginning),
        expects=expected(beginning),
        is_past=_PAST.search(beginning) is not None,
        may_heed_rules=not is_of_past and (wanted == FULLY or _OWN.search(beginning) is not None),
    )


def _considered(words: Sequence[QueryTerm], quoted: Sequence[Run]) -> tuple[list[str], list[str]]:
    # Stop words count if a quoted passage consists of stop words alone.
    idle = {term for passage in quoted if STOP_WORDS.issuperset(passage) for term in passage}
    return considered_terms([word._replace(stop=word.stop and word.term not in idle) for word in words])


def without_names(text: str, names: frozenset[str]) -> str | None:
    """Return the query without the words made of these terms; None if it has none, or nothing else."""
    words = text[:_READ].split()
    kept = [word for word in words if not (held := frozenset(terms(_EDGES.sub("", word)))) or not held <= names]
    if len(kept) == len(words) or STOP_WORDS.issuperset(terms(" ".join(kept))):
        return None
    return " ".join(kept) + text[_READ:]


def without_named(read: Reading) -> list[str]:
    """Return the query without all names, if it has any: likely what it asks about them."""
    apart = without_names(read.about, frozenset().union(*read.named) - STOP_WORDS)
    return [] if apart is None else [apart]


def _pairs(order: Sequence[str]) -> frozenset[Run]:
    return frozenset(pair for pair in pairwise(order) if not STOP_WORDS.issuperset(pair))


def _quoted(text: str) -> tuple[Run, ...]:
    return tuple(dict.fromkeys(tuple(phrase) for phrase in phrases(text) if len(phrase) > 1))


def _phrases(text: str) -> list[str]:
    """Return runs of words up to the length of a name, without those that begin or end with a stop word."""
    words = [_EDGES.sub("", word) for word in text.split()[:_WORDS]]
    telling = [any(term not in STOP_WORDS for term in terms(word)) for word in words]
    return [
        " ".join(words[start : start + length])
        for length in range(1, _LONGEST_NAME + 1)
        for start in range(len(words) - length + 1)
        if telling[start] and telling[start + length - 1]
    ]


def _spans(text: str, now: datetime, zone: tzinfo) -> list[Span]:
    """Return the times that the query names, relative ones counted from `now`."""
    return [
        Span(
            None if word.since is None else micros(word.since),
            None if word.until is None else micros(word.until),
            word.yearless,
            word.relative and not word.yearless,
        )
        for word in timewords(text, now=now, zone=zone)
    ]
