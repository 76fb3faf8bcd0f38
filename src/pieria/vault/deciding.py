"""What becomes of a note and its memory, once it is known what became of either since they said the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

AS_IT_WAS, REWRITE, EDITED, CONFLICT = "unchanged", "rewritten", "edited", "conflict"
_LISTS = ("tags", "entities")
"""Of these, what either side added or took away goes together."""

Kept = Mapping[str, Any]


def decided(said: Kept, base: Kept, held: Kept) -> str:
    """What the note says now, what it said when its memory said the same, and what it would say of the memory now."""
    if said == held:
        return AS_IT_WAS
    by_hand = {name for name in said if said[name] != base[name]}
    if not by_hand:
        return REWRITE
    both = {name for name in by_hand if held[name] not in (base[name], said[name])}
    return CONFLICT if both.difference(_LISTS) else EDITED
