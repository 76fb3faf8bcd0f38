"""What was written a moment ago and has no vectors yet: the likeliest of it is embedded on the spot, with the question.

Exists because a question about what was said just now is the usual one. Of every text its lead comes first, which takes
little time and tells what it is about; then of a long one the passage that holds most of the question. What there is no
time for is estimated when it is scored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from pieria.recall.part import Part
from pieria.record.analyser import terms
from pieria.record.passages import lead, passages

NEWEST = 20
"""Of what was written last and waits, so many are looked at whether they hold a word of the question or not."""


class Piece(NamedTuple):
    row: int
    start: int
    text: str


def embedded(part: Part, weights: Mapping[str, float]) -> list[int]:
    """The rows that were compared, the most similar first; how near they are is noted with the part."""
    source = part.source
    if source.embed is None or source.vector is None or not source.reader.pending_count():
        return []
    waiting = source.reader.unembedded(list(part.found), NEWEST)
    seen = source.reader.outlines(waiting, source.filter)
    pieces = list(_pieces(part, [row for row in waiting if row in seen], weights))
    vectors = source.embed([piece.text for piece in pieces])
    alike = part.alike.setdefault("passage", {})
    for piece in pieces:
        if piece.text in vectors:
            similarity = float(vectors[piece.text] @ source.vector)
            if similarity > alike.get(piece.row, -1.0):
                alike[piece.row], part.nearest[piece.row] = similarity, piece.start
    compared = {piece.row for piece in pieces if piece.row in alike}
    return sorted(compared, key=lambda row: (-alike[row], -row))


def _pieces(part: Part, rows: Sequence[int], weights: Mapping[str, float]) -> Iterator[Piece]:
    """The lead of each row in turn, then what holds most of the question."""
    read = part.source.reader.readable(rows)
    each = [
        _best(Text(row, f"{read[row].title}\n" if read[row].title else "", read[row].text), weights)
        for row in rows
        if row in read
    ]
    for turn in zip_longest(*each):
        yield from (piece for piece in turn if piece is not None)


class Text(NamedTuple):
    row: int
    title: str
    text: str


def _best(one: Text, weights: Mapping[str, float]) -> list[Piece]:
    pieces = [Piece(one.row, start, one.title + one.text[start:end]) for start, end in passages(one.text)]
    if not pieces:
        return []
    first = pieces[0]._replace(text=lead(pieces[0].text))
    worth = [sum(weights.get(term, 0.0) for term in set(terms(piece.text))) for piece in pieces]
    best = pieces[max(range(len(pieces)), key=lambda number: (worth[number], -number))]
    return [first] if first.text == best.text else [first, best]
