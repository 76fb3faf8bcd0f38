"""Summaries get shorter with age: after a month, and after half a year. The longer text stays as an earlier version."""

from __future__ import annotations

from itertools import chain, islice
from typing import NamedTuple

from pieria.models.mind import Mind
from pieria.record.decay import DAY
from pieria.record.filter import Filter, Viewer
from pieria.record.memory import Memory
from pieria.record.time import micros
from pieria.store.protocol import Reader
from pieria.upkeep.selection import selected
from pieria.upkeep.sleep import BY, SUMMARY, WORDS, said

AGES_DAYS = (0, 30, 180)
"""The age, in days, at which a summary gets the length of each level."""


class Shortened(NamedTuple):
    memory: Memory
    level: int
    text: str


def due_levels(reader: Reader, now: int, limit: int) -> list[tuple[Memory, int]]:
    """Return summaries of sleeps that are too long for their age, with the next level."""
    asked = Filter(
        now=now,
        viewer=Viewer(everything=True),
        kinds=(SUMMARY,),
        source=BY,
        status=("active", "archived"),
        pinned=False,
        until=now - AGES_DAYS[1] * DAY,
    )
    summaries = chain.from_iterable(selected(reader, asked))
    return list(islice(((memory, level) for memory in summaries if (level := _due_level(memory, now))), limit))


def _due_level(memory: Memory, now: int) -> int:
    """Return the next level, or 0 if it is not due. A late summary of old memories keeps its length for a while."""
    level = int(memory.body.get("level", 0)) + 1
    if level >= len(WORDS) or len(memory.text.split()) <= WORDS[level]:
        return 0
    waited = (now - max(micros(memory.at), micros(memory.known_from))) / DAY
    return level if waited >= AGES_DAYS[level] - AGES_DAYS[level - 1] else 0


def shortened(memory: Memory, level: int, mind: Mind) -> Shortened:
    return Shortened(memory, level, mind.summarize([said(memory)], WORDS[level]).strip())
