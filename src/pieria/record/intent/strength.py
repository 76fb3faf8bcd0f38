"""How strong a memory is from the first, by what it says of itself: 1 is plain, 2 is never to be forgotten."""

from __future__ import annotations

from collections.abc import Sequence

from pieria.record.intent.phrases import phrases
from pieria.record.letters import lowered

PLAIN, LEAST, MOST = 1.0, 0.9, 2.0
IMPORTANT, CRITICAL = 0.4, 0.8
_SHORT, _LONG = 200, 1_000
"""Characters: up to the first a text is short, and from the second on longer makes no difference."""
_FEW, _MANY = 3, 8
"""Entities, alike."""
_BY_LENGTH, _BY_ENTITIES, _BY_ASKING = 0.1, 0.2, -0.1


def judge_strength(text: str, entities: Sequence[str]) -> float:
    """Between 0.9 and 2, a question a little less than what is stated."""
    told = PLAIN
    told += _BY_LENGTH * _share(len(text.strip()), _SHORT, _LONG)
    told += _BY_ENTITIES * _share(len(entities), _FEW, _MANY)
    told += CRITICAL if is_critical(text) else IMPORTANT if is_important(text) else 0.0
    told += _BY_ASKING if text.rstrip().endswith(("?", "？")) else 0.0
    return round(min(MOST, max(LEAST, told)), 2)


def is_important(text: str) -> bool:
    return any(said.search(lowered(text)) for said in phrases("strength", "important"))


def is_critical(text: str) -> bool:
    return any(said.search(lowered(text)) for said in phrases("strength", "critical"))


def _share(value: int, least: int, most: int) -> float:
    return min(1.0, max(0.0, (value - least) / (most - least)))
