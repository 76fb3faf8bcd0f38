"""What becomes of a note and its memory, once it is known what became of either since they said the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

AS_IT_WAS, REWRITE, EDITED, CONFLICT = "unchanged", "rewritten", "edited", "conflict"
_LISTS = ("tags", "entities")
"""Of these, what either side added or took away goes together."""

Kept = Mapping[str, Any]


def decided(said: Kept, base: Kept, held: Kept, held_base: Kept) -> str:
    """What the note says now and said when it was compared last; what it would say of the memory now, and then."""
    by_hand = {name for name in said if said[name] != base[name]}
    by_bank = {name for name in held if held[name] != held_base[name]}
    if not by_hand:
        return REWRITE if by_bank and said != held else AS_IT_WAS
    both = {name for name in by_hand & by_bank if said[name] != held[name]}
    if said == held:
        return AS_IT_WAS
    return CONFLICT if both.difference(_LISTS) else EDITED
