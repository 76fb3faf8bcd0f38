"""How names are compared, and how a fact becomes the row it is written as.

A name is found by its key. Rows hold the keys of the names they were written with: what `folded` returns for a text
must never change, or facts that are there are no longer found.
"""

from __future__ import annotations

import unicodedata
from datetime import datetime
from functools import lru_cache

from pieria.errors import InputError
from pieria.record import check
from pieria.record.fact import Fact, FactRow
from pieria.record.time import micros, moment


def folded(name: str) -> str:
    """The key of a subject or object: without case, forms of characters, and amount of space; with accents."""
    if not name.isascii():
        # Folding case can undo the normal form and the reverse, so that one round is not enough.
        name = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", name).casefold())
        name = unicodedata.normalize("NFKC", name.casefold())
    return " ".join(name.casefold().split())


@lru_cache(maxsize=1024)
def folded_predicate(name: str) -> str:
    """The key of a predicate, where an underscore is a space."""
    return " ".join(folded(name).replace("_", " ").split())


def is_blank(name: str) -> bool:
    """Whether nothing of it can be seen."""
    return all(unicodedata.category(character)[0] in "CZ" for character in name)


def checked_name(value: object, parameter: str) -> str:
    """A name that can be seen and found again."""
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
    """The fact as it would be written again."""
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
    """The row as it is read back once it is written."""
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
