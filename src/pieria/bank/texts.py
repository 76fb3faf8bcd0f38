"""What is embedded for a memory: its passages, and for a turn the window of what was said around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pieria.record.filter import Filter, Viewer
from pieria.record.passages import passages
from pieria.record.time import micros
from pieria.record.windows import AFTER, BEFORE, Turn, window
from pieria.store.protocol import Kind, Pending, Reader

REACH = max(BEFORE, AFTER)


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


def tasks_of(reader: Reader, pending: Sequence[Pending]) -> list[Task]:
    """The texts of what is pending. What is gone by now has none."""
    rows = [item.row for item in pending if item.what == "passage"]
    turns = [item.row for item in pending if item.what == "window"]
    return [*_passages(reader, rows), *_windows(reader, turns)]


def _passages(reader: Reader, rows: Sequence[int]) -> Iterator[Task]:
    for row, content in reader.contents(rows).items():
        title = f"{content.title}\n" if content.title else ""
        for number, (start, end) in enumerate(passages(content.text)):
            yield Task(title + content.text[start:end], row, "passage", number, start, end)


def _windows(reader: Reader, rows: Sequence[int]) -> Iterator[Task]:
    """Of the turns that stand, whoever may see them: a window is shown only to those who see all of it."""
    filter = Filter(now=0, viewer=Viewer(everything=True)).anything().having(endings=("",))
    around = reader.around(rows, filter, REACH)
    wanted = {row for row in rows} | {row for near in around.values() for _, row in near}
    standing = reader.memories(sorted(wanted), filter)
    for row in rows:
        if row not in standing:
            continue
        places = sorted([(0, row), *around.get(row, ())])
        turns = [standing[place] for _, place in places]
        middle = places.index((0, row))
        made = window([Turn(turn.text, turn.author) for turn in turns], middle)
        members = [turns[place] for place in made.members]
        known = micros(max(turn.known_from for turn in members))
        yield Task(made.text, row, "window", 0, 0, len(made.text), tuple(m.row for m in members if m.row != row), known)
