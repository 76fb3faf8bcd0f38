"""What lies together: the turns of a conversation as they follow each other, notes of one subject, all of one audience.

A group never mixes what different readers may see, or its summary would tell the one of the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log1p
from typing import TYPE_CHECKING, NamedTuple

from pieria.record.analyser import STOP_WORDS, terms
from pieria.record.decay import DAY, HOUR
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
GROWING = 500
"""The latest groups that a note may still join: each is compared with, and they may be many."""
READ = 2_000

Audience = tuple[str, str | None, str | None]


@dataclass(slots=True)
class _Open:
    """A group of notes that may still grow."""

    members: list[Memory]
    words: set[str] = field(default_factory=set)
    weight: float = 0.0
    """Of its words."""
    whole: Vector | None = None
    """The sum of the members' vectors."""
    vectors: int = 0


class _Note(NamedTuple):
    words: frozenset[str]
    weight: float
    vector: Vector | None


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
        by_audience.setdefault(audience_of(memory), []).append(memory)
    return by_audience.values()


def audience_of(memory: Memory) -> Audience:
    """What two memories share that the same readers see."""
    private = memory.scope == "session"
    return memory.scope, memory.session if private else None, memory.channel if private else None


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
    said = [_words(memory) for memory in notes]
    weights = _weights(said)
    groups: list[_Open] = []
    growing: list[_Open] = []
    for memory, words in zip(notes, said, strict=True):
        vector = vectors.get(memory.row)
        begin = micros(memory.at) - SPAN
        growing = [group for group in growing if len(group.members) < MOST and micros(group.members[-1].at) >= begin]
        note = _Note(words, sum(weights[word] for word in words), vector)
        best = max(growing, key=lambda group: _near(group, note, weights), default=None)
        if best is None or _near(best, note, weights) < 1:
            best = _Open([])
            groups.append(best)
            growing = [*growing, best][-GROWING:]
        best.members.append(memory)
        best.weight += sum(weights[word] for word in words - best.words)
        best.words |= words
        if vector is not None:
            best.whole = vector if best.whole is None else best.whole + vector
            best.vectors += 1
    return [group.members for group in groups]


def _near(group: _Open, note: _Note, weights: Mapping[str, float]) -> float:
    """1 and more: near enough."""
    if note.vector is not None and group.whole is not None:
        return float(note.vector @ group.whole) / group.vectors / ALIKE
    shared = note.words & group.words
    return sum(weights[word] for word in shared) / min(note.weight, group.weight) / SHARED if shared else 0.0


def _weights(said: Sequence[Collection[str]]) -> dict[str, float]:
    """What nearly every note says tells no subject."""
    notes = Counter(word for words in said for word in words)
    return {word: log1p(len(said) / number) for word, number in notes.items()}


def _words(memory: Memory) -> frozenset[str]:
    said = terms(f"{memory.title or ''} {memory.text[:READ]} {' '.join((*memory.tags, *memory.entities))}")
    return frozenset(said) - STOP_WORDS
