"""The shapes of what the resource routes take and answer, as JSON Schema: OpenAPI shows them, the check enforces them.

What a schema cannot say, such as whether a text is a time, the engine says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pieria.bank.filters import INCLUDE
from pieria.record.lesson import STATES as LESSON_STATES
from pieria.record.lesson import TYPES as LESSON_TYPES
from pieria.record.memory import AUTHOR_TYPES, GIVEN_STATUSES, KINDS, SCOPES, STATUSES, TIERS
from pieria.record.trust import GIVEN, WAYS

Schema = Mapping[str, Any]
ORDERS = ("newest", "oldest", "changed", "important")
DIRECTIONS = ("out", "in", "both")


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
    """The same, or null, which takes away what there was."""
    return {**schema, "type": [schema["type"], "null"]}


_TIME = "A date, or a time in ISO 8601"
_LABELS = {
    "tags": several("Its tags."),
    "entities": several("Whom and what it is about."),
    "files": several("Paths of files it is about."),
}
_JUDGEMENT = {
    "importance": share("0 for passing, 1 for what must never fade."),
    "confidence": share("How sure it is."),
    "strength": {"type": "number", "minimum": 0, "maximum": 2, "description": "How strongly it is held."},
}
_TIMES = {
    "at": text(f"{_TIME}: when it was said or happened."),
    "valid_from": text(f"{_TIME}: from when on it holds."),
    "valid_until": text(f"{_TIME}: until when it holds."),
}
REASON = {"reason": text("Why; kept in the history.")}
UNLESS = {
    "unless_changed_since": text(f"{_TIME}: refused where it was changed later. Give the known_from of what was read.")
}
AS_TOLD = {
    "dry_run": flag("Whether it is only told what would go."),
    "as_told": text("Refused where what goes is not what a dry run told. Give the digest of that."),
}
FORGETTING = {
    "source": text("Everything that came from this source."),
    "session": text("Everything that was said or learnt in this session."),
    "purge": flag("Whether it is erased for good."),
    **AS_TOLD,
    **REASON,
}
TRACE = {
    "id": text("The memory; one of id, source and session."),
    "source": text("The source."),
    "session": text("The session."),
    "limit": whole("How many to list.", 1, 10_000),
}
QUARANTINE = {
    "source": text("Everything that came from this source."),
    "session": text("Everything that was said or learnt in this session."),
    "author": text("Everything that this author said."),
    "channel": text("Everything that came by this channel."),
    "via": text("Everything that came in this way.", enum=list(WAYS)),
    "since": text("Only what was said then or later: a date, or a time in ISO 8601."),
    "until": text("Only what was said before."),
    "ids": several("The ids of memories, besides."),
    "dry_run": flag("Whether it is only told what would be hidden."),
    **REASON,
}

CONTENT = {
    "text": text("What to remember."),
    "title": text("A title."),
    "body": mapping("Further fields, as its kind has them."),
    **_LABELS,
    "context": text("What was going on."),
    "meta": mapping("Values of your own."),
}
NEW_MEMORY = {
    **CONTENT,
    "id": text("An id of your own."),
    "kind": text("What kind of thing it is.", enum=list(KINDS)),
    **_JUDGEMENT,
    "scope": text("Who sees it.", enum=list(SCOPES)),
    "source": text("Where it comes from."),
    "author": text("Who says it."),
    "author_type": text("What the author is.", enum=list(AUTHOR_TYPES)),
    "channel": text("The channel it is said in."),
    "session": text("The session it is said in."),
    "sequence": whole("Its number in the session.", 0, 2**53),
    "place": text("Where it is kept: wing, or wing/room."),
    **_TIMES,
    "pinned": flag("Whether it never fades."),
    "unless_exists": text("Give back the one that is there, by this.", enum=["id", "text"]),
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
    "tier": text("How settled it is.", enum=list(TIERS)),
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
    "types": several("Only of these types, as their bodies say."),
    "tags": several("Only with one of these tags."),
    "entities": several("Only about one of these."),
    "files": several("Only about one of these files."),
    "author": text("Only by this author."),
    "author_type": text("Only by such an author.", enum=list(AUTHOR_TYPES)),
    "channel": text("Only of this channel."),
    "session": text("Only of this session."),
    "scope": several("Only of these scopes.", *SCOPES),
    "source": text("Only from this source."),
    "place": text("Only in this wing, wing/room or */room."),
    "since": text(f"{_TIME}: only from then on."),
    "until": text(f"{_TIME}: only before then."),
    "used_since": text(f"{_TIME}: only what was used from then on."),
    "valid_at": text(f"{_TIME}: only what held then."),
    "known_at": text(f"{_TIME}: as it was known then."),
    "status": several("Only of this standing.", *STATUSES),
}
KNOWN_AT = {"known_at": FILTERS["known_at"]}
PAGING = {"cursor": text("Goes on where another page ended.")}
LISTING = {
    **FILTERS,
    "order": text("What comes first; newest by default.", enum=list(ORDERS)),
    "limit": whole("How many at most; 50 by default.", 1, 10_000),
    "include": several("What else is shown.", *INCLUDE),
    "pinned": flag("Only what is pinned, or only what is not."),
    **PAGING,
}
QUESTION = {
    "query": text("The question, in any words."),
    **FILTERS,
    "meta": mapping("Only with these values."),
    "k": whole("How many hits at most; 10 by default.", 1, 10_000),
    "min_score": share("The least score of a hit."),
    "min_confidence": share("Only what answers: nothing where that is less sure than this."),
    "least_retention": {**share("How much must be left of a hit, as it fades."), "maximum": 100},
    "review": share("How many memories that are due for a review come with the hits, as a share of these."),
    "policy": text("How hits are ranked; hybrid by default."),
    "weights": {
        "type": "object",
        "additionalProperties": {"type": "number"},
        "description": "Weights of features in place of the policy's.",
    },
    "deadline_ms": whole("How long it may take.", 1, 600_000),
    "budget_tokens": whole("How many tokens the hits may have together.", 1, 10_000_000),
    "time_zone": text("Whose days yesterday and last week are, such as Europe/Berlin."),
    "by_meaning": flag("False: by words alone."),
    "matching": flag("Only what holds a word of the question, or is near in meaning."),
    "counted": flag("False: what is found does not count as used."),
    **PAGING,
}
CONTEXT = {
    "query": text("What it shall be about, in any words."),
    "files": several("Files that it shall be about."),
    "place": FILTERS["place"],
    "session": text("The session that it is for; as of its moment, where one is kept."),
    "budget_tokens": whole("How many tokens it may have; 2,000 by default.", 1, 10_000_000),
    **KNOWN_AT,
    "anew": flag("As of now, whatever moment is kept for the session."),
}
PROPOSALS = {
    "state": several("Only in one of these states; what is proposed by default.", *LESSON_STATES),
    "type": several("Only of one of these types.", *LESSON_TYPES),
    "limit": whole("How many at most; 100 by default.", 1, 2_000),
}
RULES = {
    "state": several("Only in one of these states; told and waiting by default.", "told", "waiting", "declined"),
    "via": several("Of rules that wait: how they came in; agent by default.", *GIVEN),
    "limit": whole("How many at most; 100 by default.", 1, 500),
}
TRIPLE = {
    "subject": text("Whom or what it is about."),
    "predicate": text("The relation."),
    "object": text("The value, or whom or what it leads to."),
}
NEW_FACT = {
    **TRIPLE,
    "valid_from": _TIMES["valid_from"],
    "valid_until": _TIMES["valid_until"],
    "confidence": share("How sure it is."),
    "memory": text("The id of the memory that it is drawn from."),
    "source": text("Where it comes from."),
}
FACT_QUESTION = {
    **TRIPLE,
    "entity": text("Only facts with this on either side."),
    "direction": text("On which side the entity stands.", enum=list(DIRECTIONS)),
    "memory": text("Only facts that this memory states, by its id."),
    "valid_at": FILTERS["valid_at"],
    **KNOWN_AT,
    "history": flag("Those of all times."),
    "limit": whole("How many at most; the last of them.", 1, 1_000_000),
}
FACT_END = {**TRIPLE, "at": text(f"{_TIME}: when it ended; now by default."), **REASON}
JOURNAL = {
    "since": whole("Only entries after this number.", 0, 2**53),
    "limit": whole("How many at most; 1,000 by default.", 1, 10_000),
    "last": whole("Only so many of the newest.", 1, 10_000),
}


def taking(properties: Schema, *required: str) -> dict[str, Any]:
    """An object of these and nothing else."""
    schema = {"type": "object", "properties": dict(properties), "additionalProperties": False}
    return {**schema, "required": list(required)} if required else schema
