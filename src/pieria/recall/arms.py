"""The arms: each looks for candidates in its own way, and none can veto what another found.

A look-up goes through an index and takes no more than its quota; nothing is scored here but to choose within a quota.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from pieria.recall.evidence import Span
from pieria.recall.part import Part
from pieria.recall.ranking import Corpus, ranked
from pieria.recall.reading import Reading
from pieria.record.analyser import terms
from pieria.record.fact import FactQuery
from pieria.record.filter import ANY_TIME, Filter
from pieria.record.link import End
from pieria.store.protocol import FactSpan, Kind

QUOTA = 20
"""Candidates from each arm; more where more hits are asked for."""
FEWER = 2
"""By windows so many times fewer: what is near by its window is mostly near by itself, or beside what is."""
REACH, LENDING = 2, 3
"""How far from what was found a neighbour is a candidate itself, and how far from a candidate one lends it words."""
RULES_SEEN, RULES = 400, 20
OPENERS, OPENED = 10, 10
"""Of an overview's best sessions so many are opened, so many turns of people in each."""
FACTS_SEEN = 500
RULE, WISHES = ("rule",), ("preference", "profile")
PASSAGE: Kind = "passage"


@dataclass
class Look:
    """One question's look-ups: how it was read, how its terms weigh, and how many candidates an arm may bring.

    `first` says that candidates are chosen; a later page brings its own, and only asks what is known of them.
    """

    reading: Reading
    known: Corpus
    parts: Sequence[Part]
    want: int
    budget: int
    first: bool

    @cached_property
    def authors(self) -> dict[str, frozenset[str]]:
        """The people who said what was found, each with the terms of the name. To be asked once all are found."""
        outlines = (outline for part in self.parts for outline in part.outlined().values())
        authors = {outline.author for outline in outlines if outline.author_type != "agent"}
        return {author: frozenset(terms(author)) for author in authors if author is not None}

    @cached_property
    def named(self) -> frozenset[str]:
        """The authors that the question names; nobody where it names all of them."""
        order = frozenset(self.reading.order)
        named = frozenset(author for author, of in self.authors.items() if order & of)
        return frozenset() if len(named) == len(self.authors) else named

    @property
    def heeds_rules(self) -> bool:
        return self.reading.may_heed_rules and not self.named


class Arm(NamedTuple):
    """`features` are those that it alone gives rise to: an arm none of whose features counts is not asked."""

    features: tuple[str, ...]
    look: Callable[[Look, Part], Iterable[int]]
    by_vector: bool = False


def _text(look: Look, part: Part) -> list[int]:
    if not look.first or part.match is None:
        return []
    return [entry.candidate.row for entry in ranked([part.match], look.known)[: look.want]]


def _nearest(what: Kind) -> Callable[[Look, Part], list[int]]:
    def nearest(look: Look, part: Part) -> list[int]:
        vector = part.source.vector
        if vector is None or not look.first:
            return []
        want = look.want if what == PASSAGE else look.want // FEWER
        match = part.source.reader.near(vector, part.source.filter, want, what)
        part.alike.setdefault(what, {}).update({near.row: near.similarity for near in match.candidates})
        if what == PASSAGE:
            part.nearest.update({near.row: near.start for near in match.candidates})
        return [near.row for near in match.candidates]

    return nearest


def _at_the_time(look: Look, part: Part) -> Iterable[int]:
    """The best of what was told at a time that the question names, by words and by meaning."""
    if not look.first:
        return
    for span in look.reading.spans:
        within = None if span.yearly else _within(part.source.filter, span)
        if within is None:
            continue
        match = part.source.reader.text(look.reading.considered, within, look.want, look.budget)
        yield from (entry.candidate.row for entry in ranked([match], look.known)[: look.want])
        if part.source.vector is not None:
            near = part.source.reader.near(part.source.vector, within, look.want, PASSAGE)
            yield from (one.row for one in near.candidates)


def _within(filter: Filter, span: Span) -> Filter | None:
    """The filter, and that time besides; None where the two have nothing in common."""
    since = [moment for moment in (filter.since, span.since) if moment is not None]
    until = [moment for moment in (filter.until, span.until) if moment is not None]
    if since and until and max(since) >= min(until):
        return None
    return filter.having(since=max(since, default=None), until=min(until, default=None))


def _of_entities(look: Look, part: Part) -> list[int]:
    """What bears a thing that the question names as a label."""
    wanted = look.reading.labels
    if part.source.filter.entities is not None:
        wanted = tuple(label for label in wanted if label in part.source.filter.entities)
    if not look.first or not wanted:
        return []
    return part.source.reader.rows(part.source.filter.having(entities=wanted), "newest", look.want)


def _of_facts(look: Look, part: Part) -> list[int]:
    """What facts about the named were drawn from; the more of the question a fact holds, the sooner."""
    if not look.reading.fact_keys:
        return []
    query = FactQuery(either_keys=look.reading.fact_keys, newest=FACTS_SEEN)
    spans = part.source.reader.spans(query, part.source.filter)
    asked = frozenset(look.reading.considered)
    moment = part.source.filter.now if part.source.filter.valid_at is None else part.source.filter.valid_at
    worth: dict[str, float] = {}
    for span in spans:
        if span.memory is not None and (moment == ANY_TIME or span.holds_at(moment)):
            worth[span.memory] = max(worth.get(span.memory, 0.0), _speaks(span, look.reading.fact_keys, asked))
    best = sorted(worth, key=lambda id: (-worth[id], id))[: look.want]
    rows = part.rows_of(best)
    part.facts = {row: worth[id] for id, row in rows.items()}
    return list(rows.values())


def _speaks(span: FactSpan, keys: Sequence[str], asked: frozenset[str]) -> float:
    """A half where the question names an end of the fact; wholly where it names both, or what holds between them."""
    named = (span.subject_key in keys) + (span.object_key in keys)
    return 1.0 if named > 1 or asked.intersection(terms(span.predicate)) else 0.5


def _around(look: Look, part: Part) -> list[int]:
    """The neighbours of what was found, and in which order they stand."""
    around = part.line_up(REACH, LENDING)
    if not look.first:
        return []
    return [other for near in around.values() for distance, other in near if abs(distance) <= REACH]


def _linked(look: Look, part: Part) -> list[int]:
    """What links tie to what was found."""
    outlines = part.outlined()
    rows = {outlines[row].id: row for row in part.found if row in outlines}
    links = part.source.reader.links([End("memory", id) for id in rows], known_at=part.source.filter.known_at)
    ends = {end.name for link in links for end in (link.source, link.target) if end.what == "memory"}
    rows.update(part.rows_of([id for id in ends if id not in rows]))
    added: list[int] = []
    for link in links:
        one, other = rows.get(link.source.name), rows.get(link.target.name)
        if one is not None and other is not None and link.source.what == link.target.what == "memory":
            part.tied.setdefault(one, []).append(other)
            part.tied.setdefault(other, []).append(one)
            added += [one, other]
    return added[: look.want] if look.first else []


def _rules(look: Look, part: Part) -> list[int]:
    """All standing rules and wishes; where there are many, those nearest to the question."""
    if not look.heeds_rules:
        return []
    part.rules = frozenset(_standing(part, RULE))
    part.wishes = frozenset(_standing(part, WISHES)) - part.rules
    return [*part.rules, *part.wishes]


def _standing(part: Part, kinds: tuple[str, ...]) -> list[int]:
    rows = part.source.reader.rows(part.source.filter.having(standing=kinds), "newest", RULES_SEEN)
    if part.source.vector is None or len(rows) <= RULES:
        return rows[:RULES]
    near = part.rule_fits(rows)
    return sorted(near, key=lambda row: (-near[row], row))[:RULES]


def _openers(look: Look, part: Part) -> list[int]:
    """The first turns of people in the sessions of which most was found."""
    if not look.reading.is_overview:
        return []
    outlines = part.outlined()
    found: dict[str, int] = {}
    for row in part.found:
        session = outlines[row].session if row in outlines else None
        if session is not None:
            found[session] = found.get(session, 0) + 1
    opened: list[int] = []
    for session in sorted(found, key=lambda session: (-found[session], session))[:OPENERS]:
        within = part.source.filter.having(session=session)
        first = part.source.reader.rows(within, "oldest", 2 * OPENED)
        heads = part.source.reader.outlines(first, part.source.filter)
        spoken = [row for row in first if row in heads and heads[row].author_type != "agent"][:OPENED]
        part.places.update({row: place for place, row in enumerate(spoken)})
        opened += spoken
    return opened


ARMS: Mapping[str, Arm] = {
    "text": Arm(("lexical", "cover", "phrase", "thin"), _text),
    "dense": Arm(("dense",), _nearest("passage"), by_vector=True),
    "window": Arm(("window",), _nearest("window"), by_vector=True),
    "time": Arm(("date",), _at_the_time),
    "entities": Arm(("entity",), _of_entities),
    "facts": Arm(("fact",), _of_facts),
    "context": Arm(("session", "reply"), _around),
    "links": Arm(("link",), _linked),
    "rules": Arm(("rule", "rule_fit", "wish_fit"), _rules),
    "openers": Arm(("opener", "spread"), _openers),
}
"""In the order in which they are asked: what stands later goes by what was found before."""
