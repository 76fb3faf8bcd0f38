"""What to do with a note and its memory, given the changes of each since the last sync."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

AS_IT_WAS, REWRITE, EDITED, CONFLICT = "unchanged", "rewritten", "edited", "conflict"
_LISTS = ("tags", "entities")
"""Fields that merge: additions and removals of both sides are combined."""

Kept = Mapping[str, Any]


def decided(said: Kept, base: Kept, held: Kept, held_base: Kept) -> str:
    """Return the decision. `said` and `base` are the note now and at the last sync; `held` and `held_base` are the
    memory now and then, as a note would state it."""
    by_hand = {name for name in said if said[name] != base[name]}
    by_bank = {name for name in held if held[name] != held_base[name]}
    if not by_hand:
        return REWRITE if by_bank and said != held else AS_IT_WAS
    both = {name for name in by_hand & by_bank if said[name] != held[name]}
    if said == held:
        return AS_IT_WAS
    return CONFLICT if both.difference(_LISTS) else EDITED
