"""From what the arms noted of rows to the pool: the columns of all candidates, over every source."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pieria.recall.answer import Overturned
from pieria.recall.arms import LENDING
from pieria.recall.evidence import Key
from pieria.recall.part import Part
from pieria.recall.pool import NOBODY, Floats, Lines, Parts, Pool
from pieria.recall.reading import Reading
from pieria.record.usage import UNUSED, Usage
from pieria.store.parts import Outline, Terms, Written

DISTANCES = (*range(-LENDING, 0), *range(1, LENDING + 1))
UNWRITTEN = Written(0, 1, ())
NOTHING = Terms(0, 0, {}, {})


@dataclass(frozen=True, slots=True)
class Told:
    """Of one source's candidates, by row; `overturned` by id."""

    rows: Sequence[int]
    used: Mapping[int, Usage]
    written: Mapping[int, Written]
    asks: Sequence[bool]
    tells_time: Sequence[bool]
    copies: Mapping[int, Hashable]
    overturned: Mapping[str, Overturned]


def pooled(parts: Sequence[Part], told: Sequence[Told], named: frozenset[str], reading: Reading) -> Pool:
    each = [(part, row) for part, of in zip(parts, told, strict=True) for row in of.rows]
    outlines = [part.outlines[row] for part, row in each]
    keys = [(part.which, row) for part, row in each]
    ids = [one.id for one in outlines]
    lines = {key: number for number, key in enumerate(keys)}
    beside = _beside(each, lines)
    held = _held(parts, lines)
    written = [of.written.get(row, UNWRITTEN) for of in told for row in of.rows]
    passages = [part.alike.get("passage", {}).get(row) for part, row in each]
    overturned = [told[part.which].overturned.get(part.outlines[row].id) for part, row in each]
    runs = [_runs(part.held.get(row, NOTHING), reading) for part, row in each]
    return Pool(
        keys=keys,
        ids=ids,
        kinds=[one.kind for one in outlines],
        occasions=[_occasion(part.which, one) for (part, _), one in zip(each, outlines, strict=True)],
        terms=reading.considered,
        counts=_counts(held, reading.considered),
        lengths=np.array([*(of.length for of in held), 0.0], dtype=float),
        parts=_parts(held[: len(keys)], reading.considered),
        distinct=np.array([of.distinct for of in held[: len(keys)]], dtype=float),
        pairs=np.array([pairs for pairs, _ in runs], dtype=float),
        quoted=np.array([quoted for _, quoted in runs], dtype=float),
        beside=beside,
        dense=_known(passages),
        window=_known([part.alike.get("window", {}).get(row) for part, row in each]),
        nearer=np.array([part.nearer.get(row, 0.0) for part, row in each], dtype=float),
        rule=_fits(each, "rules", passages),
        wish=_fits(each, "wishes", passages),
        near=[part.nearest.get(row) for part, row in each],
        by_named=np.array([one.speaker in named for one in outlines], dtype=bool),
        is_turn=np.array([one.kind == "turn" or one.speaker != one.author for one in outlines], dtype=bool),
        is_summary=np.array([one.kind == "summary" for one in outlines], dtype=bool),
        by_agent=np.array([one.author_type == "agent" and one.kind == "turn" for one in outlines], dtype=bool),
        asks=np.array([asks for of in told for asks in of.asks], dtype=bool),
        tells_time=np.array([tells for of in told for tells in of.tells_time], dtype=bool),
        place=_known([part.places.get(row) for part, row in each]),
        at=np.array([one.at for one in outlines], dtype=np.int64),
        importance=np.array([one.importance for one in outlines], dtype=float),
        strength=np.array([one.strength for one in outlines], dtype=float),
        says_when=np.array([one.valid_from is not None for one in outlines], dtype=bool),
        used=[of.used.get(row, UNUSED) for of in told for row in of.rows],
        written=[one.known_from for one in written],
        versions=[one.version for one in written],
        tags=[one.tags for one in written],
        fact=np.array([part.facts.get(row, 0.0) for part, row in each], dtype=float),
        tied=_tied(each, lines),
        copies=[of.copies.get(row) for of in told for row in of.rows],
        overturned=overturned,
        overturns=_overturns(keys, ids, overturned),
    )


def _beside(each: Sequence[tuple[Part, int]], lines: dict[Key, int]) -> dict[int, Lines]:
    """By distance the line of each neighbour; those that are no candidates get lines behind all others."""
    found: dict[int, Lines] = {}
    for way, step in (("before", -1), ("after", 1)):
        rows: list[int | None] = [row for _, row in each]
        for distance in range(1, LENDING + 1):
            rows = [
                None if row is None else getattr(part, way).get(row) for (part, _), row in zip(each, rows, strict=True)
            ]
            found[step * distance] = np.array(
                [
                    NOBODY if row is None else lines.setdefault((part.which, row), len(lines))
                    for (part, _), row in zip(each, rows, strict=True)
                ],
                dtype=np.intp,
            )
    return {distance: found[distance] for distance in DISTANCES}


def _held(parts: Sequence[Part], lines: Mapping[Key, int]) -> list[Terms]:
    of = {part.which: part.held for part in parts}
    return [of[which].get(row, NOTHING) for which, row in lines]


def _counts(held: Sequence[Terms], terms: Sequence[str]) -> Floats:
    """A line a term, and behind all texts one that holds none."""
    found = np.zeros((len(terms), len(held) + 1))
    places = {term: number for number, term in enumerate(terms)}
    for line, of in enumerate(held):
        for term, count in of.counts.items():
            found[places[term], line] = count
    return found


def _parts(held: Sequence[Terms], terms: Sequence[str]) -> Parts:
    """Of every long text the parts that hold something, one behind the other."""
    each = [(line, length, counts) for line, of in enumerate(held) for length, counts in of.parts]
    places = {term: number for number, term in enumerate(terms)}
    counts = np.zeros((len(terms), len(each)))
    for number, (_, _, holds) in enumerate(each):
        for term, count in holds.items():
            counts[places[term], number] = count
    lines = np.array([line for line, *_ in each], dtype=np.intp)
    return Parts(lines, counts, np.array([length for _, length, _ in each], dtype=float))


def _runs(of: Terms, reading: Reading) -> tuple[int, float]:
    """How many pairs of the question stand in a text, and the share of its passages in quotes."""
    quoted = reading.quoted
    if not quoted:
        return len(of.runs), 0.0
    return len(reading.pairs & of.runs.keys()), sum(passage in of.runs for passage in quoted) / len(quoted)


def _fits(each: Sequence[tuple[Part, int]], rules: str, passages: Sequence[float | None]) -> Floats:
    """How near each is that is one of these; NaN for the others."""
    return _known(
        [
            part.alike.get("rule", {}).get(row, passage or 0.0) if row in getattr(part, rules) else None
            for (part, row), passage in zip(each, passages, strict=True)
        ]
    )


def _tied(each: Sequence[tuple[Part, int]], lines: Mapping[Key, int]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for number, (part, row) in enumerate(each):
        others = [lines.get((part.which, other), NOBODY) for other in part.tied.get(row, ())]
        candidates = [other for other in others if 0 <= other < len(each)]
        if candidates:
            found[number] = candidates
    return found


def _overturns(
    keys: Sequence[Key], ids: Sequence[str], overturned: Sequence[Overturned | None]
) -> dict[int, list[int]]:
    """By line the lines of the candidates that it overturns, within one source."""
    found: dict[int, list[int]] = {}
    if any(overturned):
        lines = {(which, id): number for number, ((which, _), id) in enumerate(zip(keys, ids, strict=True))}
        for number, ((which, _), by) in enumerate(zip(keys, overturned, strict=True)):
            if by is not None and (line := lines.get((which, by.by))) is not None:
                found.setdefault(line, []).append(number)
    return found


def _occasion(which: int, one: Outline) -> Hashable:
    return None if one.session is None else (which, one.session, one.channel)


def _known(values: Sequence[float | int | None]) -> Floats:
    return np.array([np.nan if value is None else value for value in values], dtype=float)
