"""The candidates of a query as columns: one line each, with all evidence known before scoring.

Features are arithmetic over whole columns, so the same evidence gives the same scores on any store. Objects are made
only for lines that are shown.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import dataclass
from operator import ne
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pieria.language.glance import Glance
from pieria.recall.answer import Overturned
from pieria.recall.arms import LENDING
from pieria.recall.part import Part
from pieria.recall.query import Key, Reading, Stated
from pieria.record.decay import Wear
from pieria.record.usage import Usage
from pieria.store.parts import Met, Parts, Written

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Lines = NDArray[np.intp]
NOBODY = -1
"""The line of a missing neighbour: the last line of the term columns, which is all zeros."""
DISTANCES = (*range(-LENDING, 0), *range(1, LENDING + 1))
UNWRITTEN = Written(0, 1, ())
UNSEEN, ASKING = Glance(None, False, False, 0, 0), Glance(None, True, False, 0, 0)


@dataclass(slots=True)
class Pool:
    """Similarities are cosines; NaN where a vector is missing or was not compared.

    The term columns have further lines after the candidates: neighbours that lend terms, and `NOBODY`.
    """

    keys: list[Key]
    ids: list[str]
    kinds: list[str]
    occasions: list[Hashable]
    """The session of each, and the channel within it; None outside of any session."""
    terms: list[str]
    """The terms of the query, one line of `counts` each."""
    counts: Floats
    lengths: Floats
    parts: Parts
    distinct: Floats
    pairs: Floats
    """Number of adjacent query terms that are adjacent in the text."""
    quoted: Floats
    """The share of the quoted passages that it holds."""
    beside: Mapping[int, Lines]
    """By distance, the line of the neighbour."""
    dense: Floats
    lead: Floats
    """Similarity of the beginning of a long text."""
    window: Floats
    nearer: Floats
    """How much more similar it is to the query without authors than to the whole query."""
    bare: Floats
    """Similarity to the query without all names; NaN if it names nothing."""
    rule: Floats
    wish: Floats
    near: list[int | None]
    """Where in the text the most similar passage begins."""
    by_named: Flags
    """Its author is named by the query, and the query does not name every author."""
    is_turn: Flags
    """Said in a conversation, so it has neighbours."""
    is_summary: Flags
    by_agent: Flags
    """A turn by an agent."""
    asks: Flags
    """It is a question itself."""
    replies: list[Key | None]
    """The next turn after a question, in the same session and channel, unless that is a question too."""
    tells_time: Flags
    place: Floats
    """Number of people's turns before it in its session; NaN where that does not matter."""
    at: NDArray[np.int64]
    importance: Floats
    strength: Floats
    says_when: Flags
    """It has a start of validity."""
    used: list[Usage]
    written: list[int]
    """When each was first known. `written`, `versions` and `tags` are filled only where fading counts."""
    versions: list[int]
    tags: list[Sequence[str]]
    fact: Floats
    """How far a fact drawn from it matches the query: 0.5 or 1."""
    tied: Mapping[int, Sequence[int]]
    """By line, the lines that a link ties to it."""
    copies: list[Hashable]
    """Equal for memories that say the same; None if it is unique."""
    overturned: list[Overturned | None]
    """What overturns it."""
    stated: list[Stated | None]
    """The time of the fact that it states."""
    echo: Flags
    """It only repeats the question."""
    overturns: Mapping[int, Sequence[int]]
    """By line, the lines that it overturns."""

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def is_compared(self) -> Flags:
        """Return for each whether its vector was compared with the query's."""
        return ~(np.isnan(self.dense) & np.isnan(self.lead))

    def candidate(self, number: int) -> Candidate:
        return Candidate(
            self,
            number,
            self.keys[number],
            self.ids[number],
            self.kinds[number],
            self.replies[number],
            self.copies[number],
            self.overturned[number],
        )


class Candidate(NamedTuple):
    """One line of the pool, for display."""

    pool: Pool
    number: int
    key: Key
    id: str
    kind: str
    reply: Key | None
    copy_of: Hashable
    overturned: Overturned | None

    @property
    def near(self) -> int | None:
        return self.pool.near[self.number]

    @property
    def is_summary(self) -> bool:
        return bool(self.pool.is_summary[self.number])

    @property
    def is_echo(self) -> bool:
        return bool(self.pool.echo[self.number])

    @property
    def is_rule(self) -> bool:
        return bool(self.pool.rule[self.number] == self.pool.rule[self.number])

    @property
    def dense(self) -> float | None:
        """Return the similarity; None if it was not compared."""
        value = float(self.pool.dense[self.number])
        return None if value != value else value

    @property
    def wear(self) -> Wear:
        pool, number = self.pool, self.number
        return Wear(
            int(pool.at[number]),
            pool.kinds[number],
            float(pool.strength[number]),
            pool.used[number],
            pool.written[number],
            pool.versions[number],
            pool.tags[number],
        )


@dataclass(frozen=True, slots=True)
class Told:
    """The rest of the evidence on one source's candidates. `used` is in their order, `overturned` by id, the others by
    row."""

    used: Sequence[Usage]
    written: Mapping[int, Written]
    copies: Mapping[int, Hashable]
    overturned: Mapping[str, Overturned]
    stated: Mapping[str, Stated]
    """By id, the time of the fact that it states."""
    echoes: Set[int] = frozenset()
    """Rows that only repeat the question."""


def pooled(parts: Sequence[Part], told: Sequence[Told], named: frozenset[str], reading: Reading) -> Pool:
    each = [(part, row) for part in parts for row in part.met.rows]
    keys = [(part.which, row) for part, row in each]
    lines = {key: number for number, key in enumerate(keys)}
    beside = _beside(parts, lines)
    held = _held(parts, lines, reading)
    met = _met(parts)
    ids = met.ids
    kinds = np.array(met.kinds, dtype=object)
    speakers = [speaker for part in parts for speaker in part.speakers()]
    glances = [part.glances.get(row, UNSEEN) for part, row in each]
    written = [told[part.which].written.get(row, UNWRITTEN) for part, row in each]
    passages = [part.alike.get("passage", {}).get(row) for part, row in each]
    overturned = [told[which].overturned.get(id) for (which, _), id in zip(keys, ids, strict=True)]
    is_turn = kinds == "turn"
    is_named_only_in_text = np.array(list(map(ne, speakers, met.authors)), dtype=bool)
    replies: list[Key | None] = [None] * len(keys)
    for number, (part, row) in enumerate(each):
        if glances[number].asks:
            replies[number] = _reply(part, row)
    return Pool(
        keys=keys,
        ids=ids,
        kinds=met.kinds,
        occasions=_occasions(parts),
        terms=reading.considered,
        counts=held.counts,
        lengths=held.lengths,
        parts=_of_candidates(held.parts, len(reading.considered), len(keys)),
        distinct=held.distinct[: len(keys)],
        pairs=held.pairs[: len(keys)],
        quoted=held.quoted[: len(keys)],
        beside=beside,
        dense=_known(passages),
        lead=_known([part.alike.get("lead", {}).get(row) for part, row in each]),
        window=_known([part.alike.get("window", {}).get(row) for part, row in each]),
        nearer=np.array([part.nearer.get(row, 0.0) for part, row in each], dtype=float),
        bare=_known([part.bare.get(row) for part, row in each]),
        rule=_fits(each, "rules", passages),
        wish=_fits(each, "wishes", passages),
        near=[part.nearest.get(row) for part, row in each],
        by_named=np.array([speaker in named for speaker in speakers], dtype=bool),
        is_turn=is_turn | is_named_only_in_text,
        is_summary=kinds == "summary",
        by_agent=(np.array(met.author_types, dtype=object) == "agent") & is_turn,
        asks=np.array([one.asks for one in glances], dtype=bool),
        replies=replies,
        tells_time=np.array([reading.is_when and one.tells_time for one in glances], dtype=bool),
        place=_known([part.places.get(row) for part, row in each]),
        at=np.array(met.at, dtype=np.int64),
        importance=np.array(met.importance, dtype=float),
        strength=np.array(met.strength, dtype=float),
        says_when=np.array([start is not None for start in met.valid_from], dtype=bool),
        used=[used for of in told for used in of.used],
        written=[one.known_from for one in written],
        versions=[one.version for one in written],
        tags=[one.tags for one in written],
        fact=np.array([part.facts.get(row, 0.0) for part, row in each], dtype=float),
        tied=_tied(each, lines),
        copies=[told[which].copies.get(row) for which, row in keys],
        overturned=overturned,
        stated=[told[which].stated.get(id) for (which, _), id in zip(keys, ids, strict=True)],
        echo=np.array([row in told[which].echoes for which, row in keys], dtype=bool),
        overturns=_overturns(keys, ids, overturned),
    )


def _reply(part: Part, row: int) -> Key | None:
    """Return the turn after a question, unless that is a question too, or was not read."""
    after = part.after.get(row)
    return None if after is None or part.glances.get(after, ASKING).asks else (part.which, after)


def _met(parts: Sequence[Part]) -> Met:
    """Return the columns of all parts."""
    if len(parts) == 1:
        return parts[0].met
    whole = Met()
    for part in parts:
        whole.extend(part.met)
    return whole


def _occasions(parts: Sequence[Part]) -> list[Hashable]:
    return [
        None if session is None else (part.which, session, channel)
        for part in parts
        for session, channel in zip(part.met.sessions, part.met.channels, strict=True)
    ]


def _beside(parts: Sequence[Part], lines: dict[Key, int]) -> dict[int, Lines]:
    """Return by distance the line of each neighbour. Those that are no candidates get lines after all others."""
    found: dict[int, Lines] = {}
    for step in (-1, 1):
        ways = [part.before if step < 0 else part.after for part in parts]
        each = list(lines)[: sum(len(part.met.rows) for part in parts)]
        for distance in range(1, LENDING + 1):
            # A missing neighbour has no neighbours.
            each = [(which, ways[which].get(row, NOBODY)) for which, row in each]
            places = [NOBODY if key[1] == NOBODY else lines.setdefault(key, len(lines)) for key in each]
            found[step * distance] = np.array(places, dtype=np.intp)
    return {distance: found[distance] for distance in DISTANCES}


class _Held(NamedTuple):
    counts: Floats
    lengths: Floats
    distinct: Floats
    pairs: Floats
    quoted: Floats
    parts: list[Parts]


def _held(parts: Sequence[Part], lines: Mapping[Key, int], reading: Reading) -> _Held:
    """Return the counts of every source on their lines, with a last line of zeros."""
    terms, rows = len(reading.considered), len(lines) + 1
    lengths, distinct, pairs, quoted = np.zeros((4, rows))
    found = _Held(np.zeros((terms, rows)), lengths, distinct, pairs, quoted, [])
    for part in parts:
        held = part.held
        if held is None:
            continue
        here = np.array([lines[part.which, row] for row in held.rows], dtype=np.intp)
        found.counts[:, here] = held.counts
        found.lengths[here], found.distinct[here] = held.lengths, held.distinct
        runs = dict(zip(reading.runs, held.runs > 0, strict=True))
        for pair in reading.pairs:
            found.pairs[here] += runs[pair]
        for passage in reading.quoted:
            found.quoted[here] += runs[passage] / len(reading.quoted)
        found.parts.append(Parts(here[held.parts.lines], held.parts.counts, held.parts.lengths))
    return found


def _of_candidates(parts: Sequence[Parts], terms: int, candidates: int) -> Parts:
    """Return the parts of candidates, without those of neighbours that lend terms."""
    lines = np.concatenate([np.empty(0, dtype=np.intp), *(of.lines for of in parts)])
    counts = np.concatenate([np.zeros((terms, 0)), *(of.counts for of in parts)], axis=1)
    lengths = np.concatenate([np.empty(0), *(of.lengths for of in parts)])
    theirs = lines < candidates
    return Parts(lines[theirs], counts[:, theirs], lengths[theirs])


def _fits(each: Sequence[tuple[Part, int]], rules: str, passages: Sequence[float | None]) -> Floats:
    """Return the similarity of each rule or wish; NaN for other rows."""
    return _known(
        [
            part.alike.get("rule", {}).get(row, passage or 0.0) if row in getattr(part, rules) else None
            for (part, row), passage in zip(each, passages, strict=True)
        ]
    )


def _tied(each: Sequence[tuple[Part, int]], lines: Mapping[Key, int]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for number, (part, row) in enumerate(each):
        ties = part.tied.get(row)
        if not ties:
            continue
        others = [lines.get((part.which, other), NOBODY) for other in ties]
        candidates = [other for other in others if 0 <= other < len(each)]
        if candidates:
            found[number] = candidates
    return found


def _overturns(
    keys: Sequence[Key], ids: Sequence[str], overturned: Sequence[Overturned | None]
) -> dict[int, list[int]]:
    """Return by line the lines of the candidates that it overturns, within one source."""
    found: dict[int, list[int]] = {}
    if any(overturned):
        lines = {(which, id): number for number, ((which, _), id) in enumerate(zip(keys, ids, strict=True))}
        for number, ((which, _), by) in enumerate(zip(keys, overturned, strict=True)):
            if by is not None and by.by is not None and (line := lines.get((which, by.by))) is not None:
                found.setdefault(line, []).append(number)
    return found


def _known(values: Sequence[float | int | None]) -> Floats:
    # NumPy reads None as NaN.
    return np.array(values, dtype=float)
