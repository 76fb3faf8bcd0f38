"""Plans the end of facts, and the hints for a fact that was not found."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from pieria.errors import NotFoundError
from pieria.facts.addition import Planned, Slot, slot_of
from pieria.facts.aliases import Aliases
from pieria.facts.sources import as_written
from pieria.facts.statement import Statement
from pieria.record.fact import FactQuery
from pieria.record.factnames import folded, row_of
from pieria.record.filter import Filter
from pieria.record.time import iso
from pieria.store.protocol import Reader

SHOWN = 5
NAMES_COMPARED = 2_000
"""Most names to compare for a similar spelling: each comparison is slow."""

NEVER_HELD = "it was said not to have held"


def ended(reader: Reader, statement: Statement, at: int, reason: str | None, filter: Filter) -> Planned:
    """Plan to end what holds at that moment. If nothing does, remove facts that begin later."""
    slot = slot_of(reader, statement, filter, every_object=True)
    ending = [held for held in slot.same if held.span.holds(at)] or [held for held in slot.same if held.span.begin > at]
    if not ending:
        hint = _hint(reader, statement, slot, filter)
        raise NotFoundError("fact", f"{statement.subject} {statement.predicate} {statement.object}", hint=hint)
    rows = [
        row_of(held.fact)._replace(valid_until=at, reason=reason)
        if held.written().begin < at
        else row_of(held.fact)._replace(ended="removed", reason=reason or NEVER_HELD)
        for held in ending
    ]
    return Planned(rows, rows)


def removed(reader: Reader, id: str, reason: str | None, filter: Filter) -> Planned:
    found = reader.facts(FactQuery(ids=(id,), include_ended=True), as_written(filter))
    if not found:
        raise NotFoundError("fact", id, hint="`query` and `timeline` show the ids.")
    if found[0].ended:
        raise NotFoundError("fact", id, hint="It was removed before.")
    rows = [row_of(found[0])._replace(ended="removed", reason=reason)]
    return Planned(rows, rows)


def _hint(reader: Reader, statement: Statement, slot: Slot, filter: Filter) -> str:
    """Return the nearest hint: the fact's own end, else other facts in its place, else names with similar spelling."""
    ends = [held.fact.valid_until for held in slot.same if held.fact.valid_until is not None]
    if ends:
        return f"It ended at {iso(max(ends))}."
    if slot.others:
        objects = _listed(held.fact.object for held in slot.others)
        return f"Of {statement.subject} {statement.predicate} is known: {objects}."
    subject = FactQuery(subject_keys=Aliases(reader).group(statement.subject))
    predicates = _listed(fact.predicate for fact in reader.facts(subject, filter))
    if predicates:
        return f"Of {statement.subject} is known: {predicates}."
    near = _near(reader, statement.subject, filter)
    advice = "`entities` lists the names." if near is None else f"Did you mean {near}?"
    return f"No fact is about {statement.subject}. {advice}"


def _listed(names: Iterable[str]) -> str:
    once = list(dict.fromkeys(names))
    return ", ".join(once[:SHOWN]) + (", …" if len(once) > SHOWN else "")


def _near(reader: Reader, name: str, filter: Filter) -> str | None:
    key = folded(name)
    names = {held.key: held.name for held in reader.names(filter, key[:1])}
    near = get_close_matches(key, list(names)[:NAMES_COMPARED], 1)
    return names[near[0]] if near else None
