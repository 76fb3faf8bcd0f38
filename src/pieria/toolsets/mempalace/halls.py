"""Halls: what a drawer is, such as a decision or an event. One room may hold drawers of several halls.

A hall is the palace's name for a memory's type, so the store can filter by it. New drawers get one from their words;
memories of other toolsets keep their type. A memory without a type is in the hall of its kind.
"""

from __future__ import annotations

from types import MappingProxyType

from pieria.language.standing_rules import standing
from pieria.record.memory import Memory
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
"""The types and kinds of each hall. New drawers get the first one."""
HALLS = MappingProxyType({type: hall for hall, types in TYPES.items() for type in types})

_SPOKEN = MappingProxyType({"rule": "hall_advice", "preference": "hall_preferences"})
READ = 3_000
"""How many characters of a text are read to choose its hall."""


def hall_by(text: str) -> str:
    """Return the hall that the text's words point to; facts if none do."""
    begin = text[:READ]
    laid_down = {rule.kind for rule in standing(begin)}
    for kind, hall in _SPOKEN.items():
        if kind in laid_down:
            return hall
    worth = {hall: len({found[0].casefold() for found in cue.finditer(begin)}) for hall, cue in CUES.items()}
    best = max(worth, key=lambda hall: worth[hall])
    return best if worth[best] else FACTS


def hall_of(memory: Memory) -> str | None:
    """Return the memory's hall; None if the palace does not know its type."""
    type = memory.body.get("type")
    return HALLS.get(type if isinstance(type, str) else memory.kind)


def type_of(hall: str) -> str:
    return TYPES[hall][0]


def types_of(hall: str) -> list[str]:
    return list(TYPES[hall])
