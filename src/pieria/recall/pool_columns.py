"""Builds the pool from the findings of the arms: the columns of all candidates, over every source."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pieria.language.glance import Glance
from pieria.recall.answer import Overturned
from pieria.recall.arms import LENDING
from pieria.recall.evidence import Key, Stated
from pieria.recall.part import Part
from pieria.recall.pool import NOBODY, Floats, Lines, Pool
from pieria.recall.query import Reading
from pieria.record.usage import Usage
from pieria.store.parts import Parts, Written

DISTANCES = (*range(-LENDING, 0), *range(1, LENDING + 1))
UNWRITTEN = Written(0, 1, ())
UNSEEN, ASKING = Glance(None, False, False, 0, 0), Glance(None, True, False, 0, 0)


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


def pooled(parts: Sequence[Part], told: Sequence[Told], named: frozenset[str], reading: Reading) -> Pool:
    each = [(part, row) for part in parts for row in part.met.rows]
    keys = [(part.which, row) for part, row in each]
    lines = {key: number for number, key in enumerate(keys)}
    beside = _beside(parts, lines)
    held = _held(parts, lines, reading)
    ids = _joined(parts, "ids")
    kinds = _joined(parts, "kinds")
    speakers = [speaker for part in parts for speaker in part.speakers()]
    glances = [part.glances.get(row, UNSEEN) for part, row in each]
    written = [told[part.which].written.get(row, UNWRITTEN) for part, row in each]
    passages = [part.alike.get("passage", {}).get(row) for part, row in each]
    overturned = [told[which].overturned.get(id) for (which, _), id in zip(keys, ids, strict=True)]
    authors = _joined(parts, "authors")
    is_turn = np.array([kind == "turn" for kind in kinds], dtype=bool)
    is_named_only_in_text = np.array([one != other for one, other in zip(speakers, authors, strict=True)], dtype=bool)
    return Pool(
        keys=keys,
        ids=ids,
        kinds=kinds,
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
        is_summary=np.array([kind == "summary" for kind in kinds], dtype=bool),
        by_agent=np.array([type == "agent" for type in _joined(parts, "author_types")], dtype=bool) & is_turn,
        asks=np.array([one.asks for one in glances], dtype=bool),
        replies=[_reply(part, row) for part, row in each],
        tells_time=np.array([reading.is_when and one.tells_time for one in glances], dtype=bool),
        place=_known([part.places.get(row) for part, row in each]),
        at=np.array(_joined(parts, "at"), dtype=np.int64),
        importance=np.array(_joined(parts, "importance"), dtype=float),
        strength=np.array(_joined(parts, "strength"), dtype=float),
        says_when=np.array([start is not None for start in _joined(parts, "valid_from")], dtype=bool),
        used=[used for of in told for used in of.used],
        written=[one.known_from for one in written],
        versions=[one.version for one in written],
        tags=[one.tags for one in written],
        fact=np.array([part.facts.get(row, 0.0) for part, row in each], dtype=float),
        tied=_tied(each, lines),
        copies=[told[which].copies.get(row) for which, row in keys],
        overturned=overturned,
        stated=[told[which].stated.get(id) for (which, _), id in zip(keys, ids, strict=True)],
        overturns=_overturns(keys, ids, overturned),
    )


def _reply(part: Part, row: int) -> Key | None:
    """Return the turn after a question, unless that is a question too, or was not read."""
    after = part.after.get(row)
    if after is None or not part.glances.get(row, UNSEEN).asks or part.glances.get(after, ASKING).asks:
        return None
    return part.which, after


def _joined(parts: Sequence[Part], column: str) -> list[Any]:
    return [value for part in parts for value in getattr(part.met, column)]


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
    return np.array([np.nan if value is None else value for value in values], dtype=float)
