"""The sentence by which a fact is told, and what a sentence in other words says of the fact.

Knows nothing of memories. Who writes the sentence down is `bank.statements`.
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
    """Return the fact as a sentence: “Maya lives in Berlin.” One that has an end says when it held."""
    told = f"{_beginning(row)} {row.object.strip()}"
    if row.valid_until is not None:
        since = "" if row.valid_from is None else f"from {_first_day(row.valid_from)} "
        told = f"{told.rstrip(_ENDS)} ({since}until {_last_day(row.valid_until)})"
    return told if told.endswith(tuple(_ENDS)) else f"{told}."


def object_in(sentence: str, row: FactRow) -> str | None:
    """Return what a sentence says in place of the fact's object; None where the rest of it is not as before."""
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
    """The end itself is not within the time: of a whole day it is the day before."""
    return moment(max(until - 1, BEGINNING)).date().isoformat()
