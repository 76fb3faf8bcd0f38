"""The sentence form of a fact, and the parsing of an edited sentence.

Memories do not belong here: `bank.facts.statements` writes the sentence down.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from pieria.record.fact import FactRow
from pieria.record.factnames import folded
from pieria.record.time import micros, moment

BEGINNING = micros(datetime.min.replace(tzinfo=UTC))
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ENDS = ".!?。！？"
_DATES = re.compile(r" \((?:from \S+ )?until \S+\)$")


def sentence_of(row: FactRow) -> str:
    """Return the fact as a sentence: “Maya lives in Berlin.” A fact with an end also says when it held."""
    told = f"{_beginning(row)} {row.object.strip()}"
    if row.valid_until is not None:
        since = "" if row.valid_from is None else f"from {_first_day(row.valid_from)} "
        told = f"{told.rstrip(_ENDS)} ({since}until {_last_day(row.valid_until)})"
    return told if told.endswith(tuple(_ENDS)) else f"{told}."


def object_in(sentence: str, row: FactRow) -> str | None:
    """Return the object in an edited sentence; None if the rest of the sentence changed."""
    begins = f"{_beginning(row)} "
    if folded(sentence[: len(begins)]) != folded(begins):
        return None
    rest = _DATES.sub("", sentence[len(begins) :].strip().rstrip(_ENDS)).strip()
    return rest or None


def _beginning(row: FactRow) -> str:
    words = _HUMP.sub(" ", row.predicate) if "_" not in row.predicate else row.predicate.replace("_", " ")
    words = words.lower() if words.isupper() or words != row.predicate else words
    return f"{row.subject.strip()} {' '.join(words.split())}"


def _first_day(at: int) -> str:
    return moment(at).date().isoformat()


def _last_day(until: int) -> str:
    """Return the last day within the time. The end is exclusive: after a whole day it is the day before."""
    return moment(max(until - 1, BEGINNING)).date().isoformat()
