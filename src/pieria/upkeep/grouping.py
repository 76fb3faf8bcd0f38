"""What lies together: the turns of a conversation as they follow each other, notes of one subject, all of one audience.

A group never mixes what different readers may see, or its summary would tell the one of the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pieria.record.analyser import STOP_WORDS, terms
from pieria.record.fading import DAY, HOUR
from pieria.record.memory import Memory
from pieria.record.time import micros

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

LEAST, MOST = 3, 16
"""Members of a group: fewer are read as quickly as their summary, more are several subjects."""
PAUSE = 3 * HOUR
"""A conversation that rested so long goes on with something else."""
ALIKE, SHARED = 0.5, 0.3
"""How near the vectors of notes are that speak of one thing and, where there are none, what share of their words."""
SPAN = 30 * DAY
READ = 2_000

Audience = tuple[str, str | None, str | None]


@dataclass(slots=True)
class _Open:
    """A group of notes that may still grow."""

    members: list[Memory]
    words: set[str]
    vectors: list[Vector] = field(default_factory=list)


def grouped(memories: Sequence[Memory], vectors: Mapping[int, Vector]) -> list[list[Memory]]:
    """Groups of enough members, each in the order of time; what finds no company is in none."""
    found: list[list[Memory]] = []
    for apart in _apart(memories):
        talks: dict[str, list[Memory]] = {}
        notes = []
        for memory in apart:
            if memory.session is None:
                notes.append(memory)
            else:
                talks.setdefault(memory.session, []).append(memory)
        for talk in talks.values():
            found += _stretches(talk)
        found += _subjects(notes, vectors)
    return [group for group in found if len(group) >= LEAST]


def _apart(memories: Iterable[Memory]) -> Iterable[list[Memory]]:
    by_audience: dict[Audience, list[Memory]] = {}
    for memory in sorted(memories, key=lambda one: (micros(one.at), one.row)):
        private = memory.scope == "session"
        audience = (memory.scope, memory.session if private else None, memory.channel if private else None)
        by_audience.setdefault(audience, []).append(memory)
    return by_audience.values()


def _stretches(talk: Sequence[Memory]) -> list[list[Memory]]:
    """A conversation cut where it rested or grows too long; what is left of a stretch joins the one before it."""
    stretches: list[list[Memory]] = []
    for memory in talk:
        last = stretches[-1] if stretches else []
        if not last or len(last) == MOST or micros(memory.at) - micros(last[-1].at) > PAUSE:
            stretches.append([memory])
        else:
            last.append(memory)
    joined: list[list[Memory]] = []
    for stretch in stretches:
        near = bool(joined) and micros(stretch[0].at) - micros(joined[-1][-1].at) <= PAUSE
        if near and len(stretch) < LEAST:
            joined[-1] += stretch
        else:
            joined.append(stretch)
    return joined


def _subjects(notes: Sequence[Memory], vectors: Mapping[int, Vector]) -> list[list[Memory]]:
    """Each note with the group that it is nearest to, or with none yet."""
    groups: list[_Open] = []
    for memory in notes:
        words, vector = _words(memory), vectors.get(memory.row)
        best, nearest = None, 0.0
        for group in groups:
            recent = micros(memory.at) - micros(group.members[-1].at) <= SPAN
            if len(group.members) < MOST and recent:
                near = _near(group, words, vector)
                if near > nearest:
                    best, nearest = group, near
        if best is None or nearest < 1:
            best = _Open([], set())
            groups.append(best)
        best.members.append(memory)
        best.words |= words
        if vector is not None:
            best.vectors.append(vector)
    return [group.members for group in groups]


def _near(group: _Open, words: frozenset[str], vector: Vector | None) -> float:
    """1 and more: near enough."""
    if vector is not None and group.vectors:
        return float(sum(vector @ other for other in group.vectors)) / len(group.vectors) / ALIKE
    fewer = min(len(words), len(group.words))
    return len(words & group.words) / fewer / SHARED if fewer else 0.0


def _words(memory: Memory) -> frozenset[str]:
    said = terms(f"{memory.title or ''} {memory.text[:READ]} {' '.join((*memory.tags, *memory.entities))}")
    return frozenset(said) - STOP_WORDS
