"""Groups to summarize: stretches of a conversation in sequence, and notes on one subject.

A group never mixes audiences or trust: its summary would carry words from one to the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pieria.record.decay import HOUR
from pieria.record.memory import Memory
from pieria.record.time import micros
from pieria.upkeep.subjects import Spread, note_of, subjects

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

LEAST = 3
"""The least members of a group. Fewer are as quick to read as a summary."""
LONGEST_STRETCH = 16
"""Turns of one stretch of a conversation."""
PAUSE = 3 * HOUR
"""A conversation continues on another subject after a pause this long."""

Audience = tuple[str, str | None, str | None]


class Summarized(NamedTuple):
    """A summary that may grow, and the memories it is drawn from, in order of time."""

    summary: Memory
    sources: Sequence[Memory]


class Group(NamedTuple):
    """Memories for one summary, in order of time. `held` is the summary of some of them, if there is one."""

    members: Sequence[Memory]
    held: Memory | None = None


def grouped(
    memories: Sequence[Memory],
    vectors: Mapping[int, Vector],
    summarized: Iterable[Summarized] = (),
    prior: Spread | None = None,
) -> list[Group]:
    """Return the groups that deserve a new or another summary. Memories without company are left out.

    `prior` is how alike unrelated texts are to the embedder.
    """
    growing: dict[tuple[Audience, float], list[Summarized]] = {}
    for one in summarized:
        growing.setdefault(_apartness(one.sources[0]), []).append(one)
    found: list[Group] = []
    for key, apart in _apart(memories).items():
        talks: dict[str, list[Memory]] = {}
        notes = []
        for memory in apart:
            if memory.kind == "turn" and memory.session is not None:
                talks.setdefault(memory.session, []).append(memory)
            else:
                notes.append(memory)
        for talk in talks.values():
            found += [Group(stretch) for stretch in _stretches(talk) if len(stretch) >= LEAST]
        found += _on_subjects(notes, vectors, growing.get(key, ()), prior)
    return found


def _apart(memories: Iterable[Memory]) -> dict[tuple[Audience, float], list[Memory]]:
    apart: dict[tuple[Audience, float], list[Memory]] = {}
    for memory in in_time(memories):
        apart.setdefault(_apartness(memory), []).append(memory)
    return apart


def _apartness(memory: Memory) -> tuple[Audience, float]:
    return audience_of(memory), memory.trust


def in_time(memories: Iterable[Memory]) -> list[Memory]:
    return sorted(memories, key=lambda memory: (micros(memory.at), memory.row))


def audience_of(memory: Memory) -> Audience:
    """Return a key that memories share if the same readers see them."""
    private = memory.scope == "session"
    return memory.scope, memory.session if private else None, memory.channel if private else None


def _stretches(talk: Sequence[Memory]) -> list[list[Memory]]:
    """Cut a conversation at pauses and at `LONGEST_STRETCH` turns. A short rest joins the stretch before it."""
    stretches: list[list[Memory]] = []
    for memory in talk:
        last = stretches[-1] if stretches else []
        if not last or len(last) == LONGEST_STRETCH or micros(memory.at) - micros(last[-1].at) > PAUSE:
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


def _on_subjects(
    notes: Sequence[Memory], vectors: Mapping[int, Vector], growing: Sequence[Summarized], prior: Spread | None
) -> Iterator[Group]:
    """Yield the groups with at least one new note."""
    if not notes:
        return
    new = {note.row for note in notes}
    held = {source.row: one.summary for one in growing for source in one.sources}
    every = in_time({note.row: note for note in (*notes, *(s for one in growing for s in one.sources))}.values())
    number = {note.row: place for place, note in enumerate(every)}
    before = [[number[source.row] for source in one.sources] for one in growing]
    compared = list(map(note_of, every, _sittings(every)))
    for group in subjects(compared, _matrix(every, vectors), before, prior):
        members = [every[place] for place in group]
        summary = next((held[member.row] for member in members if member.row in held), None)
        if any(member.row in new for member in members) and len(members) >= LEAST:
            yield Group(members, summary)


def _sittings(notes: Sequence[Memory]) -> list[int | None]:
    """Return a number for each note that its session shares with it, without a pause between them."""
    last: dict[str, tuple[int, int]] = {}
    found: list[int | None] = []
    for place, note in enumerate(notes):
        if note.session is None:
            found.append(None)
            continue
        at = micros(note.at)
        sitting, before = last.get(note.session, (place, at))
        sitting = place if at - before > PAUSE else sitting
        last[note.session] = sitting, at
        found.append(sitting)
    return found


def _matrix(notes: Sequence[Memory], vectors: Mapping[int, Vector]) -> NDArray[np.float32]:
    """Return the vectors as rows; zeros where there is none."""
    import numpy as np

    width = len(next(iter(vectors.values()), ()))
    whole = np.zeros((len(notes), max(width, 1)), np.float32)
    for place, note in enumerate(notes):
        if note.row in vectors:
            whole[place] = vectors[note.row]
    return whole
