"""The order of what was scored: best first, an overview spread over sessions, copies folded, places kept for rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from pieria.recall.evidence import Asked, Evidence

MOST_SPREAD = 10
KEPT_FROM, KEPT = 7, 3
"""The first place that is kept for a standing rule, and how many are."""


class Arranged(NamedTuple):
    """The numbers of the candidates, best first; those that stand further forward than their score, for being rules;
    and what each one that is shown stands for besides itself."""

    order: list[int]
    forward: list[int]
    copies: dict[int, list[int]]


def arranged(asked: Asked, pool: Sequence[Evidence], worth: Sequence[float]) -> Arranged:
    """The newer row first among equals."""
    order, copies = _folded(pool, by_worth(pool, worth))
    if not asked.heeds_rules:
        return Arranged(order, [], copies)
    return Arranged(*_with_rules(pool, order), copies)


def by_worth(pool: Sequence[Evidence], worth: Sequence[float]) -> list[int]:
    return sorted(range(len(pool)), key=lambda number: (-worth[number], pool[number].key[0], -pool[number].key[1]))


def spread(pool: Sequence[Evidence], worth: Sequence[float]) -> list[float]:
    """For an overview: how many better turns of people each has before it in its session."""
    seen: Counter[Hashable] = Counter()
    counted = [0.0] * len(pool)
    for number in by_worth(pool, worth):
        one = pool[number]
        if one.occasion is not None:
            counted[number] = float(min(MOST_SPREAD, seen[one.occasion]))
            seen[one.occasion] += not one.by_agent
    return counted


def _folded(pool: Sequence[Evidence], order: list[int]) -> tuple[list[int], dict[int, list[int]]]:
    first: dict[Hashable, int] = {}
    copies: dict[int, list[int]] = {}
    kept: list[int] = []
    for number in order:
        alike = pool[number].copy_of
        shown = number if alike is None else first.setdefault(alike, number)
        if shown == number:
            kept.append(number)
        else:
            copies.setdefault(shown, []).append(number)
    return kept, copies


def _with_rules(pool: Sequence[Evidence], order: list[int]) -> tuple[list[int], list[int]]:
    """The rules nearest to the question stand on the kept places, unless they stand before them anyway."""
    first = set(order[:KEPT_FROM])
    rules = [number for number in order if pool[number].rule is not None]
    nearest = sorted(rules, key=lambda number: -(pool[number].rule or 0.0))[:KEPT]
    kept = [number for number in nearest if number not in first]
    rest = [number for number in order if number not in kept]
    moved = [number for place, number in enumerate(kept, KEPT_FROM) if order.index(number) > place]
    return [*rest[:KEPT_FROM], *kept, *rest[KEPT_FROM:]], moved
