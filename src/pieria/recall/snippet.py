"""The passage of a memory that answers: cut at words, where most terms of the query are close together."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping

from pieria.language.analyser import marks as marks_of

LENGTH = 240
SEARCHED = 20_000
"""Characters of a long text to search at once for the best passage."""
PARTS = 6
"""Parts of this length to compare."""
HELD = 1 / 3
"""A passage with less than this share of the query's weight gives way to the most similar one."""
Terms = Collection[str] | Mapping[str, float]
"""The terms of a query, with weights if rare terms count for more."""


def snippet(text: str, terms: Terms, near: int | None = None, length: int = LENGTH) -> str:
    """Return the best passage. `near` is where the most similar passage begins, for a text with hardly a term of the
    query."""
    weights = terms if isinstance(terms, Mapping) else dict.fromkeys(terms, 1.0)
    begin = _best_part(text, weights) if len(text) > SEARCHED else 0
    if begin:
        return f"… {snippet(text[begin:], weights, None, length - 2).removeprefix('… ')}"
    flat = " ".join(text[:SEARCHED].split())
    start, held = _best_start(flat, weights, length)
    if near and len(text) > length and held < HELD * math.fsum(weights.values()):
        return f"… {snippet(text[near:], (), None, length - 2)}"
    if len(flat) <= length:
        return flat
    end = min(len(flat), start + length)
    if start > 0:
        start = flat.find(" ", start - 1) + 1 if 0 <= flat.find(" ", start - 1) < end else start
    if end < len(flat):
        cut = flat.rfind(" ", start + length // 2, end)
        end = cut if cut > 0 else end
    more = end < len(flat) or len(text) > SEARCHED
    return ("… " if start > 0 else "") + flat[start:end] + (" …" if more else "")


def _best_part(text: str, weights: Mapping[str, float]) -> int:
    """Return where the part with the most query terms begins, at a word; 0 if none has any."""
    begin, best, chosen = 0, 0.0, 0
    whole = math.fsum(weights.values())
    for _ in range(PARTS):
        held = {term for _, term in marks_of(text[begin : begin + SEARCHED], weights)}
        worth = math.fsum(weights[term] for term in held)
        if worth > best:
            best, chosen = worth, begin
        begin = text.rfind(" ", begin, begin + SEARCHED) + 1 or begin + SEARCHED
        if begin >= len(text) or best >= whole:
            break
    return chosen


def _best_start(flat: str, weights: Mapping[str, float], length: int) -> tuple[int, float]:
    """Return where the best window begins, with some room before its first term, and the weight it holds."""
    if not weights:
        return 0, 0.0
    marks = marks_of(flat, weights)
    reach = length * 3 // 4
    held: Counter[str] = Counter()
    best, chosen, end = 0.0, 0, 0
    for start, term in marks:
        while end < len(marks) and marks[end][0] < start + reach:
            held[marks[end][1]] += 1
            end += 1
        worth = math.fsum([weights[each] for each in held])
        if worth > best:
            best, chosen = worth, start
        if len(held) == len(weights):
            break
        held[term] -= 1
        if not held[term]:
            del held[term]
    return (max(0, chosen - length // 6) if chosen > length // 2 else 0), best
