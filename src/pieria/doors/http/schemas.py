"""JSON Schemas of the resource routes, and the reading of requests by them. OpenAPI shows the schemas.

The engine checks what a schema cannot express, such as whether a text is a time.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote_to_bytes

from starlette.requests import Request

from pieria.bank.filters import INCLUDE
from pieria.doors.http.failures import Refused
from pieria.errors import InputError
from pieria.record.json_text import TooDeepError, parsed
from pieria.record.lesson import STATES as LESSON_STATES
from pieria.record.lesson import TYPES as LESSON_TYPES
from pieria.record.memory import AUTHOR_TYPES, GIVEN_STATUSES, KINDS, SCOPES, STATUSES, TIERS
from pieria.record.trust import GIVEN, WAYS

Schema = Mapping[str, Any]
ORDERS = ("newest", "oldest", "changed", "important")
DIRECTIONS = ("out", "in", "both")
_TIME = "A date, or a time in ISO 8601"
DEPTH = 100
"""Deepest nesting of lists and objects; the record itself allows less."""


def text(description: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": description, **more}


def share(description: str) -> dict[str, Any]:
    return {"type": "number", "minimum": 0, "maximum": 1, "description": description}


def whole(description: str, least: int, most: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": least, "maximum": most, "description": description}


def flag(description: str) -> dict[str, Any]:
    return {"type": "boolean", "description": description}


def several(description: str, *allowed: str) -> dict[str, Any]:
    item = {"type": "string", "enum": list(allowed)} if allowed else {"type": "string"}
    return {"type": "array", "items": item, "maxItems": 1000, "description": description}


def mapping(description: str) -> dict[str, Any]:
    return {"type": "object", "description": description}


def or_nothing(schema: Schema) -> dict[str, Any]:
    """Return the schema, with null allowed to clear the value."""
    return {**schema, "type": [schema["type"], "null"]}


_LABELS = {
    "tags": several("Its tags."),
    "entities": several("People and things it is about."),
    "files": several("Paths of files it is about."),
}
_JUDGEMENT = {
    "importance": share("From 0, trivial, to 1, never fades."),
    "confidence": share("Its confidence."),
    "strength": {"type": "number", "minimum": 0, "maximum": 2, "description": "Its strength."},
}
_TIMES = {
    "at": text(f"{_TIME}: when it was said or happened."),
    "valid_from": text(f"{_TIME}: valid from."),
    "valid_until": text(f"{_TIME}: valid until."),
}
REASON = {"reason": text("The reason; kept in the history.")}
UNLESS = {
    "unless_changed_since": text(
        f"{_TIME}: refuse if the memory has changed since. Give its known_from as you read it."
    )
}
AS_TOLD = {
    "dry_run": flag("Only report what would be removed."),
    "as_told": text("Refuse unless the same records go as in a dry run. Give the digest of that dry run."),
}
FORGETTING = {
    "source": text("Everything from this source."),
    "session": text("Everything said or learnt in this session."),
    "purge": flag("Erase it for good."),
    **AS_TOLD,
    **REASON,
}
TRACE = {
    "id": text("The memory. Give one of id, source and session."),
    "source": text("The source."),
    "session": text("The session."),
    "limit": whole("How many to list.", 1, 10_000),
}
QUARANTINE = {
    "source": text("Everything from this source."),
    "session": text("Everything said or learnt in this session."),
    "author": text("Everything by this author."),
    "channel": text("Everything from this channel."),
    "via": text("Everything that came in this way, such as import.", enum=list(WAYS)),
    "since": text("Only what was said then or later: a date, or a time in ISO 8601."),
    "until": text("Only what was said before."),
    "ids": several("Further memories, by id."),
    "dry_run": flag("Only report what would be hidden."),
    **REASON,
}

CONTENT = {
    "text": text("The text to remember."),
    "title": text("A title."),
    "body": mapping("Further fields of its kind."),
    **_LABELS,
    "context": text("Its context."),
    "meta": mapping("Your own values."),
}
NEW_MEMORY = {
    **CONTENT,
    "id": text("Your own id for it."),
    "kind": text("Its kind.", enum=list(KINDS)),
    **_JUDGEMENT,
    "scope": text("Who sees it.", enum=list(SCOPES)),
    "source": text("Where it comes from."),
    "author": text("Its author."),
    "author_type": text("The type of the author.", enum=list(AUTHOR_TYPES)),
    "channel": text("The channel it was said in."),
    "session": text("The session it was said in."),
    "sequence": whole("Its number in the session.", 0, 2**53),
    "place": text("Its place: wing, or wing/room."),
    **_TIMES,
    "pinned": flag("Whether it never fades."),
    "unless_exists": text("Return the existing memory, compared by this.", enum=["id", "text"]),
}
CHANGES = {
    "text": CONTENT["text"],
    **{name: or_nothing(CONTENT[name]) for name in ("title", "body", "tags", "entities", "files", "context", "meta")},
    "importance": _JUDGEMENT["importance"],
    "confidence": or_nothing(_JUDGEMENT["confidence"]),
    "strength": _JUDGEMENT["strength"],
    "place": NEW_MEMORY["place"],
    "scope": text("Who sees it.", enum=["session", "bank"]),
    "status": text("Its standing.", enum=list(GIVEN_STATUSES)),
    "tier": text("Its status.", enum=list(TIERS)),
    "at": _TIMES["at"],
    "valid_from": or_nothing(_TIMES["valid_from"]),
    "valid_until": or_nothing(_TIMES["valid_until"]),
    **REASON,
    **UNLESS,
}
REVISION = {
    **{name: CHANGES[name] for name in ("text", "title", "body", "tags", "entities", "files", "context", "meta")},
    "importance": CHANGES["importance"],
    **{name: CHANGES[name] for name in ("confidence", "place", "valid_from", "valid_until")},
    "author": NEW_MEMORY["author"],
    "author_type": NEW_MEMORY["author_type"],
    "at": CHANGES["at"],
    **REASON,
    **UNLESS,
}
FILTERS = {
    "kinds": several("Only of these kinds.", *KINDS),
    "types": several("Only of these types, from their bodies."),
    "tags": several("Only with one of these tags."),
    "entities": several("Only about one of these."),
    "files": several("Only about one of these files."),
    "author": text("Only by this author."),
    "author_type": text("Only by authors of this type.", enum=list(AUTHOR_TYPES)),
    "channel": text("Only from this channel."),
    "session": text("Only from this session."),
    "scope": several("Only of these scopes.", *SCOPES),
    "source": text("Only from this source."),
    "place": text("Only in this wing, wing/room or */room."),
    "since": text(f"{_TIME}: only from this time on."),
    "until": text(f"{_TIME}: only before this time."),
    "used_since": text(f"{_TIME}: only memories used since."),
    "valid_at": text(f"{_TIME}: only memories that were valid then."),
    "known_at": text(f"{_TIME}: as known at that time."),
    "status": several("Only with this status.", *STATUSES),
}
KNOWN_AT = {"known_at": FILTERS["known_at"]}
PAGING = {"cursor": text("The cursor of the previous page.")}
LISTING = {
    **FILTERS,
    "order": text("The sort order; newest by default.", enum=list(ORDERS)),
    "limit": whole("How many at most; 50 by default.", 1, 10_000),
    "include": several("Also include these.", *INCLUDE),
    "pinned": flag("Only pinned memories, or only others."),
    **PAGING,
}
QUESTION = {
    "query": text("The question, in any words."),
    **FILTERS,
    "meta": mapping("Only with these values."),
    "k": whole("How many hits at most; 10 by default.", 1, 10_000),
    "min_score": share("The lowest score of a hit."),
    "min_confidence": share("Return no hits if the confidence of the answer is lower than this."),
    "least_retention": {**share("The lowest retention of a hit, as it fades."), "maximum": 100},
    "review": share("Memories due for a review to add, as a share of the hits."),
    "policy": text("How hits are ranked; hybrid by default."),
    "weights": {
        "type": "object",
        "additionalProperties": {"type": "number"},
        "description": "Weights of features in place of the policy's.",
    },
    "deadline_ms": whole("The time limit.", 1, 600_000),
    "budget_tokens": whole("The most tokens of all hits together.", 1, 10_000_000),
    "time_zone": text("The time zone for yesterday and last week, such as Europe/Berlin."),
    "by_meaning": flag("False: search by words only."),
    "matching": flag("Only memories with a word of the question, or near in meaning."),
    "counted": flag("False: hits do not count as used."),
    **PAGING,
}
CONTEXT = {
    "query": text("The topic, in any words."),
    "files": several("Files to be about."),
    "place": FILTERS["place"],
    "session": text("The session it is for; as of the session's kept moment, if it has one."),
    "budget_tokens": whole("The most tokens; 2,000 by default.", 1, 10_000_000),
    **KNOWN_AT,
    "anew": flag("As of now, even if a moment is kept for the session."),
}
PROPOSALS = {
    "state": several("Only in one of these states; proposed by default.", *LESSON_STATES),
    "type": several("Only of one of these types.", *LESSON_TYPES),
    "limit": whole("How many at most; 100 by default.", 1, 2_000),
}
RULES = {
    "state": several("Only in one of these states; told and waiting by default.", "told", "waiting", "declined"),
    "via": several("For waiting rules: how they came in; agent by default.", *GIVEN),
    "limit": whole("How many at most; 100 by default.", 1, 500),
}
TRIPLE = {
    "subject": text("The person or thing it is about."),
    "predicate": text("The relation."),
    "object": text("The value, or another person or thing."),
}
NEW_FACT = {
    **TRIPLE,
    "valid_from": text(f"{_TIME}: valid from this day or time on; now by default."),
    "valid_until": text(f"{_TIME}: valid through this day, or until this time."),
    "supersede": flag("End all other values of the subject and predicate."),
    "confidence": share("Its confidence."),
    "memory": text("The id of the memory it is drawn from."),
    "source": text("Where it comes from."),
}
FACT_QUESTION = {
    **TRIPLE,
    "entity": text("Only facts with this on either side."),
    "direction": text("Whether the entity is subject or object.", enum=list(DIRECTIONS)),
    "memory": text("Only facts that this memory states, by its id."),
    "valid_at": FILTERS["valid_at"],
    **KNOWN_AT,
    "history": flag("Also facts that ended."),
    "limit": whole("How many at most; the last of them.", 1, 1_000_000),
}
FACT_END = {**TRIPLE, "at": text(f"{_TIME}: its last day, or when it ended; now by default."), **REASON}
SLEEPS = {"limit": whole("How many at most; 50 by default.", 1, 50)}
JOURNAL = {
    "since": whole("Only entries after this number.", 0, 2**53),
    "limit": whole("How many at most; 1,000 by default.", 1, 10_000),
    "last": whole("Only this many of the newest.", 1, 10_000),
}


def taking(properties: Schema, *required: str) -> dict[str, Any]:
    """Return the schema of an object with these properties and no others."""
    schema = {"type": "object", "properties": dict(properties), "additionalProperties": False}
    return {**schema, "required": list(required)} if required else schema


async def json_of(request: Request) -> Any:
    """Return the body's JSON. An empty body is an empty object."""
    body = await request.body()
    if not body:
        return {}
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        hint = "Send the header Content-Type: application/json."
        raise Refused(415, InputError("Content-Type", "application/json", kind or None, hint=hint))
    try:
        read = parsed(body.decode("utf-8"), strict=True)
    except TooDeepError:
        raise Refused(400, InputError("body", f"JSON no deeper than {DEPTH}", body)) from None
    except ValueError as problem:
        raise Refused(400, InputError("body", "JSON in UTF-8", body, hint=_told(problem))) from problem
    _check_shape(read)
    return read


def segment(request: Request, name: str) -> str:
    """Return a decoded segment of the path. The guard leaves it encoded."""
    try:
        return unquote_to_bytes(request.path_params[name]).decode("utf-8")
    except UnicodeDecodeError as problem:
        raise Refused(400, InputError(name, "UTF-8 in the path", None)) from problem


def query_of(request: Request, properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the query's values, typed by their schemas. Unreadable ones are kept for the check to refuse."""
    given: dict[str, Any] = {}
    for name, value in request.query_params.multi_items():
        schema = properties.get(name, {})
        if schema.get("type") == "array":
            given.setdefault(name, []).append(typed(value, schema.get("items", {})))
        elif name in given:
            raise InputError(name, "one value", None, hint="It was given twice.")
        else:
            given[name] = typed(value, schema)
    return given


def typed(value: str, schema: Mapping[str, Any]) -> Any:
    """Return the value as its schema types it, or unchanged if that fails."""
    kind = schema.get("type")
    try:
        if kind == "integer":
            return int(value) if value.isascii() and len(value) < 25 and "_" not in value else value
        if kind == "number":
            return float(value) if value.isascii() and "_" not in value else value
    except ValueError:
        return value
    if kind == "boolean":
        return {"true": True, "false": False}.get(value, value)
    return value


def _check_shape(read: Any) -> None:
    """Raise `Refused` for JSON nested too deep for the checks, and for numbers that are not finite."""
    level = [read]
    for _ in range(DEPTH):
        if any(isinstance(value, float) and not math.isfinite(value) for value in level):
            raise Refused(400, InputError("body", "JSON, whose numbers are finite", None))
        level = [below for value in level for below in _within(value)]
        if not level:
            return
    raise Refused(400, InputError("body", f"JSON no deeper than {DEPTH}", None))


def _within(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _told(problem: ValueError) -> str | None:
    """Return the place of the error, without the text found there."""
    if isinstance(problem, json.JSONDecodeError):
        return f"{problem.msg}, in line {problem.lineno}, column {problem.colno}."
    return None
