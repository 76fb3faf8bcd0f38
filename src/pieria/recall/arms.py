"""The arms: each looks for candidates in its own way, and none can veto what another found.

A look-up goes through an index and takes no more than its quota; nothing is scored here but to choose within a quota.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from pieria.recall.bm25 import Corpus, ranked
from pieria.recall.evidence import Span
from pieria.recall.part import Part
from pieria.recall.query import Reading, without_names
from pieria.recall.unembedded import embedded
from pieria.record.analyser import STOP_WORDS, terms
from pieria.record.filter import ANY_TIME, Filter
from pieria.record.trust import AGENT, RULING
from pieria.record.windows import ROLES
from pieria.store.facts import FactSpan
from pieria.store.protocol import Kind, Near

QUOTA = 20
"""Candidates from each arm; more where more hits are asked for."""
REACH, LENDING = 2, 3
"""How far from what was found a neighbour is a candidate itself, and how far from a candidate one lends it words."""
LINKS_SEEN = 20
"""Of the links that lead from a candidate, and of those that lead to it."""
RULES_SEEN, RULES = 400, 20
OPENERS, OPENED = 10, 10
"""Of an overview's best sessions so many are opened, so many turns of people in each."""
FACTS_SEEN = 500
RULE, WISHES = ("rule",), ("preference", "profile")
HEEDED = (*RULING, AGENT)
"""The ways in whose rules and wishes are candidates for what they are about. Mined and foreign text has to be found."""
PASSAGE: Kind = "passage"
LEAD: Kind = "lead"
NARROWING = (
    *("ids", "types", "tags", "entities", "files", "standing", "author", "author_type", "channel", "source"),
    *("since", "until", "pinned"),
)
SAID = frozenset({"note", "observation", "turn"})
"""Kinds that stand beside each other in sessions."""


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
    arms: frozenset[str]
    """All that are asked."""

    @cached_property
    def authors(self) -> dict[str, frozenset[str]]:
        """The people who said what was found, each with the terms of the name. To be asked once all are found."""
        authors = {
            speaker
            for part in self.parts
            for speaker, type in zip(part.speakers(), part.met.author_types, strict=True)
            if speaker is not None and type != "agent"
        }
        return {author: frozenset(terms(author)) for author in authors}

    @cached_property
    def named(self) -> frozenset[str]:
        """The authors that the question names; nobody where it names all of them."""
        order = frozenset(self.reading.order)
        named = frozenset(author for author, of in self.authors.items() if order & of)
        return frozenset() if len(named) == len(self.authors) else named

    @cached_property
    def matter(self) -> str | None:
        """The question without the names of people who said what was found. None where it names none of them, and where
        all was said by one: what is his own name there is a topic like any other."""
        if len(self.authors) < 2:
            return None
        people = [of for author, of in self.authors.items() if author.casefold() not in ROLES]
        return without_names(self.reading.about, frozenset().union(*people) - STOP_WORDS)

    @cached_property
    def heeds_rules(self) -> bool:
        """A name that only stands before a text counts for nothing here: a stranger could write it to silence rules."""
        known = {author for part in self.parts for author in part.look_at_found().authors}
        return self.reading.may_heed_rules and not self.named & known


class Arm(NamedTuple):
    """`features` are those that it alone gives rise to: an arm none of whose features counts is not asked.

    One that only chooses knows nothing further of candidates that were chosen before.
    """

    features: tuple[str, ...]
    look: Callable[[Look, Part], Iterable[int]]
    by_vector: bool = False
    only_chooses: bool = False


def _text(look: Look, part: Part) -> list[int]:
    if part.match is None:
        return []
    return [entry.candidate.row for entry in ranked([part.match], look.known)[: look.want]]


def _by_passages(look: Look, part: Part) -> list[int]:
    match = _near(look, part, PASSAGE)
    part.nearest.update({near.row: near.start for near in match})
    by_lead = _near(look, part, LEAD)[: look.want // 2]
    lately = embedded(part, look.known.weights)
    return list(dict.fromkeys([*(near.row for near in (*match, *by_lead)), *lately]))


def _by_windows(look: Look, part: Part) -> list[int]:
    """Nothing, as a rule: what is near by its window is near by itself, or stands beside what is and can be seen."""
    comes_anyway = {"dense", "context"} <= look.arms and not _may_hide_neighbours(part.source.filter)
    return [] if comes_anyway else [near.row for near in _near(look, part, "window")]


def _may_hide_neighbours(filter: Filter) -> bool:
    """Whether it may let a turn through and not those beside it in its session."""
    narrow = any(getattr(filter, name) is not None for name in NARROWING) or bool(filter.meta)
    return narrow or (filter.kinds is not None and not SAID.issubset(filter.kinds))


def _near(look: Look, part: Part, what: Kind) -> Sequence[Near]:
    vector = part.source.vector
    if vector is None:
        return []
    match = part.source.reader.near(vector, part.source.filter, look.want, what)
    part.alike.setdefault(what, {}).update({near.row: near.similarity for near in match.candidates})
    return match.candidates


def _at_the_time(look: Look, part: Part) -> Iterable[int]:
    """The best of what was told at a time that the question names, by words and by meaning; where meaning is not
    compared, also the last of what was told then."""
    for span in look.reading.spans:
        within = None if span.yearly else _within(part.source.filter, span)
        if within is None:
            continue
        match = part.source.reader.text(look.reading.considered, within, look.want, look.budget)
        yield from (entry.candidate.row for entry in ranked([match], look.known)[: look.want])
        if part.source.vector is not None:
            near = part.source.reader.near(part.source.vector, within, look.want, PASSAGE)
            yield from (one.row for one in near.candidates)
        elif span.is_counted:
            # Whoever asks what there was last week may share no word with it.
            yield from part.source.reader.rows(within, "newest", look.want)


def _within(filter: Filter, span: Span) -> Filter | None:
    """The filter, and that time besides; None where the two have nothing in common."""
    since = [moment for moment in (filter.since, span.since) if moment is not None]
    until = [moment for moment in (filter.until, span.until) if moment is not None]
    if since and until and max(since) >= min(until):
        return None
    return filter.having(since=max(since, default=None), until=min(until, default=None))


def _of_entities(look: Look, part: Part) -> list[int]:
    """What bears a thing that the question names as a label, what was written last first."""
    wanted = look.reading.labels
    if part.source.filter.entities is not None:
        wanted = tuple(label for label in wanted if label in part.source.filter.entities)
    if not wanted:
        return []
    return part.source.reader.labelled("entities", wanted, part.source.filter, look.want)


def _of_facts(look: Look, part: Part) -> list[int]:
    """What facts about the named were drawn from; the more of the question a fact holds, the sooner."""
    if not look.reading.fact_keys:
        return []
    spans = part.source.reader.drawn(look.reading.fact_keys, part.source.filter, FACTS_SEEN, ended=True)
    part.spoken.update(span.memory for span in spans if span.memory is not None)
    asked = frozenset(look.reading.considered)
    moment = part.source.filter.now if part.source.filter.valid_at is None else part.source.filter.valid_at
    worth: dict[str, float] = {}
    for span in spans:
        if span.memory is not None and (moment == ANY_TIME or span.holds_at(moment)):
            worth[span.memory] = max(worth.get(span.memory, 0.0), _speaks(span, look.reading.fact_keys, asked))
    rows = part.rows_of(list(worth))
    part.facts = {row: worth[id] for id, row in rows.items()}
    return sorted(part.facts, key=lambda row: (-part.facts[row], row))[: look.want]


def _speaks(span: FactSpan, keys: Sequence[str], asked: frozenset[str]) -> float:
    """A half where the question names an end of the fact; wholly where it names both, or what holds between them."""
    named = (span.subject_key in keys) + (span.object_key in keys)
    return 1.0 if named > 1 or asked.intersection(terms(span.predicate)) else 0.5


def _around(look: Look, part: Part) -> list[int]:
    """The neighbours of what was found, and in which order they stand."""
    around = part.line_up(REACH, LENDING)
    return [other for near in around.values() for distance, other in near if abs(distance) <= REACH]


def _linked(look: Look, part: Part) -> list[int]:
    """What links tie to what was found. Where many lead from a memory, or to it, the last that were written count."""
    met = part.look_at_found()
    rows = dict(zip(met.ids, met.rows, strict=True))
    added: dict[int, None] = {}
    for id, others in part.source.reader.tied(list(rows), part.source.filter, LINKS_SEEN).items():
        for other in others:
            part.tied.setdefault(rows[id], {})[other] = None
            part.tied.setdefault(other, {})[rows[id]] = None
            added[other] = None
    return list(added)[: look.want]


def _rules(look: Look, part: Part) -> list[int]:
    """All standing rules and wishes; where there are many, those nearest to the question.

    Beyond the newest it is by the vectors of their own sentences, which those lack that were kept with vectors of
    somebody else's; without vectors there are none beyond. The plan tells where that is so.
    """
    if not look.heeds_rules:
        return []
    part.rules = frozenset(_standing(part, RULE))
    part.wishes = frozenset(_standing(part, WISHES)) - part.rules
    return [*part.rules, *part.wishes]


def _standing(part: Part, kinds: tuple[str, ...]) -> list[int]:
    reader, vector = part.source.reader, part.source.vector
    filter = part.source.filter.having(via=HEEDED)
    seen = RULES if vector is None else RULES_SEEN
    rows = reader.labelled("standing", kinds, filter, seen + 1)
    if len(rows) > seen:
        part.newest["rules"] = seen
    if vector is None or len(rows) <= RULES:
        return rows[:RULES]
    fits = part.rule_fits(rows[:seen])
    if len(rows) > seen:
        every = reader.near(vector, filter.having(standing=kinds), RULES, "rule")
        fits |= {near.row: near.similarity for near in every.candidates}
    return sorted(fits, key=lambda row: (-fits[row], row))[:RULES]


def _openers(look: Look, part: Part) -> list[int]:
    """The first turns of people in the sessions of which most was found."""
    if not look.reading.is_overview:
        return []
    found = Counter(session for session in part.look_at_found().sessions if session is not None)
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
    "text": Arm(("lexical", "cover", "phrase", "quoted", "thin"), _text, only_chooses=True),
    "dense": Arm(("dense",), _by_passages, by_vector=True, only_chooses=True),
    "window": Arm(("window",), _by_windows, by_vector=True, only_chooses=True),
    "time": Arm(("date", "then"), _at_the_time, only_chooses=True),
    "entities": Arm(("entity",), _of_entities, only_chooses=True),
    "facts": Arm(("fact",), _of_facts),
    "context": Arm(("session", "reply"), _around),
    "links": Arm(("link",), _linked),
    "rules": Arm(("rule", "rule_fit", "wish_fit"), _rules),
    "openers": Arm(("opener", "spread"), _openers),
}
"""In the order in which they are asked: what stands later goes by what was found before."""
