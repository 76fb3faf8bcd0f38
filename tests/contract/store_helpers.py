"""Short helpers that write to a store and read from it, for all stores alike."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from pieria.record.changeset import Applied, Changeset, Write
from pieria.record.draft import NewMemory, checked
from pieria.record.fact import FactRow
from pieria.record.filter import Filter
from pieria.record.link import LinkRow
from pieria.record.time import iso, micros, moment
from pieria.store.protocol import Store
from pieria.store.rows import first_write

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
NOW = micros(START)
HOUR = 3_600_000_000
DAY = 24 * HOUR
TIMES = ("at", "valid_from", "valid_until")
ALL = Filter(now=NOW)
"""The filter for all that a reader without a session sees now."""


class HandClock:
    """A clock that shows the same time until it is moved."""

    def __init__(self, now: datetime = START) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def move(self, **by: float) -> None:
        self.now += timedelta(**by)


def state_of(write: Write, **changes: Any) -> Write:
    return write._replace(state=write.state._replace(**changes))


def memory(text: str = "a note", id: str = "m", *, state: Mapping[str, Any] | None = None, **values: Any) -> Write:
    """Return the first version of a memory. `state` sets values that `remember` cannot; times may be numbers."""
    values |= {name: iso(moment(values[name])) for name in TIMES if isinstance(values.get(name), int)}
    write = first_write(checked(NewMemory(text, **values)), id, NOW, f"bank/{values.get('kind', 'note')}")
    return state_of(write, **(state or {}))


def next_version(write: Write, text: str, **changes: Any) -> Write:
    """Return the next version of the memory, with another text."""
    assert write.content is not None
    newer = memory(text, write.state.id)
    assert newer.content is not None
    version = write.state.version + 1
    return Write(write.state._replace(version=version, **changes), newer.content._replace(version=version), newer.terms)


def standing(write: Write, row: int, **changes: Any) -> Write:
    """Return a change of the state alone. `row` is the row number that the store gave."""
    return Write(write.state._replace(row=row, **changes))


def tie(id: str, source: str, target: str, relation: str = "related", *, ended: str = "", **values: Any) -> LinkRow:
    """Return a link. An end with a slash is a place, any other a memory."""
    ends = ["place" if "/" in end else "memory" for end in (source, target)]
    return LinkRow(
        id, ends[0], source, relation, ends[1], target, values.get("weight", 1.0), values.get("label"),
        values.get("meta"), ended,
    )  # fmt: skip


def triple(id: str, subject: str, predicate: str, object: str, **values: Any) -> FactRow:
    keys = {"subject_key": subject.casefold(), "predicate_key": predicate.casefold(), "object_key": object.casefold()}
    unset = dict.fromkeys(("valid_from", "valid_until", "confidence", "memory", "source", "reason"))
    named: dict[str, Any] = {**unset, "ended": "", **keys, **values}
    return FactRow(id=id, subject=subject, predicate=predicate, object=object, **named)


def apply(store: Store, *writes: Write, what: str = "test", **parts: Any) -> Applied:
    """Apply one change in a transaction."""
    with store.writing() as writer:
        return writer.apply(Changeset(what, "tests", writes=list(writes), **parts))


TABLES = ("content", "state", "link", "fact", "usage", "record", "journal", "purged")


def everything(store: Store) -> dict[str, list[dict[str, Any]]]:
    """Return all rows of a store, to compare before and after."""
    with store.reading() as reader:
        return {table: list(reader.dump(table)) for table in TABLES}
