"""A caller's statement: a triple with its details, checked. Nothing here reads the bank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pieria.errors import InputError
from pieria.record import check
from pieria.record.draft import Instant, Problems, interval, moment
from pieria.record.factnames import checked_name, checked_predicate
from pieria.record.trust import PERSON


@dataclass(frozen=True, slots=True)
class Statement:
    """Bounds are microseconds; None if the caller gave none."""

    subject: str
    predicate: str
    object: str
    valid_from: int | None = None
    valid_until: int | None = None
    confidence: float | None = None
    memory: str | None = None
    source: str | None = None
    via: str = PERSON
    """The channel of a statement without a memory."""


def checked_triple(problems: Problems, subject: object, predicate: object, object: object) -> tuple[str, str, str]:
    return (
        problems.of(checked_name, subject, "subject"),
        problems.of(checked_predicate, predicate),
        problems.of(checked_name, object, "object"),
    )


def checked_statement(
    subject: object,
    predicate: object,
    object: object,
    *,
    valid_from: Instant | None = None,
    valid_until: Instant | None = None,
    confidence: float | None = None,
    memory: str | None = None,
    source: str | None = None,
    begins: str = "valid_from",
) -> Statement:
    """Return the statement. Raise one error for all problems. `begins` is the caller's name for the start."""
    problems = Problems()
    triple = checked_triple(problems, subject, predicate, object)
    if begins == "valid_from":
        begin, end = interval(problems, valid_from, valid_until)
    else:
        begin, end = checked_moment(problems, valid_from, begins), None
    kept_confidence = None if confidence is None else problems.of(check.number, confidence, "confidence")
    kept_memory = None if memory is None else problems.of(_memory_id, memory)
    kept_source = None if source is None else problems.of(check.name, source, "source")
    problems.settle()
    return Statement(*triple, begin, end, kept_confidence, kept_memory, kept_source)


def checked_moment(problems: Problems, value: Instant | None, parameter: str) -> int | None:
    found: int | None = None if value is None else problems.of(moment, value, parameter)
    return found


def _memory_id(value: Any) -> str:
    if hasattr(value, "id"):
        raise InputError("memory", "the id of a memory", value, hint="Pass the memory's .id.")
    return check.name(value, "memory")
