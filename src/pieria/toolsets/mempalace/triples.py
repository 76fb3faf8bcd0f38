"""The palace's knowledge graph: the bank's facts with the times they held."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from pieria.bank import Bank
from pieria.record.days import end_text, start_text
from pieria.record.fact import Fact, folded, joined_source, source_parts
from pieria.record.time import is_over, is_to_come
from pieria.toolsets.host import Call
from pieria.toolsets.mempalace.words import opened, source_name

DIRECTIONS = {"outgoing": "out", "incoming": "in", "both": "both"}
CANDIDATES = 5
CONFLICTS = 20
"""How many conflicts a reply lists; `more_conflicts` counts the rest."""
SHORTEST = 3
"""Shortest word, in characters, that is looked up in longer names."""
COMPARED = 2_000
"""How many names are compared with a misspelt one; each comparison is slow."""


def kg_query(call: Call, entity: str, direction: str, as_of: str | None = None) -> dict[str, Any]:
    bank = call.bank
    at = as_of or None
    asked: dict[str, Any] = {"direction": DIRECTIONS[direction], "valid_at": at, "history": at is None}
    name, told = entity, dict[str, Any]()
    found = bank.facts.query(entity=entity, **asked)
    if not found and not bank.facts.query(entity=entity, history=True):
        candidates = _meant(bank, entity)
        if len(candidates) == 1:
            name, told = candidates[0], {"resolved_from": entity}
            found = bank.facts.query(entity=name, **asked)
        else:
            candidates = candidates or _spelt_alike(bank, entity)
            told = {"candidates": candidates[:CANDIDATES]} if candidates else {}
    known_as = _names_of(bank, name)
    rows = [
        {"direction": "outgoing" if folded(fact.subject) in known_as else "incoming", **_told(bank, fact)}
        | {"when": _when(bank, fact)}
        for fact in found
    ]
    rows.sort(key=lambda row: row["direction"] == "incoming")
    return {"entity": name, "as_of": at, "facts": rows, "count": len(rows), **_by_time(rows, at), **told}


def _by_time(rows: list[dict[str, Any]], at: str | None) -> dict[str, list[dict[str, Any]]]:
    """Return the facts that hold, held and will hold. With a moment, all facts found hold at that moment."""
    times = {"active": list[dict[str, Any]](), "historical": list[dict[str, Any]](), "future": list[dict[str, Any]]()}
    for row in rows:
        when = row.pop("when")
        times["active" if at is not None else when].append(row)
    return {f"{when}_facts": facts for when, facts in times.items()}


def kg_add(
    call: Call,
    subject: str,
    predicate: str,
    object: str,
    valid_from: str | None = None,
    valid_to: str | None = None,
    source_closet: str | None = None,
    source_file: str | None = None,
    source_drawer_id: str | None = None,
    supersede: bool = False,
) -> dict[str, Any]:
    bank = call.bank
    drawer_id = (source_drawer_id or "").strip() or None
    if drawer_id is not None:
        opened(bank, drawer_id)
    stated = bank.facts.state(
        subject,
        predicate,
        object,
        valid_from=valid_from or None,
        valid_until=valid_to or None,
        supersede=supersede,
        source=joined_source(source_name(source_file), source_closet),
        memory=drawer_id,
    )
    told = {
        "triple_id": stated.fact.id,
        "fact": _sentence(stated.fact),
        "valid_from": start_text(stated.fact.valid_from, bank.zone),
        "valid_to": end_text(stated.fact.valid_until, bank.zone),
        "already_known": not stated.is_new,
        **_conflicts(bank, stated.beside),
        "ended": [_told(bank, held) for held in stated.closed],
    }
    if stated.beside:
        told["hint"] = "Where only one can hold at a time: mempalace_kg_supersede, or mempalace_kg_invalidate."
    return told


def kg_invalidate(call: Call, subject: str, predicate: str, object: str, ended: str | None = None) -> dict[str, Any]:
    bank = call.bank
    found = bank.facts.invalidate(subject, predicate, object, at=ended or None)
    told = {"fact": _sentence(found[0]), "ended": end_text(found[0].valid_until, bank.zone), "count": len(found)}
    if ended and not is_over(found[0].valid_until, bank.clock()):
        told["hint"] = "It holds through that time. Without ended it ends now."
    return told


def kg_supersede(
    call: Call, subject: str, predicate: str, old_object: str, new_object: str, at: str | None = None
) -> dict[str, Any]:
    bank = call.bank
    before = _all(bank, subject, predicate, old_object)
    new = bank.facts.supersede(subject, predicate, new_object, replaces=old_object, at=at or None)
    after = _all(bank, subject, predicate)
    [was, *_] = sorted(before.values(), key=lambda was: after.get(was.id) == was)
    now = after.get(was.id)
    return {
        "triple_id": new.id,
        "fact": _sentence(new),
        "superseded": was.object,
        "superseded_id": was.id,
        # A value that was displaced for its whole time ends where it began.
        "ended": end_text(now.valid_until, bank.zone) if now else start_text(was.valid_from, bank.zone),
        "valid_from": start_text(new.valid_from, bank.zone),
        **_conflicts(bank, _others(after, new)),
    }


def kg_timeline(call: Call, limit: int, offset: int, entity: str | None = None) -> dict[str, Any]:
    bank = call.bank
    name = (entity or "").strip() or None
    every = bank.facts.timeline(name)
    shown = every[offset : offset + limit]
    return {
        "entity": name or "all",
        "timeline": [_told(bank, fact) for fact in shown],
        "count": len(shown),
        "total": len(every),
        "limit": limit,
        "offset": offset,
    }


def kg_stats(call: Call) -> dict[str, Any]:
    stats = call.bank.facts.stats()
    return {
        "entities": stats.entities,
        "triples": stats.facts,
        "current_facts": stats.current,
        "expired_facts": stats.ended,
        "future_facts": stats.upcoming,
        "relationship_types": sorted(stats.predicates),
    }


def _when(bank: Bank, fact: Fact) -> str:
    now = bank.clock()
    if is_to_come(fact.valid_from, now):
        return "future"
    return "historical" if fact.ended or is_over(fact.valid_until, now) else "active"


def _told(bank: Bank, fact: Fact) -> dict[str, Any]:
    file, closet = source_parts(fact.source)
    told: dict[str, Any] = {
        "triple_id": fact.id,
        "subject": fact.subject,
        "predicate": fact.predicate,
        "object": fact.object,
        "valid_from": start_text(fact.valid_from, bank.zone),
        "valid_to": start_text(fact.valid_from, bank.zone) if fact.ended else end_text(fact.valid_until, bank.zone),
        "current": _when(bank, fact) == "active",
        "confidence": 1.0 if fact.confidence is None else fact.confidence,
        "source_closet": closet,
        "source_drawer_id": fact.source_memory,
    }
    return {**told, "source_file": file} if file else told


def _others(known: dict[str, Fact], fact: Fact) -> list[Fact]:
    """Return other objects of the same relation that hold at an overlapping time."""
    return [held for held in known.values() if held.object != fact.object and _overlap(held, fact)]


def _conflicts(bank: Bank, found: Sequence[Fact]) -> dict[str, Any]:
    """Return the latest conflicts. A relation with very many objects is probably multi-valued."""
    latest = sorted(found, key=lambda fact: fact.known_from)[-CONFLICTS:]
    told = {"conflicts": [_told(bank, held) for held in latest]}
    return told if len(latest) == len(found) else {**told, "more_conflicts": len(found) - len(latest)}


def _sentence(fact: Fact) -> str:
    return f"{fact.subject} → {fact.predicate} → {fact.object}"


def _all(bank: Bank, subject: str, predicate: str, object: str | None = None) -> dict[str, Fact]:
    """Return the facts by id, including ended ones."""
    return {fact.id: fact for fact in bank.facts.query(subject, predicate, object, history=True)}


def _overlap(one: Fact, other: Fact) -> bool:
    def before(end: Any, begin: Any) -> bool:
        return end is not None and begin is not None and end <= begin

    return not before(one.valid_until, other.valid_from) and not before(other.valid_until, one.valid_from)


def _names_of(bank: Bank, name: str) -> set[str]:
    """Return the folded name and all its aliases."""
    aliases = bank.facts.aliases()
    key = folded(name)
    root = next((folded(of) for alias, of in aliases.items() if folded(alias) == key), key)
    return {root, key, *(folded(alias) for alias, of in aliases.items() if folded(of) == root)}


def _meant(bank: Bank, name: str) -> list[str]:
    """Return the entities that contain this name as a word."""
    wanted = folded(name)
    if len(wanted) < SHORTEST:
        return []
    return [found.name for found in bank.facts.entities() if wanted in folded(found.name).replace("_", " ").split()]


def _spelt_alike(bank: Bank, name: str) -> list[str]:
    """Return entities spelt like this name. They are only suggestions."""
    names = {folded(found.name): found.name for found in bank.facts.entities(name.strip()[:1])}
    return [names[near] for near in get_close_matches(folded(name), list(names)[:COMPARED], CANDIDATES)]
