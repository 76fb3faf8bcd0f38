"""The passage of a memory that answers: cut at words, around where the question's terms stand closest together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from pieria.record.analyser import spans

LENGTH = 240
SEARCHED = 20_000
"""Characters of a long text that are looked through for the best passage."""


def snippet(text: str, terms: Collection[str], near: int | None = None, length: int = LENGTH) -> str:
    """`near` is where the passage begins that is most alike, for a text that shares no word with the question."""
    if near and len(text) > length and not any(span.term in terms for span in spans(text[:SEARCHED])):
        rest = snippet(text[near:], (), None, length - 2)
        return f"… {rest}"
    flat = " ".join(text[:SEARCHED].split())
    if len(flat) <= length:
        return flat
    start = _best_start(flat, terms, length)
    end = min(len(flat), start + length)
    if start > 0:
        start = flat.find(" ", start - 1) + 1 if 0 <= flat.find(" ", start - 1) < end else start
    if end < len(flat):
        cut = flat.rfind(" ", start + length // 2, end)
        end = cut if cut > 0 else end
    more = end < len(flat) or len(text) > SEARCHED
    return ("… " if start > 0 else "") + flat[start:end] + (" …" if more else "")


def _best_start(flat: str, terms: Collection[str], length: int) -> int:
    """Where the window that holds most different terms begins, with a little room before its first one."""
    if not terms:
        return 0
    marks = [(span.start, span.term) for span in spans(flat) if span.term in terms]
    reach = length * 3 // 4
    held: Counter[str] = Counter()
    best, chosen, end = 0, 0, 0
    for start, term in marks:
        while end < len(marks) and marks[end][0] < start + reach:
            held[marks[end][1]] += 1
            end += 1
        if len(held) > best:
            best, chosen = len(held), start
        if best == len(terms):
            break
        held[term] -= 1
        if not held[term]:
            del held[term]
    return max(0, chosen - length // 6) if chosen > length // 2 else 0
