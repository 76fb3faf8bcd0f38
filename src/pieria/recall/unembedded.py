"""Memories written a moment ago that have no vectors yet: the likeliest ones are embedded together with the query.

Queries about what was just said are common. The lead of every text comes first: it is cheap and states the topic. Then
comes the passage of a long text with most query terms. Scoring estimates what there is no time for.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from pieria.language.analyser import terms
from pieria.language.passages import LEAD, lead, passages
from pieria.recall.part import Part
from pieria.store.protocol import Kind

NEWEST = 20
"""Newest unembedded rows that are read even if they share no term with the query."""
BEST = 8
"""Rows whose best passage is embedded as well, if there is time."""


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
