"""The tool `find`: short hits, with snippets, scores and relations on request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pieria.bank import Bank
from pieria.errors import ConflictError, NotFoundError
from pieria.language.analyser import STOP_WORDS, spans, terms
from pieria.record.banks import USER_BANK
from pieria.record.memory import Memory
from pieria.record.time import iso
from pieria.toolsets.host import Call
from pieria.toolsets.open_mem.envelope import Answer, answer
from pieria.toolsets.open_mem.words import (
    PROJECT,
    USER,
    asked_types,
    brief,
    scope_of,
    title_of,
    tokens_of,
    type_of,
)

EVERYTHING = "all"
SCOPES: dict[str, tuple[str, ...] | None] = {PROJECT: ("session", "bank"), USER: ("user",), EVERYTHING: None}
MARK = "**"
DIGITS, FEW = 6, 3
RELATIONS = 10


def find(
    call: Call,
    query: str,
    scope: str,
    limit: int,
    types: list[str] | None = None,
    cursor: str | None = None,
    include: dict[str, bool] | None = None,
) -> Answer:
    bank = call.bank
    if scope == USER:
        call.host.reached(USER_BANK)
    # In the user's own bank, every memory is in the user's scope.
    scopes = None if bank.is_user_bank else SCOPES[scope]
    found = bank.recall(query, k=limit, scope=scopes, types=asked_types(types), cursor=cursor)
    wanted = include or {}
    results = []
    for hit in found:
        result = _short(hit.memory)
        if wanted.get("snippets"):
            result["snippet"] = marked(hit.snippet, query)
        if wanted.get("scores"):
            result |= _scores(hit.score, hit.why, found.plan)
        if wanted.get("relations"):
            result["relations"] = _relations(bank, hit.memory)
        results.append(result)
    warnings = [
        *_out_of_reach(call, scope),
        *_degraded(query, found.plan.get("embedding", {})),
        *_doubts(found),
    ]
    return answer(
        call,
        bank,
        {"results": results, "nextCursor": found.cursor},
        confidence=round(found.confidence, DIGITS),
        warnings=warnings or None,
    )


def _short(memory: Memory) -> dict[str, Any]:
    return {
        "id": memory.id,
        "title": title_of(memory),
        "type": type_of(memory),
        "summary": brief(memory.text),
        "source": scope_of(memory),
        "createdAt": iso(memory.at),
        "tokenCount": tokens_of(memory),
    }


def _scores(score: float, why: Mapping[str, float], plan: Mapping[str, Any]) -> dict[str, Any]:
    reasons = {name: round(value, FEW) for name, value in why.items()}
    return {
        "score": round(score, DIGITS),
        "rankingSource": plan["policy"],
        "explain": {"matchedBy": list(reasons), "features": reasons},
    }


def _relations(bank: Bank, memory: Memory) -> list[dict[str, Any]]:
    try:
        near = bank.neighbors(memory.id, limit=RELATIONS)
    except (NotFoundError, ConflictError):
        # A later page shows the snapshot of the first one; the memory may have been removed since.
        return []
    shown = []
    for each in near:
        if each.memory is None:
            end = {"place": each.place}
        else:
            end = {"id": each.memory.id, "title": title_of(each.memory), "type": type_of(each.memory)}
        shown.append({"relation": each.link.relation, "outward": each.link.source.name == memory.id, **end})
    return shown


def marked(text: str, query: str) -> str:
    """Return the text with the query's words between marks."""
    asked = {term for term in terms(query) if term not in STOP_WORDS} or set(terms(query))
    parts, end = [], 0
    for begin, stop in _joined((span.start, span.end) for span in spans(text) if span.term in asked):
        parts += [text[end:begin], MARK, text[begin:stop], MARK]
        end = stop
    return "".join([*parts, text[end:]])


def _joined(places: Iterable[tuple[int, int]]) -> Sequence[tuple[int, int]]:
    """Return the ranges, merged where they overlap. Terms of scripts without spaces overlap, for example."""
    joined: list[tuple[int, int]] = []
    for begin, end in sorted(places):
        if joined and begin <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((begin, end))
    return joined


def _out_of_reach(call: Call, scope: str) -> list[str]:
    if scope == EVERYTHING and not call.host.covers(USER_BANK):
        return ["scope: the user's memories are not available here; these are the project's."]
    return []


def _degraded(query: str, embedding: Mapping[str, Any]) -> list[str]:
    said = [] if query.strip() else ["query: a blank query finds nothing."]
    note = embedding.get("reason") or embedding.get("note")
    if note:
        said.append(str(note))
    elif embedding.get("pending"):
        said.append(f"Vectors not yet made: {embedding['pending']:,}. These texts were searched by their words.")
    return said


def _doubts(found: Any) -> list[str]:
    if found and found.is_doubtful:
        return ["confidence: these are the nearest hits, and probably no answer."]
    return []
