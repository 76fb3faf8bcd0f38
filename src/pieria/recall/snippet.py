"""The passage of a memory that answers: cut at words, around where the question's terms stand closest together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from pieria.record.analyser import spans

LENGTH = 240
SEARCHED = 20_000
"""Characters of a long text that are looked through for the best passage."""
PARTS = 6
"""So many such parts are looked at for the first that holds a term."""


def snippet(text: str, terms: Collection[str], near: int | None = None, length: int = LENGTH) -> str:
    """`near` is where the passage begins that is most alike, for a text that shares no word with the question."""
    begin = _first_part(text, terms) if len(text) > SEARCHED else 0
    if begin:
        return f"… {snippet(text[begin:], terms, None, length - 2).removeprefix('… ')}"
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


def _first_part(text: str, terms: Collection[str]) -> int:
    """Where the first part begins that holds a term, at a word; 0 where none does."""
    begin = 0
    for _ in range(PARTS):
        if any(span.term in terms for span in spans(text[begin : begin + SEARCHED])):
            return begin
        begin = text.rfind(" ", begin, begin + SEARCHED) + 1 or begin + SEARCHED
        if begin >= len(text):
            break
    return 0


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
