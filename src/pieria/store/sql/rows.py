"""Converts rows of the tables into the record's values."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from itertools import product
from marshal import dumps
from types import NoneType
from typing import Any, TypeVar
from zlib import crc32

from pieria.language.glance import speaker
from pieria.record.changeset import FOREVER, Change, Content, State, Stored
from pieria.record.decay import Wear
from pieria.record.fact import Fact, FactName
from pieria.record.link import End, Link
from pieria.record.memory import Memory
from pieria.record.time import moment
from pieria.record.trust import HEARSAY, TRUST, lowest
from pieria.record.usage import UNUSED, Usage
from pieria.store.facts import FactSpan
from pieria.store.parts import Aged, Met, Outline
from pieria.store.rows import mapping_of, memory_of
from pieria.store.sql.session import DamagedMemory, UnreadableRow

CONTENT_COLUMNS, STATE_OF_MET = 12, 12
Row = Sequence[Any]
Built = TypeVar("Built")
_TEXT, _WHOLE = (str,), (int,)
_TEXT_OR_NONE, _WHOLE_OR_NONE, _REAL_OR_NONE = (str, NoneType), (int, NoneType), (float, NoneType)
# Sets of type tuples: a lookup by the row's types is fast, and a recall reads many rows.
_NAME = frozenset(product(_TEXT, _TEXT, _WHOLE))
_SPAN = frozenset(product(*[_TEXT] * 5, _WHOLE_OR_NONE, _WHOLE_OR_NONE, _TEXT_OR_NONE, _WHOLE))
_FACT = frozenset(
    product(
        _WHOLE, *[_TEXT] * 7, _WHOLE_OR_NONE, _WHOLE_OR_NONE, _REAL_OR_NONE, _TEXT_OR_NONE, _TEXT_OR_NONE, _TEXT,
        _TEXT_OR_NONE, _WHOLE, _WHOLE,
    )
)  # fmt: skip
FORMAT = 2
"""A `marshal` format whose bytes depend only on the values, on every machine and in every Python that reads it."""
_PLAIN = frozenset({str, int, float, bytes, type(None)})


def _of(what: str) -> Callable[[Callable[[Row], Built]], Callable[[Row], Built]]:
    """Raise `UnreadableRow` if a value has a type that is never written there. The error quotes no value."""

    def readable(build: Callable[[Row], Built]) -> Callable[[Row], Built]:
        @wraps(build)
        def built(row: Row) -> Built:
            try:
                return build(row)
            except (TypeError, ValueError, OverflowError) as problem:
                raise UnreadableRow(f"a {what} has a value of the wrong type") from problem

        return built

    return readable


def _of_kinds(row: Row, kinds: frozenset[tuple[object, ...]]) -> Row:
    if tuple(map(type, row)) not in kinds:
        raise TypeError
    return row


@_of("memory")
def memory(row: Row) -> Memory:
    """Build from `content.*` and `state.*`, each with its checksum."""
    held = row[CONTENT_COLUMNS]
    if held is not None and held != sum_of(row[:CONTENT_COLUMNS]):
        raise DamagedMemory(row[0], row[1])
    if not isinstance(row[4], str):
        raise TypeError
    number, known_from, known_until, *state = row[CONTENT_COLUMNS + 1 : -1]
    return memory_of(row[1:CONTENT_COLUMNS], (number, *state), known_from, known_until)


@_of("memory")
def hearsay(row: Row) -> Memory:
    """Return the memory with at most the trust of hearsay: another party may have written the bank."""
    made = memory(row)
    trust = min(made.trust, TRUST[HEARSAY])
    origin = replace(made.origin, via=lowest(made.via, HEARSAY))
    return replace(made, judgement=replace(made.judgement, trust=trust), origin=origin)


@_of("state")
def stored(row: Row) -> Stored:
    """Build from `state.*`."""
    number, known_from, known_until, *rest = row
    return Stored(State(number, *rest), known_from, known_until)


@_of("memory")
def content(row: Row) -> Content:
    """Build from `content.*` and its checksum. Stores without checksums give None."""
    held = row[CONTENT_COLUMNS]
    if held is not None and held != sum_of(row[:CONTENT_COLUMNS]):
        raise DamagedMemory(row[0], row[1])
    return content_as_held(row)


@_of("memory")
def content_as_held(row: Row) -> Content:
    """Return content without checking its sum: one damaged memory must not block building the index."""
    made = Content._make(row[1:CONTENT_COLUMNS])
    if not isinstance(made.text, str):
        raise TypeError
    return made


@_of("state")
def outline(row: Row) -> Outline:
    *held, pinned, begin = row
    author = row[4]
    said_by = speaker(begin) if author is None and isinstance(begin, str) else author
    return Outline._make((*held, bool(pinned), said_by))


@_of("state")
def met(rows: Sequence[Row]) -> Met:
    """Build from rows that end with `usage.*`, which is all None if there is none."""
    columns = list(zip(*rows, strict=True)) or [()] * (STATE_OF_MET + 1)
    used = [
        UNUSED if id is None else usage(row[STATE_OF_MET:]) for row, id in zip(rows, columns[STATE_OF_MET], strict=True)
    ]
    return Met(*[*map(list, columns[:STATE_OF_MET]), used])


@_of("state")
def outlined_hearsay(row: Row) -> Outline:
    """Return the outline with at most the trust of hearsay."""
    made = outline(row)
    return made._replace(trust=min(made.trust, TRUST[HEARSAY]))


@_of("usage")
def aged(row: Row) -> Aged:
    """Build from a row that ends with `usage.*`, which is all None if there is none."""
    number, id, importance, at, kind, strength, version, written, *used = row
    wear = Wear(at, kind, strength, UNUSED if used[0] is None else usage(tuple(used)), written, version)
    return Aged(number, id, importance, wear)


@_of("link")
def link(row: Row) -> Link:
    _, id, source_is, source, relation, target_is, target, weight, label, meta, ended, known_from, known_until = row
    return Link(
        id=id,
        source=End(source_is, source),
        relation=relation,
        target=End(target_is, target),
        known_from=moment(known_from),
        known_until=None if known_until == FOREVER else moment(known_until),
        weight=weight,
        label=label,
        meta=mapping_of(meta),
        ended=ended,
    )


@_of("fact")
def fact(row: Row) -> Fact:
    (
        _, id, subject, _, predicate, _, object, _, valid_from, valid_until, confidence, from_memory, source, ended,
        reason, known_from, known_until,
    ) = _of_kinds(row, _FACT)  # fmt: skip
    return Fact(
        id=id,
        subject=subject,
        predicate=predicate,
        object=object,
        known_from=moment(known_from),
        known_until=None if known_until == FOREVER else moment(known_until),
        valid_from=None if valid_from is None else moment(valid_from),
        valid_until=None if valid_until is None else moment(valid_until),
        confidence=confidence,
        memory=from_memory,
        source=source,
        ended=ended,
        reason=reason,
    )


@_of("fact")
def span(row: Row) -> FactSpan:
    return FactSpan._make(_of_kinds(row, _SPAN))


@_of("fact")
def name(row: Row) -> FactName:
    return FactName._make(_of_kinds(row, _NAME))


@_of("usage")
def usage(row: Row) -> Usage:
    _, accesses, last_access, reviews, last_review, crossings, rewards, rewarded, spaced = row
    return Usage(
        accesses=accesses,
        last_access=None if last_access is None else moment(last_access),
        reviews=reviews,
        last_review=None if last_review is None else moment(last_review),
        crossings=crossings,
        rewards=rewards,
        rewarded=rewarded,
        spaced=spaced,
    )


@_of("change")
def change(row: Row) -> Change:
    seq, at, who, what, ids = row
    return Change(seq, moment(at), who, what, tuple(json.loads(ids)))


def sum_of(values: Sequence[Any]) -> int:
    """Return the checksum of texts, numbers, bytes and Nones in their order."""
    # For a subclass `marshal` writes its raw buffer, but the database returns the plain value.
    plain = values if _PLAIN.issuperset(map(type, values)) else map(_plain, values)
    return crc32(dumps(tuple(plain), FORMAT))


def _plain(value: Any) -> Any:
    """Return a value of a subclass as the plain value that the database returns."""
    for kind in (str, int, float):
        if isinstance(value, kind):
            return kind.__str__(value) if kind is str else kind(value)
    return value
