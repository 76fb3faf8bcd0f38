"""The grammar of plain English sentences: phrases, verbs, clauses and what they state, persons, pronouns and names."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Triple:
    """`subject` and `object` are spelt as in the text, `predicate` is in snake_case. Times are quoted from the text."""

    subject: str
    predicate: str
    object: str
    confidence: float = 1.0
    since: str | None = None
    until: str | None = None


@dataclass(frozen=True, slots=True)
class Named:
    """A thing that a text names. `kind` is of `language.entities.KINDS`, or `technology`, `date`, `person`, `place`."""

    name: str
    kind: str
