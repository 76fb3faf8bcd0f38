"""How recall reads a question: its terms and their order, the times it names, and what kind of answer it wants.

Exists so that everything that is decided by the question alone is decided once, before any store is asked. Which terms
weigh what, and whose names are authors of the bank, is known only with the bank.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from itertools import pairwise
from typing import NamedTuple

from pieria.recall.evidence import Span
from pieria.recall.query_terms import CONSIDERED, considered_terms
from pieria.record.analyser import STOP_WORDS, QueryTerm, phrases, query_terms, terms
from pieria.record.asks import asks
from pieria.record.entities import entities
from pieria.record.expected import Expected, expected
from pieria.record.factnames import folded
from pieria.record.index_terms import compared
from pieria.record.overviews import subject
from pieria.record.time import micros
from pieria.record.timewords import timewords
from pieria.store.parts import Run

OVERVIEWS = frozenset({"order", "summary"})
OF_FACTS = frozenset({"when", "where", "who", "count", "yes-no"})
FULLY, PARTLY = 1.0, 0.5
"""How far a request asks for something to be done, and how far a question does that is neither request nor of facts."""
_NAMES, _WORDS, _LONGEST_NAME = 20, 60, 3
"""Names that are looked for, words of the beginning that may be some, and words that one may have."""
_EDGES = re.compile(r"^\W+|(?<!\W)(?:\W*['’][sS])?\W*$")
"""Tried only behind a letter: at each mark of a long run it would read the rest of the run."""
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
_OF_BEFORE = re.compile(
    r"""\b(?: before | used \s to | previous(?:ly)? | former(?:ly)? | original(?:ly)? | earlier | at \s first
      | initial(?:ly)? | in \s the \s past | back \s then | no \s longer | prior \s to | history | over \s time | until
      | (?:switch|chang|mov|migrat|replac|revers|overturn)(?:e|ed|es|ing)? )\b""",
    re.VERBOSE | re.IGNORECASE,
)
_PAST = re.compile(r"\b(?:did|was|were|had)\b", re.IGNORECASE)
_OWN = re.compile(r"\b(?:i|me|my|mine|we|us|our|ours)\b", re.IGNORECASE)


class Reading(NamedTuple):
    """`text` is the question as it was asked; `considered` and `beyond` are the terms as `asking` has them, `order` all
    of them as they follow each other, and `pairs` the neighbours at its beginning of which at least one tells
    something."""

    text: str
    about: str
    """The same without words that only ask to be told of it: what is looked for and embedded."""
    considered: list[str]
    beyond: list[str]
    order: list[str]
    pairs: frozenset[Run]
    quoted: tuple[Run, ...]
    """The terms of each passage in quotes that has several."""
    now: int
    zone: tzinfo
    """That of whoever asks."""
    spans: tuple[Span, ...]
    named: tuple[frozenset[str], ...]
    """The terms of each thing that is named by rules of spelling."""
    labels: tuple[str, ...]
    fact_keys: tuple[str, ...]
    """Whatever in it may be a name, as labels and as facts compare them."""
    wants_done: float
    is_overview: bool
    is_when: bool
    may_heed_rules: bool
    """Rules bind whoever asks for something or in the first person, but not what is asked of what was."""
    looks_back: bool = False
    """It asks for what was, and is no longer."""
    expects: Expected | None = None
    """What an answer has to hold."""
    is_past: bool = False
    """It is worded in the past."""

    @property
    def runs(self) -> tuple[Run, ...]:
        """All runs of terms of which it matters whether they stand in a text."""
        return tuple(dict.fromkeys([*self.pairs, *self.quoted]))


def asks_of_before(question: str) -> bool:
    """Return whether a question asks for what was, and may be no longer."""
    return _OF_BEFORE.search(question[:_READ]) is not None


def looked_for(text: str) -> list[str]:
    """The terms that a question may be looked up by, for whoever reads nothing else of it."""
    return _considered(query_terms(text), _quoted(text[:_READ]))[0]


def reading(text: str, now: datetime, zone: tzinfo = UTC) -> Reading:
    """`zone` says whose days are meant by "yesterday"."""
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
    # Whoever quotes what has idle words alone looks for these.
    idle = {term for passage in quoted if STOP_WORDS.issuperset(passage) for term in passage}
    return considered_terms([word._replace(stop=word.stop and word.term not in idle) for word in words])


def without_names(text: str, names: frozenset[str]) -> str | None:
    """The question without the words that consist of these terms; None where it has none of them, or nothing else."""
    words = text[:_READ].split()
    kept = [word for word in words if not (held := frozenset(terms(_EDGES.sub("", word)))) or not held <= names]
    if len(kept) == len(words) or STOP_WORDS.issuperset(terms(" ".join(kept))):
        return None
    return " ".join(kept) + text[_READ:]


def without_named(read: Reading) -> list[str]:
    """The question without all that it names, if it names anything: likely what it asks of whoever is named."""
    apart = without_names(read.about, frozenset().union(*read.named) - STOP_WORDS)
    return [] if apart is None else [apart]


def _pairs(order: Sequence[str]) -> frozenset[Run]:
    return frozenset(pair for pair in pairwise(order) if not STOP_WORDS.issuperset(pair))


def _quoted(text: str) -> tuple[Run, ...]:
    return tuple(dict.fromkeys(tuple(phrase) for phrase in phrases(text) if len(phrase) > 1))


def _phrases(text: str) -> list[str]:
    """Words that stand together, up to as many as a name has, but for those of common words alone."""
    words = [_EDGES.sub("", word) for word in text.split()[:_WORDS]]
    telling = [any(term not in STOP_WORDS for term in terms(word)) for word in words]
    return [
        " ".join(words[start : start + length])
        for length in range(1, _LONGEST_NAME + 1)
        for start in range(len(words) - length + 1)
        if telling[start] and telling[start + length - 1]
    ]


def _spans(text: str, now: datetime, zone: tzinfo) -> list[Span]:
    """The times that the question names, relative ones as seen now."""
    return [
        Span(
            None if word.since is None else micros(word.since),
            None if word.until is None else micros(word.until),
            word.yearless,
            word.relative and not word.yearless,
        )
        for word in timewords(text, now=now, zone=zone)
    ]
