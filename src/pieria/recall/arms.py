"""The arms of recall: each finds candidates in its own way, and none can veto another.

A look-up uses an index and takes at most its quota. Scores here serve only to choose within a quota. Memories written a
moment ago have no vectors: the likeliest ones are embedded together with the query.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple

from pieria.language.analyser import STOP_WORDS, terms
from pieria.language.passages import LEAD, lead, passages
from pieria.language.windows import ROLES
from pieria.recall.bm25 import Corpus, ranked
from pieria.recall.part import Part
from pieria.recall.query import Reading, Span, without_names
from pieria.record.filter import ANY_TIME, Filter
from pieria.record.trust import AGENT, RULING
from pieria.runtime.lazy import cached_property
from pieria.store.facts import FactSpan
from pieria.store.protocol import Kind, Near

QUOTA = 20
"""Candidates from each arm; more if more hits are asked for."""
REACH, LENDING = 2, 3
"""How far from a candidate a neighbour becomes one itself, and how far from a candidate it lends its terms."""
LINKS_SEEN = 20
"""Outgoing links to read per candidate, and as many incoming ones."""
RULES_SEEN, RULES = 400, 20
OPENERS, OPENED = 10, 10
"""An overview opens this many of its best sessions, and this many turns of people in each."""
FACTS_SEEN = 500
RULE, WISHES = ("rule",), ("preference", "profile")
HEEDED = (*RULING, AGENT)
"""Channels that may supply rules and wishes as candidates on their topic. Mined and foreign text has to be found."""
NARROWING = (
    *("ids", "types", "tags", "entities", "files", "standing", "author", "author_type", "channel", "source"),
    *("since", "until", "pinned"),
)
SAID = frozenset({"note", "observation", "turn"})
"""Kinds that have neighbours in a session."""
NEWEST = 20
"""Newest unembedded rows that are read even if they share no term with the query."""
BEST = 8
"""Rows whose best passage is embedded as well, if there is time."""


@dataclass
class Look:
    """The look-ups of one query: how it was read, the weights of its terms, and the quota of an arm.

    `first` means that arms choose candidates. A later page brings its own candidates and only collects their features.
    """

    reading: Reading
    known: Corpus
    parts: Sequence[Part]
    want: int
    budget: int
    first: bool
    arms: frozenset[str]
    """Every arm that this query asks."""

    @cached_property
    def authors(self) -> dict[str, frozenset[str]]:
        """The people who wrote the candidates, each with the terms of the name. Read it after all candidates
        are found."""
        authors = {
            speaker
            for part in self.parts
            for speaker, type in zip(part.speakers(), part.met.author_types, strict=True)
            if speaker is not None and type != "agent"
        }
        return {author: frozenset(terms(author)) for author in authors}

    @cached_property
    def named(self) -> frozenset[str]:
        """The authors that the query names; empty if it names all of them."""
        order = frozenset(self.reading.order)
        named = frozenset(author for author, of in self.authors.items() if order & of)
        return frozenset() if len(named) == len(self.authors) else named

    @cached_property
    def matter(self) -> str | None:
        """The query without the names of authors. None if it names no author, or if there is only one author: that name
        is a topic like any other."""
        if len(self.authors) < 2:
            return None
        people = [of for author, of in self.authors.items() if author.casefold() not in ROLES]
        return without_names(self.reading.about, frozenset().union(*people) - STOP_WORDS)

    @cached_property
    def heeds_rules(self) -> bool:
        """Return whether rules apply. A name that was only written before a text does not count as an author here: a
        stranger could write one to silence the rules."""
        known = {author for part in self.parts for author in part.look_at_found().authors}
        return self.reading.may_heed_rules and not self.named & known


class Arm(NamedTuple):
    """One arm. `features` are the features that only this arm produces: if none of them counts, the arm is skipped.

    An arm with `only_chooses` adds nothing to candidates that are already chosen.
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
    match = _near(look, part, "passage")
    part.nearest.update({near.row: near.start for near in match})
    by_lead = _near(look, part, "lead")[: look.want // 2]
    lately = embedded(part, look.known.weights)
    return list(dict.fromkeys([*(near.row for near in (*match, *by_lead)), *lately]))


def _by_windows(look: Look, part: Part) -> list[int]:
    """Return no row as a rule: a row near by its window is near by its own vector, or has a neighbour that is."""
    comes_anyway = {"dense", "context"} <= look.arms and not _may_hide_neighbours(part.source.filter)
    return [] if comes_anyway else [near.row for near in _near(look, part, "window")]


def _may_hide_neighbours(filter: Filter) -> bool:
    """Return whether the filter may pass a turn and reject its neighbours in the session."""
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
    """Yield the best rows said at a time that the query names, by terms and by vector. Without vectors, yield the
    newest rows of that time as well."""
    for span in look.reading.spans:
        within = None if span.yearly else _within(part.source.filter, span)
        if within is None:
            continue
        match = part.source.reader.text(look.reading.considered, within, look.want, look.budget)
        yield from (entry.candidate.row for entry in ranked([match], look.known)[: look.want])
        if part.source.vector is not None:
            near = part.source.reader.near(part.source.vector, within, look.want, "passage")
            yield from (one.row for one in near.candidates)
        elif span.is_counted:
            # A query for last week may share no term with the rows of last week.
            yield from part.source.reader.rows(within, "newest", look.want)


def _within(filter: Filter, span: Span) -> Filter | None:
    """Return the filter narrowed to that time; None if the two do not overlap."""
    since = [moment for moment in (filter.since, span.since) if moment is not None]
    until = [moment for moment in (filter.until, span.until) if moment is not None]
    if since and until and max(since) >= min(until):
        return None
    return filter.having(since=max(since, default=None), until=min(until, default=None))


def _of_entities(look: Look, part: Part) -> list[int]:
    """Return the rows labelled with an entity that the query names, newest first."""
    wanted = look.reading.labels
    if part.source.filter.entities is not None:
        wanted = tuple(label for label in wanted if label in part.source.filter.entities)
    if not wanted:
        return []
    return part.source.reader.labelled("entities", wanted, part.source.filter, look.want)


def _of_facts(look: Look, part: Part) -> list[int]:
    """Return the sources of facts about named entities, best match between fact and query first."""
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
    """Return 0.5 if the query names one end of the fact; 1 if it names both ends, or the relation."""
    named = (span.subject_key in keys) + (span.object_key in keys)
    return 1.0 if named > 1 or asked.intersection(terms(span.predicate)) else 0.5


def _around(look: Look, part: Part) -> list[int]:
    """Return the neighbours of the candidates, and record their order."""
    around = part.line_up(REACH, LENDING)
    return [other for near in around.values() for distance, other in near if abs(distance) <= REACH]


def _linked(look: Look, part: Part) -> list[int]:
    """Return the rows that links tie to the candidates. Where a memory has many links, the newest count."""
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
    """Return all standing rules and wishes; where there are many, those nearest to the query.

    Beyond the newest rules, this needs sentence vectors. Memories stored with supplied vectors lack them, and without a
    query vector there are none. The plan tells where only the newest were read.
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
    """Return the first turns of people in the sessions with most candidates."""
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
"""Asked in this order: a later arm builds on the candidates of earlier ones."""


class Piece(NamedTuple):
    row: int
    what: Kind
    start: int
    text: str


def embedded(part: Part, weights: Mapping[str, float]) -> list[int]:
    """Return the compared rows, most similar first. Store the similarities in the part."""
    source = part.source
    if source.embed is None or source.vector is None or not source.reader.pending_count():
        return []
    waiting = source.reader.unembedded(list(part.found), NEWEST)
    seen = source.reader.outlines(waiting, source.filter)
    rows = [row for row in _in_turn(waiting) if row in seen]
    led = source.reader.similarities(source.vector, rows, "lead")
    pieces = _pieces(part, rows, led, weights)
    vectors = source.embed([piece.text for piece in pieces])
    near = {row: span.similarity for row, span in led.items()}
    for piece in pieces:
        if piece.text in vectors:
            similarity = float(vectors[piece.text] @ source.vector)
            part.alike.setdefault(piece.what, {})[piece.row] = similarity
            if similarity > near.get(piece.row, -1.0):
                near[piece.row], part.nearest[piece.row] = similarity, piece.start
    return sorted(near, key=lambda row: (-near[row], -row))


def _in_turn(waiting: Sequence[int]) -> list[int]:
    """Alternate between rows with most query terms and the newest rows."""
    newest = sorted(waiting, reverse=True)[:NEWEST]
    return list(dict.fromkeys(row for pair in zip_longest(waiting, newest) for row in pair if row is not None))


def _pieces(part: Part, rows: Sequence[int], led: Collection[int], weights: Mapping[str, float]) -> list[Piece]:
    """Return the missing leads; then, for the first rows, the passage with most query terms."""
    read = part.source.reader.readable(rows)
    there = [(row, f"{read[row].title}\n" if read[row].title else "", read[row].text) for row in rows if row in read]
    leads = [_first(row, title + text) for row, title, text in there if row not in led]
    best = [_best(row, title, text, weights) for row, title, text in there[:BEST] if len(title + text) > LEAD]
    return leads + best


def _first(row: int, text: str) -> Piece:
    return Piece(row, "lead" if len(text) > LEAD else "passage", 0, lead(text))


def _best(row: int, title: str, text: str, weights: Mapping[str, float]) -> Piece:
    pieces = [Piece(row, "passage", start, title + text[start:end]) for start, end in passages(text)]
    return max(pieces, key=lambda piece: (sum(weights.get(term, 0.0) for term in set(terms(piece.text))), -piece.start))
