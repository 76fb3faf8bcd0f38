"""The tools that remember and recall, and those for triples and the scratchpad."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from pieria.bank import Bank
from pieria.bank.read.answer import is_by_words
from pieria.record.ids import new_id
from pieria.record.memory import Memory
from pieria.record.time import instant, is_over
from pieria.toolsets.call import doubts
from pieria.toolsets.host import Call
from pieria.toolsets.mnemosyne.variety import with_room
from pieria.toolsets.mnemosyne.words import (
    LONGEST,
    SCOPE_WORDS,
    SCOPES,
    UNKNOWN,
    VERACITIES,
    closed_triple,
    here,
    present,
    stamp,
    told,
    triple,
    veracity_of,
)

PREVIEW = 100
"""Length of the preview in a reply, in characters."""
IMPORTANCE = 0.5
EVERYBODY = ("bank", "user")
"""The scopes that all sessions see; `user` occurs in the user's own bank."""
WEIGHTS = {"dense": 0.5, "lexical": 0.3, "importance": 0.2}
ARGUMENTS = {"dense": "vec_weight", "lexical": "fts_weight", "importance": "importance_weight"}
VARIABLE = "MNEMOSYNE_{}"
"""The original's variable with the default of an argument, whose name is in capitals."""
LEAST = 1e-7
"""The value that replaces a weight of 0: invisible in a score, but matches of this kind are still looked for.
Importance alone finds nothing, and vectors may be missing.
"""
PARTS = {"dense_score": "dense", "fts_score": "lexical"}
FURTHER = 50
"""How many more hits to look at for room beside near copies."""
DIGITS = 6
ANYWAY = frozenset(
    (
        "dense",
        "window",
        "lexical",
        "session",
        "importance",
        "recency",
        "usage",
        "validity",
        "thin",
        "strength",
        "spread",
    )
)
"""Features that hits beside the point have, too. Any other one ties a hit to the question."""
NEAR = 0.2
"""Least similarity of vectors that ties a hit to the question."""
STORE = "triples"
MOST = 200
"""How many triples a reply lists; `truncated` says if there are more."""


def remember(
    call: Call,
    content: str,
    source: str | None = None,
    importance: float | None = None,
    scope: str | None = None,
    valid_until: str | None = None,
    extract_entities: bool = False,
    extract: bool = False,
    author_id: str | None = None,
    author_type: str | None = None,
    channel_id: str | None = None,
    metadata: dict[str, Any] | None = None,
    veracity: str | None = None,
    bank: str | None = None,
) -> dict[str, Any]:
    into = call.host.other(bank)
    asked: dict[str, Any] = {"source": source, "author": author_id, "author_type": author_type, "channel": channel_id}
    asked["meta"], warnings = _meta(metadata, veracity)
    own = new_id()
    memory = _known(call, into, content, scope) or into.remember(
        content,
        id=own,
        importance=IMPORTANCE if importance is None else importance,
        scope=SCOPES[scope or "global"],
        valid_until=valid_until,
        unless_exists="text",
        **asked,
    )
    duplicate = memory.id != own
    if duplicate:
        memory, raised = _raised(into, memory, scope, importance, valid_until)
        warnings += [*raised, *_kept_as_they_were(memory, asked)]
    told = {
        "status": "stored",
        "memory_id": memory.id,
        "content_preview": memory.text[:PREVIEW],
        "duplicate": duplicate,
        "scope": SCOPE_WORDS[memory.scope],
        "importance": memory.importance,
        "veracity": veracity_of(memory),
        "valid_until": stamp(memory.valid_until),
        "expires_in": _seconds_left(into, memory),
        "warnings": [*warnings, *_noticed(into, memory)],
        **here(call, into),
    }
    if extract or extract_entities:
        told["extracted"] = _extracted(into, memory, extract_entities, extract)
    return told


def _meta(metadata: dict[str, Any] | None, veracity: str | None) -> tuple[dict[str, Any], list[str]]:
    """Return the memory's metadata with its veracity, which is a label: trust follows the way that a text came in."""
    meta = dict(metadata or {})
    if veracity in VERACITIES:
        return (meta if veracity == UNKNOWN else {**meta, "veracity": veracity}), []
    expected = f"expected one of {', '.join(VERACITIES)}; it is kept as {UNKNOWN}"
    return meta, [] if veracity is None else [f"veracity: {expected}."]


def _known(call: Call, bank: Bank, content: str, scope: str | None) -> Memory | None:
    """Return a shared memory of the same text. Unless `scope` is session, the session's own one counts, too: it is
    widened.
    """
    twins = bank.identical(content, kinds="note")
    told = [memory for memory in twins if memory.scope in EVERYBODY]
    if scope != "session":
        told += [memory for memory in twins if memory.scope == "session" and memory.session == call.host.session]
    return next(iter(told), None)


def _raised(
    bank: Bank, memory: Memory, scope: str | None, importance: float | None, valid_until: str | None
) -> tuple[Memory, list[str]]:
    """Raise the memory to the wanted values. Never narrow its scope, importance or end."""
    until = None if valid_until is None else instant(valid_until, "valid_until", end_of_day=True)
    wanted: dict[str, Any] = {}
    if scope != "session" and memory.scope == "session":
        wanted["scope"] = "bank"
    if importance is not None and importance > memory.importance:
        wanted["importance"] = importance
    if until is not None and memory.valid_until is not None and until > memory.valid_until:
        wanted["valid_until"] = valid_until
    if wanted:
        # Other callers may raise it at the same time; `widen` never lowers.
        memory = bank.widen(memory.id, **wanted)
    warnings = []
    if scope == "session" and memory.scope != "session":
        warnings.append("scope: it is global already, and stays so.")
    if importance is not None and importance < memory.importance:
        warnings.append(f"importance: it stays at {memory.importance}; mnemosyne_update lowers it.")
    if until is not None and memory.valid_until != until:
        warnings.append(f"valid_until: it stays {stamp(memory.valid_until) or 'open'}.")
    return memory, warnings


def _kept_as_they_were(memory: Memory, asked: dict[str, Any]) -> list[str]:
    spelt = {"source": "source", "author": "author_id", "author_type": "author_type", "channel": "channel_id"}
    other = [
        f"{spelt[name]}: it was remembered before, with {getattr(memory, name) or 'none'}, and keeps that."
        for name, value in asked.items()
        if name in spelt and value is not None and value != getattr(memory, name)
    ]
    if any(memory.meta.get(name) != value for name, value in asked["meta"].items()):
        other.append("metadata: it was remembered before, and keeps its own metadata and veracity.")
    return other


def _seconds_left(bank: Bank, memory: Memory) -> int | None:
    if memory.valid_until is None:
        return None
    return max(0, int((memory.valid_until - bank.clock()).total_seconds()))


def _noticed(bank: Bank, memory: Memory) -> list[str]:
    noticed = []
    if is_over(memory.valid_until, bank.clock()):
        noticed.append("valid_until: the time is past, so the memory is not recalled.")
    for flag in memory.flags:
        what, _, kind = flag.partition(":")
        noticed.append(
            f"content: it seems to contain a secret ({kind}); mnemosyne_forget erases it."
            if what == "secret"
            else "content: a part marked <private> was cut."
        )
    return noticed


def _extracted(bank: Bank, memory: Memory, entities: bool, statements: bool) -> dict[str, Any]:
    drawn = bank.extract(memory.id, entities=entities, statements=statements)
    read = {
        "engine": drawn.engine,
        "entities": list(drawn.entities),
        "facts": [present(triple(fact, bank.zone)) for fact in drawn.facts],
        "queued": drawn.queued,
        "left": drawn.left,
    }
    return present(read)


def recall(
    call: Call,
    query: str,
    top_k: int,
    author_id: str | None = None,
    author_type: str | None = None,
    channel_id: str | None = None,
    vec_weight: float | None = None,
    fts_weight: float | None = None,
    importance_weight: float | None = None,
    why: bool = False,
    bank: str | None = None,
) -> dict[str, Any]:
    held = call.host.other(bank)
    given, warnings = _given(call, vec_weight, fts_weight, importance_weight)
    weights = _shares(given)
    if given and weights is None:
        warnings.append("vec_weight: all three weights are 0, so they have no effect; give one of them more than 0.")
    asked: dict[str, Any] = {
        "author": author_id,
        "author_type": author_type,
        "channel": channel_id,
        "policy": "hybrid" if weights is None else "weighted",
        "weights": None if weights is None else {name: max(weight, LEAST) for name, weight in weights.items()},
    }
    found = held.recall(query, k=top_k, **asked)
    tied = _tied(found, weights)
    if not tied and not is_by_words(found):
        # The question may be in another language: the nearest by a model are still worth a look.
        tied = list(found)
    left = len(found) - len(tied)
    if left:
        warnings.append(f"query: left out {left} with neither a word nor the meaning in common with it.")

    def further() -> list[Any]:
        if found.cursor is None:
            return []
        return _tied(held.recall(query, k=FURTHER, cursor=found.cursor, counted=False, **asked), weights)

    shown = with_room(tied, query, further)
    results = [_found(call, hit, why=why, parts=why or weights is not None) for hit in shown]
    embedding = found.plan.get("embedding", {})
    return {
        "status": "ok",
        "count": len(results),
        "results": results,
        "confidence": round(found.confidence, DIGITS),
        "policy": found.plan["policy"] if why else None,
        "weights": weights,
        "warnings": [*warnings, *_warnings(query, embedding, weights), *(doubts(found) if shown else ())],
        **here(call, held),
    }


def _tied(found: Iterable[Any], weights: Mapping[str, float] | None) -> list[Any]:
    """Return the hits that are tied to the question. Those by weights are: importance alone finds nothing."""
    return [hit for hit in found if weights is not None or _is_tied(hit.why)]


def _is_tied(why: Mapping[str, float]) -> bool:
    """Return whether a hit has a word, a name, a time or the meaning in common with the question.

    Without a vector of the memory, part of a word is enough.
    """
    if why.get("dense", 0.0) >= NEAR or not ANYWAY.issuperset(why):
        return True
    return "dense" not in why and "lexical" in why


def _found(call: Call, hit: Any, *, why: bool, parts: bool) -> dict[str, Any]:
    """Return a hit; with `parts` also how near it is by vectors and by words, under the original's keys."""
    shown = {**told(call, hit.memory), "score": round(hit.score, DIGITS)}
    if len(hit.memory.text) > LONGEST:
        shown |= {"truncated": True, "length": len(hit.memory.text), "snippet": hit.snippet}
    if parts:
        shown |= {key: round(hit.why.get(name, 0.0), DIGITS) for key, name in PARTS.items()}
    return shown | ({"why": {name: round(value, DIGITS) for name, value in hit.why.items()}} if why else {})


def _given(
    call: Call, vec: float | None, fts: float | None, importance: float | None
) -> tuple[dict[str, float], list[str]]:
    """Return the weights that the call gives, or else the original's variables. One below 0 counts as 0."""
    environ = call.host.banks.workspace.resolved.environ
    given: dict[str, float] = {}
    warnings = []
    for name, passed in (("dense", vec), ("lexical", fts), ("importance", importance)):
        variable = VARIABLE.format(ARGUMENTS[name].upper())
        value = environ.get(variable) if passed is None else None
        weight = _number(value) if value else passed
        if value and weight is None:
            warnings.append(f"{variable}: expected a number, so it has no effect.")
        elif weight is not None:
            if weight < 0:
                warnings.append(f"{variable if value else ARGUMENTS[name]}: {weight} counts as 0.")
            given[name] = max(0.0, weight)
    return given, warnings


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _shares(given: Mapping[str, float]) -> dict[str, float] | None:
    """Return the weights as shares of 1, so that scores are comparable; None if none was given, or only zeros."""
    weights = {**WEIGHTS, **given}
    whole = sum(weights.values())
    return {name: weight / whole for name, weight in weights.items()} if given and whole else None


def _warnings(query: str, embedding: dict[str, Any], weights: dict[str, float] | None) -> list[str]:
    said = [] if query.strip() else ["query: an empty query finds nothing."]
    note = embedding.get("reason") or embedding.get("note")
    if note:
        said.append(str(note))
    if weights and not embedding.get("model"):
        said.append("vec_weight: there are no vectors, so it has no effect.")
    if embedding.get("pending"):
        said.append(f"Vectors not yet made: {embedding['pending']:,}. These texts were searched by their words.")
    return said


def triple_add(
    call: Call,
    subject: str,
    predicate: str,
    object: str,
    valid_from: str | None = None,
    valid_until: str | None = None,
    supersede: bool = False,
) -> dict[str, Any]:
    bank = call.bank
    stated = bank.facts.state(
        subject, predicate, object, valid_from=valid_from, valid_until=valid_until, supersede=supersede
    )
    return {
        "status": "added" if stated.is_new else "exists",
        "triple_id": stated.fact.id,
        "triple": present(triple(stated.fact, bank.zone)),
        "others": [present(triple(held, bank.zone)) for held in stated.beside],
        "closed": [closed_triple(held, bank.zone) for held in stated.closed],
        "conflicts": [present(triple(held, bank.zone)) for held in stated.conflicts],
        "store": STORE,
        **here(call, bank),
    }


def triple_query(
    call: Call,
    subject: str | None = None,
    predicate: str | None = None,
    object: str | None = None,
    as_of: str | None = None,
) -> dict[str, Any]:
    """Return matching triples, latest first."""
    bank = call.bank
    found = bank.facts.query(subject, predicate, object, valid_at=as_of, limit=MOST + 1)[::-1]
    return {
        "results_count": len(found[:MOST]),
        "results": [triple(fact, bank.zone) for fact in found[:MOST]],
        "truncated": len(found) > MOST or None,
        "store": STORE,
        **here(call, bank),
    }


def scratchpad_write(call: Call, content: str) -> dict[str, Any]:
    bank = call.bank
    entry = bank.scratchpad.write(content)
    return {"status": "written", "id": entry.id, **here(call, bank)}


def scratchpad_read(call: Call) -> dict[str, Any]:
    bank = call.bank
    entries = [entry.as_dict() for entry in bank.scratchpad.read()]
    return {"entries_count": len(entries), "entries": entries, **here(call, bank)}


def scratchpad_clear(call: Call) -> dict[str, Any]:
    bank = call.bank
    return {"status": "cleared", "cleared": bank.scratchpad.clear(), **here(call, bank)}
