"""The texts embedded for a memory: passages, a lead, its standing rules, and for a turn the window around it.

A rule gets a vector of its own, because its passage speaks of other things too; this requires that the memory is
labelled as ruling. A text of several passages gets a lead, because its beginning usually says what it is about.
Memories with supplied vectors have neither, and neither have those embedded by a version without them: there the
passages serve for both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pieria.language.passages import LIMIT, lead, passages
from pieria.language.standing_rules import KINDS, said_as, standing
from pieria.language.windows import AFTER, BEFORE, Turn, window
from pieria.record.changeset import Content
from pieria.record.filter import Filter, Viewer
from pieria.record.time import micros
from pieria.store.protocol import Embedded, Kind, Pending, Reader

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

REACH = max(BEFORE, AFTER)
MOST_RULES = 100
"""Rules of a text that are embedded separately. A text with more is found by its passages."""


PUT_AT_ONCE = 64
"""Texts stored together, short memories first, so that these do not wait for long ones."""
EVERYTHING = Filter(now=0, viewer=Viewer(everything=True), quarantined=True).anything()
"""Quarantined memories are embedded too, so that their vectors are there when quarantine is lifted."""


class Task(NamedTuple):
    """A text to embed, and the columns of its vector."""

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
        """The queue entry of this text."""
        return Pending(self.row, "window" if self.what == "window" else "passage")

    def put_as(self, vector: NDArray[np.float32]) -> Embedded:
        return Embedded(self.row, self.what, self.number, self.start, self.stop, vector, self.members, self.known_from)


def tasks_of(reader: Reader, pending: Sequence[Pending]) -> list[Task]:
    """Return the texts of pending rows. Rows that are gone have none."""
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
    """Return the leads of texts with several passages."""
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
    """Yield the windows of existing turns. All readers of the turn can see its neighbours."""
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
    """Yield batches of whole memories, those with few texts first, so that long ones delay only each other."""
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
