"""What was written a moment ago and has no vectors yet: the likeliest of it is embedded on the spot, with the question.

Exists because a question about what was said just now is the usual one. Of every text its lead comes first, which takes
little time and tells what it is about; then of a long one the passage that holds most of the question. What there is no
time for is estimated when it is scored.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from pieria.recall.part import Part
from pieria.record.analyser import terms
from pieria.record.passages import LEAD, lead, passages
from pieria.store.protocol import Kind

NEWEST = 20
"""Of what was written last and waits, so many are looked at whether they hold a word of the question or not."""
BEST = 8
"""Of so many the passage that holds most of the question is embedded as well, if there is time."""


class Piece(NamedTuple):
    row: int
    what: Kind
    start: int
    text: str


def embedded(part: Part, weights: Mapping[str, float]) -> list[int]:
    """The rows that were compared, the most similar first; how near they are is noted with the part."""
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
    """What holds most of the question and what was written last, one of each in turn."""
    newest = sorted(waiting, reverse=True)[:NEWEST]
    return list(dict.fromkeys(row for pair in zip_longest(waiting, newest) for row in pair if row is not None))


def _pieces(part: Part, rows: Sequence[int], led: Collection[int], weights: Mapping[str, float]) -> list[Piece]:
    """The lead of each row that has none; then, of the first ones, the passage that holds most of the question."""
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
