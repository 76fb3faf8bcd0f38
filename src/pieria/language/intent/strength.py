"""The initial strength of a memory, from its own text: 1 is plain, 2 is never forgotten."""

from __future__ import annotations

from collections.abc import Sequence

from pieria.language.intent.phrases import phrases
from pieria.language.letters import lowered

PLAIN, LEAST, MOST = 1.0, 0.9, 2.0
IMPORTANT, CRITICAL = 0.4, 0.8
_SHORT, _LONG = 200, 1_000
"""Characters: a text up to the first is short; beyond the second, more length adds nothing."""
_FEW, _MANY = 3, 8
"""The same limits for entities."""
_BY_LENGTH, _BY_ENTITIES, _BY_ASKING = 0.1, 0.2, -0.1


def judge_strength(text: str, entities: Sequence[str]) -> float:
    """Return a strength from 0.9 to 2. A question gets slightly less than a statement."""
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
