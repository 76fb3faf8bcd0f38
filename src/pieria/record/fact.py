"""Facts: subject, predicate and object, with their valid time and their known time.

Rows store the keys of their names. The result of `folded` for a text must never change, or existing facts are no longer
found.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import lru_cache
from typing import Any, NamedTuple

from pieria.errors import InputError
from pieria.record import check
from pieria.record.time import micros, moment


@dataclass(frozen=True, slots=True)
class Fact:
    """One version of a fact over one interval of known time. It is valid over [valid_from, valid_until)."""

    id: str
    subject: str
    predicate: str
    object: str
    known_from: datetime
    known_until: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    confidence: float | None = None
    memory: str | None = None
    source: str | None = None
    ended: str = ""
    reason: str | None = None

    @property
    def source_memory(self) -> str | None:
        """Return the memory the fact was extracted from. A fact added alone has none: its memory only states it."""
        return _source_memory(self.id, self.memory)

    def as_dict(self, zone: tzinfo | None = None) -> dict[str, Any]:
        """Return the fact as JSON values. With a zone, a bound that is a whole day there is that day."""
        from pieria.record.days import end_text, start_text
        from pieria.record.time import iso

        def stamp(value: datetime | None) -> str | None:
            return iso(value) if value else None

        return {
            "id": self.id,
            "subject": self.subject,
            "predicate": self.predicate,
            "object": self.object,
            "valid_from": start_text(self.valid_from, zone) if zone else stamp(self.valid_from),
            "valid_until": end_text(self.valid_until, zone) if zone else stamp(self.valid_until),
            "known_from": stamp(self.known_from),
            "known_until": stamp(self.known_until),
            "confidence": self.confidence,
            "memory": self.memory,
            "source": self.source,
            "ended": self.ended,
            "reason": self.reason,
        }


class FactRow(NamedTuple):
    """A fact as written. Keys are the folded names for lookup; the store adds the known interval."""

    id: str
    subject: str
    subject_key: str
    predicate: str
    predicate_key: str
    object: str
    object_key: str
    valid_from: int | None
    valid_until: int | None
    confidence: float | None
    memory: str | None
    source: str | None
    ended: str
    reason: str | None

    @property
    def source_memory(self) -> str | None:
        """Return the same as `Fact.source_memory`."""
        return _source_memory(self.id, self.memory)


class FactName(NamedTuple):
    """A name used as subject or object, its key, and the number of facts that use it."""

    key: str
    name: str
    facts: int


@dataclass(frozen=True, slots=True)
class FactQuery:
    """Conditions for a lookup of facts. Keys are already folded; `either` finds a name on both sides."""

    ids: tuple[str, ...] | None = None
    subject_keys: tuple[str, ...] | None = None
    predicate_keys: tuple[str, ...] | None = None
    object_keys: tuple[str, ...] | None = None
    either_keys: tuple[str, ...] | None = None
    memory: str | None = None
    memories: tuple[str, ...] | None = None
    source: str | None = None
    include_ended: bool = False
    every_version: bool = False
    """Every interval of known time, not only the one at `known_at`."""


def _source_memory(id: str, memory: str | None) -> str | None:
    return None if memory == id else memory


def folded(name: str) -> str:
    """Return the key of a subject or object: case, character form and spacing are folded, accents are kept."""
    if not name.isascii():
        # Case folding can undo the normal form and the reverse, so one round is not enough.
        name = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", name).casefold())
        name = unicodedata.normalize("NFKC", name.casefold())
    return " ".join(name.casefold().split())


_HUMP = re.compile(r"(?<=[a-z]{2})(?=[A-Z])")


@lru_cache(maxsize=1024)
def folded_predicate(name: str) -> str:
    """Return the key of a predicate: lives_in, lives-in and livesIn are one."""
    return " ".join(folded(_HUMP.sub(" ", name)).replace("_", " ").replace("-", " ").split())


@lru_cache(maxsize=1024)
def predicate_keys(name: str) -> tuple[str, ...]:
    """Return every key under which facts of this predicate may be stored: banks once told these spellings apart."""
    key = folded_predicate(name)
    older = " ".join(folded(name).replace("_", " ").split())
    return tuple(dict.fromkeys((key, older, key.replace(" ", "-"), key.replace(" ", ""))))


def is_blank(name: str) -> bool:
    """Return whether the name has no visible character."""
    return all(unicodedata.category(character)[0] in "CZ" for character in name)


def checked_name(value: object, parameter: str) -> str:
    """Return a name that is visible and can be found."""
    kept = check.name(value, parameter)
    if is_blank(kept):
        raise InputError(parameter, "a text that is not blank", value)
    return kept


def checked_predicate(value: object, parameter: str = "predicate") -> str:
    kept = checked_name(value, parameter)
    if not folded_predicate(kept):
        raise InputError(parameter, "a predicate with a letter or digit", value)
    return kept


def row_of(fact: Fact) -> FactRow:
    """Return the row that writes the fact again."""
    return FactRow(
        id=fact.id,
        subject=fact.subject,
        subject_key=folded(fact.subject),
        predicate=fact.predicate,
        predicate_key=folded_predicate(fact.predicate),
        object=fact.object,
        object_key=folded(fact.object),
        valid_from=None if fact.valid_from is None else micros(fact.valid_from),
        valid_until=None if fact.valid_until is None else micros(fact.valid_until),
        confidence=fact.confidence,
        memory=fact.memory,
        source=fact.source,
        ended=fact.ended,
        reason=fact.reason,
    )


def fact_of(row: FactRow, known_from: datetime) -> Fact:
    """Return the fact that the written row will read as."""
    return Fact(
        id=row.id,
        subject=row.subject,
        predicate=row.predicate,
        object=row.object,
        known_from=known_from,
        valid_from=None if row.valid_from is None else moment(row.valid_from),
        valid_until=None if row.valid_until is None else moment(row.valid_until),
        confidence=row.confidence,
        memory=row.memory,
        source=row.source,
        ended=row.ended,
        reason=row.reason,
    )


def joined_source(file: str | None, part: str | None) -> str | None:
    """Return a fact's source for a file and the part of it that states the fact; either may be missing."""
    return "#".join(each.strip() for each in (file, part) if each and each.strip()) or None


def source_parts(source: str | None) -> tuple[str | None, str | None]:
    """Return the file and the part of a source. A source of one piece is a part."""
    file, _, part = (source or "").rpartition("#")
    return file or None, part or None
