"""The order of what was scored: best first, for an overview spread over sessions, with places kept for rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pieria.recall.evidence import Asked, Evidence
from pieria.recall.policies import SCALE

SPREAD = 0.2 / SCALE
"""What each further turn of one session costs, where the question wants an overview."""
MOST_SPREAD = 10
KEPT_FROM, KEPT = 7, 3
"""The first place that is kept for a standing rule, and how many are."""


def arranged(asked: Asked, pool: Sequence[Evidence], scores: Sequence[float]) -> list[int]:
    """The numbers of the candidates, best first; the newer row first among equals."""
    order = _by(pool, scores)
    if asked.is_overview:
        order = _by(pool, _spread(pool, scores, order))
    return _with_rules(pool, order) if asked.heeds_rules else order


def _by(pool: Sequence[Evidence], scores: Sequence[float]) -> list[int]:
    return sorted(range(len(pool)), key=lambda number: (-scores[number], pool[number].key[0], -pool[number].key[1]))


def _spread(pool: Sequence[Evidence], scores: Sequence[float], order: Sequence[int]) -> list[float]:
    seen: Counter[tuple[int, str]] = Counter()
    spread = list(scores)
    for number in order:
        one = pool[number]
        if one.session is not None:
            session = (one.key[0], one.session)
            spread[number] -= SPREAD * min(MOST_SPREAD, seen[session])
            seen[session] += not one.by_agent
    return spread


def _with_rules(pool: Sequence[Evidence], order: list[int]) -> list[int]:
    """The rules nearest to the question stand on the kept places, unless they stand before them anyway."""
    first = set(order[:KEPT_FROM])
    rules = [number for number in order if pool[number].rule is not None]
    nearest = sorted(rules, key=lambda number: -(pool[number].rule or 0.0))[:KEPT]
    kept = [number for number in nearest if number not in first]
    rest = [number for number in order if number not in kept]
    return [*rest[:KEPT_FROM], *kept, *rest[KEPT_FROM:]]
