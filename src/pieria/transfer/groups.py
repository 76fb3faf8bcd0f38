"""The second pass over an export: one change at a time, without what the first pass rejected.

`Tally` counts what the import does with them.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from pieria.errors import TransferError
from pieria.record.changeset import Change, Content, Record, State
from pieria.record.usage import Use
from pieria.transfer.check import REPORT_EVERY, Checked
from pieria.transfer.file import Source
from pieria.transfer.lines import BadLineError, Line, line_of, object_of

HERE = "here already"
REMOVED = "removed here"
PURGED = "purged here"
NAMELESS = "names a memory that is not here"
BROKEN = "broken in the file"
DECIDES = "decides on a memory that the file does not bring"


@dataclass(slots=True)
class Tally:
    """Each counter is keyed by kind: memories, links, facts, usage, records, purged."""

    added: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    unchanged: Counter[str] = field(default_factory=Counter)
    left: dict[str, Counter[str]] = field(default_factory=dict)
    """What was left out or left alone, and why."""
    versions: int = 0
    not_carried: Counter[str] = field(default_factory=Counter)
    """What the file holds and this kind of import cannot keep."""

    def leave(self, what: str, why: str, number: int = 1) -> None:
        self.left.setdefault(what, Counter())[why] += number


@dataclass(slots=True)
class Group:
    """A change of the file with its rows, or a part of them. Lines keep their known intervals."""

    change: Change
    states: list[tuple[Line, Line | None]] = field(default_factory=list)
    """Each state with the content that came with it."""
    links: list[Line] = field(default_factory=list)
    facts: list[Line] = field(default_factory=list)
    purged: list[str] = field(default_factory=list)
    usage: list[Use] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)

    def __len__(self) -> int:
        return (
            len(self.states) + len(self.links) + len(self.facts)
            + len(self.purged) + len(self.usage) + len(self.records)
        )  # fmt: skip

    def ids(self) -> set[str]:
        """Return the ids of versioned rows: one change cannot hold two states of an id."""
        found = {line.row.id for line, _ in self.states}
        found.update(line.row.id for line in self.links)
        found.update(line.row.id for line in self.facts)
        return found


def state_of(line: Line) -> State:
    state: State = line.row
    return state


def content_of(line: Line) -> Content:
    content: Content = line.row
    return content


def groups(
    source: Source, checked: Checked, tally: Tally, progress: Callable[[int], None], largest: int | None = None
) -> Iterator[Group]:
    """Yield the changes in order; one with more rows than `largest` comes in parts. Usage and records at the end of the
    file belong to the last change."""
    reading = _Reading(checked, tally)
    for line in _sound_lines(source, checked, progress):
        if line.what == "change":
            if reading.group is not None:
                yield reading.group
            reading.group = Group(line.row)
        elif reading.group is not None:
            reading.take(line)
            if largest is not None and line.what != "content" and len(reading.group) >= largest:
                yield reading.group
                reading.group = Group(reading.group.change)
    if reading.group is not None:
        yield reading.group


def _sound_lines(source: Source, checked: Checked, progress: Callable[[int], None]) -> Iterator[Line]:
    digest = hashlib.sha256()
    for raw in source.lines():
        if raw.number % REPORT_EVERY == 0:
            progress(raw.offset)
        if raw.number > 1 and raw.number not in checked.bad_lines:
            try:
                values = object_of(raw)
                if values.get("line") == "end":
                    break
                yield line_of(raw, values)
            except BadLineError as bad:
                raise _changed(source) from bad
        digest.update(raw.content)
    if digest.hexdigest() != checked.sha256:
        raise _changed(source)


def _changed(source: Source) -> TransferError:
    return TransferError(source.path, "it was changed while it was read", hint="Try again; nothing was imported.")


class _Reading:
    def __init__(self, checked: Checked, tally: Tally) -> None:
        self._left = checked.left
        self._tally = tally
        self._content: Line | None = None
        self.group: Group | None = None

    def take(self, line: Line) -> None:
        group = self.group
        assert group is not None
        content, self._content = self._content, None
        if line.what == "content":
            self._content = line
        elif line.what == "state":
            if line.row.id not in self._left["memory"]:
                group.states.append((line, content))
        elif line.what in ("link", "fact"):
            self._take_tie(line, group)
        elif line.what == "usage":
            if line.row.id not in self._left["memory"]:
                group.usage.append(line.row)
        elif line.what == "purged":
            group.purged.append(line.row)
        else:
            group.records.append(line.row)

    def _take_tie(self, line: Line, group: Group) -> None:
        if line.row.id in self._left[line.what]:
            return
        if any(name in self._left["memory"] for name in memories_named(line)):
            if line.last:
                self._tally.leave(f"{line.what}s", NAMELESS)
        elif line.what == "link":
            group.links.append(line)
        else:
            group.facts.append(line)


def memories_named(line: Line) -> list[str]:
    """Return the memories that a link or fact needs."""
    row = line.row
    if line.what == "fact":
        return [] if row.memory is None else [row.memory]
    ends = ((row.source_is, row.source), (row.target_is, row.target))
    return [name for what, name in ends if what == "memory"]
