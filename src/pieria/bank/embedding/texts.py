"""What is embedded for a memory: its passages, its lead, the standing rules in it, and for a turn the window around it.

A rule's sentence is embedded beside the passage that it stands in, since a passage speaks of more than its rule. That
is done with the passages, where the memory stands and is labelled as one that lays a rule down. The lead of a text of
several passages is embedded too, since what a long text is about mostly stands there. A memory whose vectors were
supplied has neither, nor has one that was embedded before there were any: there the passages speak for both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pieria.record.changeset import Content
from pieria.record.filter import Filter, Viewer
from pieria.record.passages import LIMIT, lead, passages
from pieria.record.standing_rules import KINDS, said_as, standing
from pieria.record.time import micros
from pieria.record.windows import AFTER, BEFORE, Turn, window
from pieria.store.protocol import Embedded, Kind, Pending, Reader

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

REACH = max(BEFORE, AFTER)
MOST_RULES = 100
"""Rules of a text that are embedded one by one. Where there are more it is a rule book, found by its passages."""


PUT_AT_ONCE = 64
"""Texts that are put together, short memories before long ones: so long do those wait for each other."""
EVERYTHING = Filter(now=0, viewer=Viewer(everything=True), quarantined=True).anything()
"""What is in quarantine is embedded like everything else, so that nothing of it is missing once it is lifted."""


class Task(NamedTuple):
    """A text to embed, and what its vector is to be put as."""

    text: str
    row: int
    what: Kind
    number: int
    start: int
    stop: int
    members: tuple[int, ...] = ()
    known_from: int | None = None

    @property
    def item(self) -> Pending:
        """What it was pending as."""
        return Pending(self.row, "window" if self.what == "window" else "passage")

    def put_as(self, vector: NDArray[np.float32]) -> Embedded:
        return Embedded(self.row, self.what, self.number, self.start, self.stop, vector, self.members, self.known_from)


def tasks_of(reader: Reader, pending: Sequence[Pending]) -> list[Task]:
    """The texts of what is pending. What is gone by now has none."""
    rows = [item.row for item in pending if item.what == "passage"]
    turns = [item.row for item in pending if item.what == "window"]
    return [*_passages(reader, rows), *_windows(reader, turns)]


def _passages(reader: Reader, rows: Sequence[int]) -> Iterator[Task]:
    ruling = reader.outlines(rows, EVERYTHING.having(standing=KINDS))
    for row, content in reader.readable(rows).items():
        title = _title(content)
        found = passages(content.text)
        if len(found) > 1:
            yield _lead(row, content)
        for number, (start, end) in enumerate(found):
            yield Task(title + content.text[start:end], row, "passage", number, start, end)
        if row in ruling:
            yield from _rules(row, content.text, ruling[row].kind)


def leads(reader: Reader, rows: Sequence[int]) -> list[Task]:
    """Of those of these texts that have several passages."""
    return [_lead(row, content) for row, content in reader.readable(rows).items() if len(content.text) > LIMIT]


def _lead(row: int, content: Content) -> Task:
    title = _title(content)
    text = lead(title + content.text)
    return Task(text, row, "lead", 0, 0, max(1, len(text) - len(title)))


def _title(content: Content) -> str:
    return f"{content.title}\n" if content.title else ""


def _rules(row: int, text: str, kind: str) -> Iterator[Task]:
    found = standing(text, said_as(kind))
    if len(found) <= MOST_RULES:
        for number, rule in enumerate(found):
            yield Task(text[rule.start : rule.end], row, "rule", number, rule.start, rule.end)


def _windows(reader: Reader, rows: Sequence[int]) -> Iterator[Task]:
    """Of the turns that stand, with such neighbours as whoever sees the turn sees too."""
    filter = EVERYTHING.having(endings=("",))
    around = reader.around(rows, filter, REACH, company=True)
    wanted = {row for row in rows} | {row for near in around.values() for _, row in near}
    there = reader.memories(sorted(wanted), filter)
    for row in rows:
        if row not in there:
            continue
        places = sorted([(0, row), *around.get(row, ())])
        turns = [there[place] for _, place in places]
        middle = places.index((0, row))
        made = window([Turn(turn.text, turn.author) for turn in turns], middle)
        members = [turns[place] for place in made.members]
        known = micros(max(turn.known_from for turn in members))
        yield Task(made.text, row, "window", 0, 0, len(made.text), tuple(m.row for m in members if m.row != row), known)


def in_parts(tasks: Iterable[Task]) -> Iterator[list[Task]]:
    """Whole memories, those of few texts first: a long one is put by itself, and holds up none but its like."""
    by_item: dict[Pending, list[Task]] = {}
    for task in tasks:
        by_item.setdefault(task.item, []).append(task)
    part: list[Task] = []
    for each in sorted(by_item.values(), key=len):
        if part and len(part) + len(each) > PUT_AT_ONCE:
            yield part
            part = []
        part += each
    if part:
        yield part
