"""The order of scored candidates: best first, overviews spread over sessions, copies folded, places kept for rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import NamedTuple

import numpy as np

from pieria.recall.evidence import Asked
from pieria.recall.pool import Floats, Pool

MOST_SPREAD = 10
KEPT_FROM, KEPT = 7, 3
"""The first place reserved for standing rules (from 0), and the number of places."""


class Arranged(NamedTuple):
    """`order` are the numbers of candidates, best first. `forward` are rules moved ahead of their score. `copies` are
    the folded numbers of each shown one."""

    order: list[int]
    forward: list[int]
    copies: dict[int, list[int]]


def arranged(asked: Asked, pool: Pool, worth: Floats) -> Arranged:
    """Return the order. Among equal scores the newer row comes first."""
    order, copies = _folded(pool, by_worth(pool, worth))
    if not asked.heeds_rules:
        return Arranged(order, [], copies)
    return Arranged(*_with_rules(pool, order), copies)


def by_worth(pool: Pool, worth: Floats) -> list[int]:
    if not pool.keys:
        return []
    which, rows = np.array(pool.keys, dtype=np.int64).T
    order: list[int] = np.lexsort((-rows, which, -worth)).tolist()
    return order


def spread(pool: Pool, worth: Floats) -> Floats:
    """Return for each candidate of an overview how many better turns of people its session has before it."""
    seen: Counter[Hashable] = Counter()
    counted = np.zeros(len(pool))
    for number in by_worth(pool, worth):
        occasion = pool.occasions[number]
        if occasion is not None:
            counted[number] = min(MOST_SPREAD, seen[occasion])
            seen[occasion] += not pool.by_agent[number]
    return counted


def _folded(pool: Pool, order: list[int]) -> tuple[list[int], dict[int, list[int]]]:
    first: dict[Hashable, int] = {}
    copies: dict[int, list[int]] = {}
    kept: list[int] = []
    for number in order:
        alike = pool.copies[number]
        shown = number if alike is None else first.setdefault(alike, number)
        if shown == number:
            kept.append(number)
        else:
            copies.setdefault(shown, []).append(number)
    return kept, copies


def _with_rules(pool: Pool, order: list[int]) -> tuple[list[int], list[int]]:
    """Move the rules nearest to the query to the reserved places, unless they rank higher already."""
    first = set(order[:KEPT_FROM])
    rules = [number for number in order if not np.isnan(pool.rule[number])]
    nearest = sorted(rules, key=lambda number: -pool.rule[number])[:KEPT]
    kept = [number for number in nearest if number not in first]
    rest = [number for number in order if number not in kept]
    moved = [number for place, number in enumerate(kept, KEPT_FROM) if order.index(number) > place]
    return [*rest[:KEPT_FROM], *kept, *rest[KEPT_FROM:]], moved
