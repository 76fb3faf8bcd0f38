"""Keys of names, and the conversion between facts and rows.

Rows store the keys of their names. The result of `folded` for a text must never change, or existing facts are no
longer found.
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
    """Return the key of a subject or object: case, character form and spacing are folded, accents are kept."""
    if not name.isascii():
        # Case folding can undo the normal form and the reverse, so one round is not enough.
        name = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", name).casefold())
        name = unicodedata.normalize("NFKC", name.casefold())
    return " ".join(name.casefold().split())


@lru_cache(maxsize=1024)
def folded_predicate(name: str) -> str:
    """Return the key of a predicate. Underscores count as spaces."""
    return " ".join(folded(name).replace("_", " ").split())


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
