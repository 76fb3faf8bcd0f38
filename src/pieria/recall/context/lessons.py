"""Lessons of sessions, for a context: how many wait, and which sentences of turns they already cover."""

from __future__ import annotations

from collections.abc import Sequence

from pieria.recall.part import Source
from pieria.record import lesson
from pieria.record.end import End
from pieria.record.link import DRAWN_FROM
from pieria.record.memory import Memory

MOST = 500
"""The newest proposals to read."""


def waiting(source: Source) -> int:
    """Return the number of undecided proposals that are worth a look."""
    asked = source.filter.having(
        kinds=tuple(lesson.KINDS.values()), types=lesson.TYPES, tags=(lesson.TAG,), status=("proposed",)
    )
    if not source.reader.count(asked)["total"]:
        return 0
    held = source.reader.select(asked, "newest", MOST)
    return sum((memory.confidence or 0) >= lesson.WORTH_A_LOOK for memory in held)


def spoken_for(source: Source, memories: Sequence[Memory]) -> dict[str, set[str]]:
    """Return by turn id the sentences of lessons that were accepted, declined or superseded."""
    turns = {memory.id for memory in memories if memory.kind == "turn"}
    if not turns:
        return {}
    known = source.filter.known_at
    links = source.reader.links([End("memory", id) for id in turns], DRAWN_FROM, known)
    drawn: dict[str, set[str]] = {}
    for link in links:
        if link.target.name in turns:
            drawn.setdefault(link.source.name, set()).add(link.target.name)
    if not drawn:
        return {}
    asked = source.filter.having(ids=tuple(drawn)).anything()
    states = source.reader.states(list(drawn), asked)
    held = source.reader.memories([one.state.row for one in states.values()], asked)
    found: dict[str, set[str]] = {}
    for memory in held.values():
        if lesson.TAG in memory.tags and memory.body.get("type") == lesson.RULE and memory.status != "proposed":
            for turn in drawn[memory.id]:
                found.setdefault(turn, set()).update(_quotes(memory))
    return found


def _quotes(memory: Memory) -> list[str]:
    evidence = memory.body.get("evidence")
    told = evidence if isinstance(evidence, list) else []
    return [str(each["said"]) for each in told if isinstance(each, dict) and each.get("said")]
