"""Groups to summarize: stretches of a conversation in sequence, and notes on one subject.

A group never mixes audiences: its summary would leak from one to the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log1p
from typing import TYPE_CHECKING, NamedTuple

from pieria.language.analyser import STOP_WORDS, terms
from pieria.record.decay import DAY, HOUR
from pieria.record.memory import Memory
from pieria.record.time import micros

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

LEAST, MOST = 3, 16
"""Members of a group. Fewer are as quick to read as a summary; more are several subjects."""
PAUSE = 3 * HOUR
"""A conversation continues on another subject after a pause this long."""
ALIKE, SHARED = 0.5, 0.3
"""Least similarity of notes on one subject: by vectors, else by weighted share of terms."""
SPAN = 30 * DAY
GROWING = 500
"""The newest groups that a note may still join. Each note is compared with all of them."""
READ = 2_000

Audience = tuple[str, str | None, str | None]


@dataclass(slots=True)
class _Open:
    """A group of notes that may still grow."""

    members: list[Memory]
    words: set[str] = field(default_factory=set)
    weight: float = 0.0
    """The total weight of `words`."""
    whole: Vector | None = None
    """The sum of the members' vectors."""
    vectors: int = 0


class _Note(NamedTuple):
    words: frozenset[str]
    weight: float
    vector: Vector | None


def grouped(memories: Sequence[Memory], vectors: Mapping[int, Vector]) -> list[list[Memory]]:
    """Return groups of at least `LEAST` members, each in time order. Other memories are left out."""
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
    """Return a key that memories share if the same readers see them."""
    private = memory.scope == "session"
    return memory.scope, memory.session if private else None, memory.channel if private else None


def _stretches(talk: Sequence[Memory]) -> list[list[Memory]]:
    """Cut a conversation at pauses and at `MOST` members. A short rest joins the stretch before it."""
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
    """Assign each note to its nearest group, or to a new one."""
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
    """Return the similarity as a multiple of the threshold: 1 or more is near enough."""
    if note.vector is not None and group.whole is not None:
        return float(note.vector @ group.whole) / group.vectors / ALIKE
    shared = note.words & group.words
    return sum(weights[word] for word in shared) / min(note.weight, group.weight) / SHARED if shared else 0.0


def _weights(said: Sequence[Collection[str]]) -> dict[str, float]:
    """Return the weight of each term: one in nearly every note tells no subject."""
    notes = Counter(word for words in said for word in words)
    return {word: log1p(len(said) / number) for word, number in notes.items()}


def _words(memory: Memory) -> frozenset[str]:
    said = terms(f"{memory.title or ''} {memory.text[:READ]} {' '.join((*memory.tags, *memory.entities))}")
    return frozenset(said) - STOP_WORDS
