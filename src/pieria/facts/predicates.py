"""The single-valued predicates. They are declared, never guessed, and kept in the bank's own records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from pieria.record.changeset import Record
from pieria.record.fact import folded_predicate
from pieria.record.ids import derived_id
from pieria.record.reply import Reply
from pieria.store.protocol import Reader

COLLECTION = "predicates"


@dataclass(frozen=True, slots=True)
class Predicate(Reply):
    """A predicate in use or declared, with the number of its facts."""

    name: str
    single_valued: bool
    facts: int


class Declaration(NamedTuple):
    """The declaration of a single-valued predicate: its spelling, and the bank's known time before it."""

    name: str
    known: int


def declaration(reader: Reader, key: str) -> Declaration | None:
    held = reader.records(COLLECTION, _id(key)).get(_id(key))
    return None if held is None else Declaration(**held)


def single_valued(reader: Reader) -> dict[str, str]:
    """Return the spelling of each declared predicate by key."""
    return {folded_predicate(held["name"]): held["name"] for held in reader.records(COLLECTION).values()}


def declared(reader: Reader, name: str, single: bool) -> list[Record]:
    """Return the records to write; none if nothing changes."""
    key = folded_predicate(name)
    if single == (declaration(reader, key) is not None):
        return []
    spelt = reader.spelling(key, predicate=True) or name
    held = Declaration(spelt, reader.head().known)._asdict()
    return [Record(COLLECTION, _id(key), held if single else None)]


def listed(reader: Reader, spelt: Mapping[str, int]) -> list[Predicate]:
    """Return used and declared predicates by name. `spelt` counts facts by spelling."""
    names: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for spelling, number in spelt.items():
        key = folded_predicate(spelling)
        names.setdefault(key, spelling)
        counts[key] += number
    single = single_valued(reader)
    names.update(single)
    found = [Predicate(name, key in single, counts[key]) for key, name in names.items()]
    return sorted(found, key=lambda predicate: predicate.name)


def _id(key: str) -> str:
    return derived_id("", key)
