"""Recall: a query, its hits, and the reasons for each. Any past day can be queried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pieria.doors.http.schemas import several, text
from pieria.doors.web.page import Answer, Asked, Page, Shown, View, day
from pieria.doors.web.words import asked_terms
from pieria.doors.web.zones import END, LAST
from pieria.errors import InputError
from pieria.record.memory import KINDS, LISTED_KINDS

if TYPE_CHECKING:
    from pieria import Hit

SHOWN, LATELY = 10, 5
REASONS: Mapping[str, Mapping[str, str]] = {
    "words": {
        "lexical": "its words match, with those of its neighbours",
        "cover": "it contains much of the question",
        "phrase": "words are next to each other as in the question",
        "quoted": "it contains the quoted words",
        "thin": "it matches, but says little",
    },
    "meaning": {
        "dense": "its best passage has a similar meaning",
        "window": "with its neighbours, its meaning is similar",
        "matter": "without the speakers' names, its meaning is similar",
    },
    "context": {
        "session": "its session matches",
        "reply": "it follows a question that matches",
        "opener": "it is at the beginning of its session",
        "spread": "its session has better turns",
    },
    "who said it": {
        "author": "the question names its author",
        "agent": "an agent said it",
        "digest": "it is a summary, and none was asked for",
        "echo": "it only repeats the question",
    },
    "time": {
        "date": "it was said at a time that the question names",
        "then": "it was said at that time, counted back from now",
        "when": "it mentions a time, and the question asks for one",
        "recency": "it is new",
        "validity": "it states when it became valid",
    },
    "ties": {
        "entity": "it names what the question names",
        "fact": "a fact drawn from it names what the question names",
        "link": "a memory linked to it matches",
        "overturned": "a later memory says that it is no longer valid",
        "overturns": "it says that a matching memory is no longer valid",
    },
    "rules": {
        "rule": "it is a standing rule",
        "rule_fit": "it is a rule for this task",
        "wish_fit": "it is a wish about this task",
    },
    "worth": {"importance": "it was marked as important", "usage": "it was reviewed or rewarded"},
}
"""Features of recall by group, in words. Groups are in the order of their colours."""
SAID = {feature: says for group in REASONS.values() for feature, says in group.items()} | {
    "rerank": "the reranker's score, which sets its rank"
}
FILTERS = {
    "kinds": several("Of these kinds.", *KINDS),
    "tags": {**several("With any of these tags."), "commas": True},
    "author": text("Said by."),
    "place": text("Kept there."),
    "since": day("Said on that day or later."),
    "until": day("Said on that day or earlier.", END),
    "known_at": day("As known on that day.", LAST),
}
TAKES = {"q": text("The question."), "cursor": text("The cursor of the previous page."), **FILTERS}


@dataclass(frozen=True, slots=True)
class Part:
    """A group of reasons: its share of the score and the start of its bar, both from 0 to 1."""

    name: str
    number: int
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class Reason:
    feature: str
    value: float
    weight: float

    @property
    def worth(self) -> float:
        return self.weight * self.value

    @property
    def says(self) -> str:
        return SAID[self.feature]


@dataclass(frozen=True, slots=True)
class Reasoned:
    """A hit as shown: the groups that support it as a bar, and every feature as a row."""

    hit: Hit
    parts: tuple[Part, ...]
    reasons: tuple[Reason, ...]

    @property
    def told(self) -> str:
        named = ", ".join(f"{part.name} {100 * part.width:.0f}" for part in self.parts)
        return (
            f"Score {100 * self.hit.score:.0f} of 100: {named}" if named else f"Score {100 * self.hit.score:.0f} of 100"
        )


def reasoned(hit: Hit, weights: Mapping[str, float]) -> Reasoned:
    """Return a hit with its reasons. The groups that support it share the length of its score."""
    reasons = tuple(Reason(name, value, weights.get(name, 0.0)) for name, value in hit.why.items())
    worth = {
        name: sum(max(0.0, each.worth) for each in reasons if each.feature in group) for name, group in REASONS.items()
    }
    whole = sum(worth.values())
    parts, start = [], 0.0
    for number, (name, value) in enumerate(worth.items(), 1):
        if whole and value:
            width = hit.score * value / whole
            parts.append(Part(name, number, start, width))
            start += width
    return Reasoned(hit, tuple(parts), tuple(sorted(reasons, key=lambda each: -abs(each.worth))))


def _recalled(asked: Asked) -> Answer:
    given = asked.again
    query, cursor = given.pop("q", ""), given.pop("cursor", None)
    bank = asked.bank
    sieve = {name: asked.moments.get(name, given[name]) for name in FILTERS if name in given}
    begun = bank.changes(0, 1)
    values: dict[str, Any] = {
        "q": query,
        "given": given,
        "kinds": KINDS,
        "first_day": asked.zone.day(begun[0].at) if begun else None,
        "today": asked.today,
    }
    if not query.strip() and cursor is not None:
        raise InputError("cursor", "no value without a question", cursor)
    if not query.strip():
        lately = bank.list(limit=LATELY, **{"kinds": LISTED_KINDS, **sieve})
        return Shown("recall/recall.html", {**values, "found": None, "lately": lately}, part="answer")
    # Looking at a memory does not count as a use.
    found = bank.recall(query, k=SHOWN, cursor=cursor, counted=False, time_zone=asked.zone.name, **sieve)
    hits = [reasoned(hit, found.plan["weights"]) for hit in found]
    more = found.cursor and asked.path("recall", q=query, cursor=found.cursor, **given)
    spoke = {(part.number, part.name) for hit in hits for part in hit.parts}
    values |= {
        "found": found,
        "reasons": sorted(spoke),
        "hits": hits,
        "terms": asked_terms(query),
        "more": more,
        "goes_on": cursor is not None,
    }
    return Shown("recall/recall.html", values, part="answer")


PAGE = Page(
    name="recall",
    title="Recall",
    key="r",
    about="ask, and see why each answer was found",
    views=(View("GET recall", _recalled, TAKES),),
    css=("recall/recall.css",),
    scripts=("recall/recall.js",),
)
