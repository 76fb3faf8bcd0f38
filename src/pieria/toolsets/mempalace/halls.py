"""Halls: what a drawer is, whatever it is about. A decision and an event of one room lie in two halls.

A hall is the palace's word for the type of a memory, so that a filter finds it by the store's own means. What other
toolsets have given a type keeps it; what has none lies in the hall of its kind, or in the one its words speak for.
"""

from __future__ import annotations

import re
from types import MappingProxyType

from pieria.record.memory import Memory
from pieria.record.standing import standing

FACTS = "hall_facts"
TYPES = MappingProxyType(
    {
        FACTS: ("fact",),
        "hall_decisions": ("decision",),
        "hall_events": ("event", "change", "feature", "refactor"),
        "hall_discoveries": ("discovery", "bugfix"),
        "hall_preferences": ("preference",),
        "hall_advice": ("advice",),
        "hall_diary": ("diary",),
    }
)
"""The types that lie in a hall; the first is the one that is given here."""
HALLS = MappingProxyType({type: hall for hall, types in TYPES.items() for type in types})
OF_KINDS = MappingProxyType(
    {"diary": "hall_diary", "semantic": FACTS, "procedural": "hall_advice", "episodic": "hall_events"}
)

CUES = MappingProxyType(
    {
        "hall_decisions": r"""
            decide[ds]? | decisions? | chose | chosen | choose | agreed | agreement | settled\ on | opted | ruled\ out
            | went\ with | going\ with | approved | rejected | instead\ of | trade-?offs?
            | switch(?:ed|ing)?\ (?:to|from) | migrat(?:e|ed|ing)\ (?:to|from)""",
        "hall_discoveries": r"""
            discover(?:ed|y) | found\ (?:out|that) | turn(?:s|ed)\ out | root\ cause | reali[sz]ed | learn(?:ed|t)
            | noticed | fixed | bugs? | because\ of | breakthrough | the\ (?:problem|cause|reason)\ (?:is|was)
            | caused\ by | insights?""",
        "hall_preferences": r"""
            prefers? | preferred | favou?rites? | likes | loves? | hates? | dislikes? | would\ rather | enjoys?
            | can't\ stand""",
        "hall_advice": r"""
            should(?:n't)? | must(?:n't)? | always | never | recommend(?:ed|ations?|s)? | advice | advise[sd]?
            | best\ practi[cs]es? | how\ to | make\ sure | remember\ to | avoid | tips? | do\ not | don't | if\ you""",
        "hall_events": r"""
            yesterday | today | tomorrow | tonight | (?:last|next)\ (?:week|month|year|night) | meeting | met
            | launch(?:ed)? | released? | shipped | deployed | happened | went\ to | visited | arrived | left
            | celebrated | signed | outage | incident | moved | \d{4}-\d{2}-\d{2}""",
    }
)
"""Words that speak for a hall; of two that are spoken for alike, the first."""
_CUES = {hall: re.compile(rf"(?<!\w)(?:{cues})(?!\w)", re.VERBOSE | re.IGNORECASE) for hall, cues in CUES.items()}
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
    worth = {hall: len({found[0].casefold() for found in cue.finditer(begin)}) for hall, cue in _CUES.items()}
    best = max(worth, key=lambda hall: worth[hall])
    return best if worth[best] else FACTS


def hall_of(memory: Memory) -> str:
    type = memory.body.get("type")
    if isinstance(type, str) and type in HALLS:
        return HALLS[type]
    return OF_KINDS.get(memory.kind) or hall_by(memory.text)


def type_of(hall: str) -> str:
    return TYPES[hall][0]
