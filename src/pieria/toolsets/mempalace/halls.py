"""Halls: what a drawer is, whatever it is about. A decision and an event of one room lie in two halls.

A hall is the palace's word for the type of a memory, so that a filter finds it by the store's own means. What is filed
here gets one by its words; what other toolsets have given a type keeps it; what has none lies in the hall of its kind.
"""

from __future__ import annotations

from types import MappingProxyType

from pieria.record.memory import Memory
from pieria.record.standing_rules import standing
from pieria.toolsets.mempalace.cues import CUES

FACTS = "hall_facts"
TYPES = MappingProxyType(
    {
        FACTS: ("fact", "note", "observation", "drawer", "turn", "summary", "semantic"),
        "hall_decisions": ("decision",),
        "hall_events": ("event", "change", "feature", "refactor", "session", "episodic"),
        "hall_discoveries": ("discovery", "bugfix"),
        "hall_preferences": ("preference",),
        "hall_advice": ("advice", "procedural"),
        "hall_diary": ("diary",),
    }
)
"""The types that lie in a hall, and the kinds of what bears none. The first is the one that is given here."""
HALLS = MappingProxyType({type: hall for hall, types in TYPES.items() for type in types})

_SPOKEN = MappingProxyType({"rule": "hall_advice", "preference": "hall_preferences"})
READ = 3_000
"""Characters that decide."""


def hall_by(text: str) -> str:
    """The hall that the words of a text speak for; facts, where none do."""
    begin = text[:READ]
    laid_down = {rule.kind for rule in standing(begin)}
    for kind, hall in _SPOKEN.items():
        if kind in laid_down:
            return hall
    worth = {hall: len({found[0].casefold() for found in cue.finditer(begin)}) for hall, cue in CUES.items()}
    best = max(worth, key=lambda hall: worth[hall])
    return best if worth[best] else FACTS


def hall_of(memory: Memory) -> str | None:
    """None where it bears a type of which the palace does not know."""
    type = memory.body.get("type")
    return HALLS.get(type if isinstance(type, str) else memory.kind)


def type_of(hall: str) -> str:
    return TYPES[hall][0]


def types_of(hall: str) -> list[str]:
    return list(TYPES[hall])
