"""The single-valued predicates: those of a table, and those that a bank declares in records of its own.

They are never guessed. A declaration of the bank wins over the table, either way.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from pieria.record.changeset import Record
from pieria.record.fact import folded_predicate
from pieria.record.ids import derived_id
from pieria.record.reply import Reply
from pieria.store.protocol import Reader

COLLECTION = "predicates"
"""A declaration is {"name", "single"}. Those of earlier versions have no "single", and mean single-valued."""
TABLE = "single_valued.toml"


@dataclass(frozen=True, slots=True)
class Predicate(Reply):
    """A predicate in use or declared, with the number of its facts."""

    name: str
    single_valued: bool
    facts: int


@cache
def built_in() -> frozenset[str]:
    """Return the keys of the predicates that are single-valued from the start."""
    groups = tomllib.loads((files("pieria.facts") / TABLE).read_text("utf-8"))
    return frozenset(folded_predicate(name) for names in groups.values() for name in names)


def is_single(reader: Reader, key: str) -> bool:
    declared = _declaration(reader, key)
    return key in built_in() if declared is None else _says_single(declared)


def declared_name(reader: Reader, key: str) -> str | None:
    """Return the spelling of a predicate that this bank declared; None if it did not."""
    declared = _declaration(reader, key)
    return None if declared is None else str(declared["name"])


def single_valued(reader: Reader) -> frozenset[str]:
    """Return the keys of all single-valued predicates."""
    declared = {folded_predicate(held["name"]): _says_single(held) for held in reader.records(COLLECTION).values()}
    return (built_in() - declared.keys()) | {key for key, is_single in declared.items() if is_single}


def declared(reader: Reader, name: str, single: bool) -> list[Record]:
    """Return the records to write; none if nothing changes."""
    key = folded_predicate(name)
    held = _declaration(reader, key)
    if single == (False if held is None else _says_single(held)) and (held is not None or key not in built_in()):
        return []
    is_needed = single or key in built_in()
    said = {"name": reader.spelling(key, predicate=True) or name, "single": single}
    return [Record(COLLECTION, _id(key), said if is_needed else None)]


def listed(reader: Reader, spelt: Mapping[str, int]) -> list[Predicate]:
    """Return used and declared predicates by name. `spelt` counts facts by spelling."""
    names: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for spelling, number in spelt.items():
        key = folded_predicate(spelling)
        names.setdefault(key, spelling)
        counts[key] += number
    names.update((folded_predicate(held["name"]), held["name"]) for held in reader.records(COLLECTION).values())
    single = single_valued(reader)
    found = [Predicate(name, key in single, counts[key]) for key, name in names.items()]
    return sorted(found, key=lambda predicate: predicate.name)


def _declaration(reader: Reader, key: str) -> Mapping[str, Any] | None:
    held: Mapping[str, Any] | None = reader.records(COLLECTION, _id(key)).get(_id(key))
    return held


def _says_single(declaration: Mapping[str, Any]) -> bool:
    return bool(declaration.get("single", True))


def _id(key: str) -> str:
    return derived_id("", key)
