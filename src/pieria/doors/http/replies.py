"""The schemas of answers, for OpenAPI. Answers come from the engine's `as_dict`; the schemas only describe them, so
that clients can be generated.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pieria.record.lesson import STATES as LESSON_STATES
from pieria.record.lesson import TYPES as LESSON_TYPES
from pieria.record.memory import AUTHOR_TYPES, KINDS, SCOPES, STATUSES, TIERS
from pieria.record.trust import WAYS

_TEXT: Mapping[str, Any] = {"type": "string"}
_TEXT_OR_NULL: Mapping[str, Any] = {"type": ["string", "null"]}
_NUMBER: Mapping[str, Any] = {"type": "number"}
_NUMBER_OR_NULL: Mapping[str, Any] = {"type": ["number", "null"]}
_WHOLE: Mapping[str, Any] = {"type": "integer"}
_FLAG: Mapping[str, Any] = {"type": "boolean"}
_OBJECT: Mapping[str, Any] = {"type": "object"}
_TEXTS: Mapping[str, Any] = {"type": "array", "items": {"type": "string"}}


def _of(properties: Mapping[str, Any], *optional: str) -> dict[str, Any]:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": dict(properties), "required": required}


def _list_of(name: str) -> dict[str, Any]:
    return {"type": "array", "items": {"$ref": f"#/components/schemas/{name}"}}


def _one_of(allowed: tuple[str, ...]) -> dict[str, Any]:
    return {"type": "string", "enum": list(allowed)}


MEMORY = _of({
    "row": _WHOLE, "id": _TEXT, "version": _WHOLE, "kind": _one_of(KINDS), "title": _TEXT_OR_NULL, "text": _TEXT,
    "place": _TEXT, "scope": _one_of(SCOPES), "at": _TEXT, "known_from": _TEXT, "known_until": _TEXT_OR_NULL,
    "valid_from": _TEXT_OR_NULL, "valid_until": _TEXT_OR_NULL, "importance": _NUMBER, "confidence": _NUMBER_OR_NULL,
    "strength": _NUMBER, "trust": _NUMBER, "pinned": _FLAG, "tags": _TEXTS, "entities": _TEXTS, "files": _TEXTS,
    "flags": _TEXTS, "source": _TEXT_OR_NULL, "context": _TEXT_OR_NULL, "author": _TEXT_OR_NULL,
    "author_type": {"enum": [*AUTHOR_TYPES, None]},
    "via": {"enum": list(WAYS)}, "channel": _TEXT_OR_NULL, "session": _TEXT_OR_NULL,
    "sequence": {"type": ["integer", "null"]}, "status": _one_of(STATUSES), "tier": _one_of(TIERS), "ended": _TEXT,
    "reason": _TEXT_OR_NULL, "superseded_by": _TEXT_OR_NULL, "body": _OBJECT, "meta": _OBJECT,
})  # fmt: skip
FACT = _of({
    "id": _TEXT, "subject": _TEXT, "predicate": _TEXT, "object": _TEXT, "valid_from": _TEXT_OR_NULL,
    "valid_until": _TEXT_OR_NULL, "known_from": _TEXT, "known_until": _TEXT_OR_NULL, "confidence": _NUMBER_OR_NULL,
    "memory": _TEXT_OR_NULL, "source": _TEXT_OR_NULL, "ended": _TEXT, "reason": _TEXT_OR_NULL,
})  # fmt: skip
PROPOSAL = _of({
    "id": _TEXT, "type": _one_of(LESSON_TYPES), "state": _one_of(LESSON_STATES), "text": _TEXT, "confidence": _NUMBER,
    "seen": _WHOLE, "failed": _WHOLE, "by": _TEXT, "at": _TEXT, "trust": _NUMBER, "held_back": _TEXT_OR_NULL,
    "decided_by": _TEXT_OR_NULL, "reason": _TEXT_OR_NULL, "superseded_by": _TEXT_OR_NULL, "contradicts": _TEXTS,
    "sources": _TEXTS, "evidence": {"type": "array", "items": _OBJECT},
})  # fmt: skip
RULE = _of({
    "id": _TEXT, "state": {"enum": ["told", "waiting", "declined"]}, "words": _TEXT, "why": _TEXT, "at": _TEXT,
    "via": {"enum": list(WAYS)}, "trust": _NUMBER, "author": _TEXT_OR_NULL,
    "author_type": {"enum": [*AUTHOR_TYPES, None]}, "source": _TEXT_OR_NULL, "session": _TEXT_OR_NULL,
    "kind": _TEXT, "reason": _TEXT_OR_NULL, "proposal": _OBJECT,
}, "proposal")  # fmt: skip

REPLIES: Mapping[str, Any] = {
    "Memory": MEMORY,
    "Memories": _of({"memories": _list_of("Memory"), "cursor": _TEXT_OR_NULL}),
    "History": _of({"memories": _list_of("Memory")}),
    "Hit": _of(
        {
            "memory": {"$ref": "#/components/schemas/Memory"},
            "score": _NUMBER,
            "why": {"type": "object", "additionalProperties": {"type": "number"}},
            "snippet": _TEXT,
            "overturned": {"type": ["object", "null"], "properties": {"by": _TEXT_OR_NULL, "at": _TEXT}},
            "reply": {"anyOf": [{"$ref": "#/components/schemas/Memory"}, {"type": "null"}]},
        }
    ),
    "Recall": _of(
        {"query": _TEXT, "hits": _list_of("Hit"), "confidence": _NUMBER, "cursor": _TEXT_OR_NULL, "plan": _OBJECT}
    ),
    "Context": _of(
        {
            "text": _TEXT,
            "tokens": _WHOLE,
            "items": {"type": "array", "items": _OBJECT},
            "left_out": _OBJECT,
            "known_at": _TEXT,
            "confidence": _NUMBER_OR_NULL,
        }
    ),
    "Receipt": _of({"ids": _TEXTS, "also": _TEXTS, "erased": _OBJECT, "unreached": _TEXTS, "digest": _TEXT}),
    "Removal": _of(
        {"bank": _TEXT, "path": _TEXT_OR_NULL, "dry_run": _FLAG, "seq": _WHOLE, "erased": _OBJECT, "unreached": _TEXTS}
    ),
    "Forgotten": _of(
        {
            "dry_run": _FLAG,
            "ids": _TEXTS,
            "also": _TEXTS,
            "facts": _TEXTS,
            "digest": _TEXT,
            "seq": {"type": ["integer", "null"]},
            "receipt": {"anyOf": [{"$ref": "#/components/schemas/Receipt"}, {"type": "null"}]},
        }
    ),
    "Drawn": _of(
        {
            "what": _TEXT,
            "id": _TEXT,
            "kind": _TEXT,
            "excerpt": _TEXT,
            "how": _TEXT,
            "of": _TEXT_OR_NULL,
            "at": _TEXT_OR_NULL,
            "source": _TEXT_OR_NULL,
            "session": _TEXT_OR_NULL,
            "author": _TEXT_OR_NULL,
            "ended": _TEXT,
            "quarantines": {"type": "array", "items": _WHOLE},
        }
    ),
    "Telling": _of(
        {"session": _TEXT, "ids": _TEXTS, "times": _WHOLE, "first": _TEXT, "last": _TEXT, "in_context": _FLAG}
    ),
    "Trace": _of(
        {
            "items": _list_of("Drawn"),
            "counts": _OBJECT,
            "told": _list_of("Telling"),
            "notes": _TEXTS,
            "hidden": _WHOLE,
            "truncated": _FLAG,
        }
    ),
    "Quarantine": _of(
        {
            "number": {"type": ["integer", "null"]},
            "at": _TEXT,
            "who": _TEXT,
            "reason": _TEXT_OR_NULL,
            "selectors": _OBJECT,
            "counts": _OBJECT,
            "memories": _WHOLE,
            "facts": _WHOLE,
            "digest": _TEXT,
            "ids": _TEXTS,
            "unreached": _TEXTS,
            "dry_run": _FLAG,
        }
    ),
    "Quarantines": _of({"quarantines": _list_of("Quarantine")}),
    "Lifted": _of({"number": _WHOLE, "seq": _WHOLE, "memories": _WHOLE, "facts": _WHOLE, "still_held": _WHOLE}),
    "Proposal": PROPOSAL,
    "Proposals": _of({"proposals": _list_of("Proposal"), "left": _WHOLE}),
    "Rule": RULE,
    "Rules": _of({"rules": _list_of("Rule"), "left": _WHOLE}),
    "DecidedRules": _of({"rules": _list_of("Rule"), "superseded": _TEXTS, "change": _WHOLE}),
    "Decided": _of({"proposals": _list_of("Proposal"), "superseded": _TEXTS, "change": _WHOLE}),
    "Fact": FACT,
    "Facts": _of({"facts": _list_of("Fact")}),
    "Change": _of({"seq": _WHOLE, "at": _TEXT, "who": _TEXT, "what": _TEXT, "ids": _TEXTS}),
    "Changes": _of({"changes": _list_of("Change"), "next": _WHOLE}),
    "Stats": _of({"bank": _TEXT, "counts": _OBJECT, "by_kind": _OBJECT, "jobs": _OBJECT}),
    "Banks": _of({"banks": _TEXTS}),
    "Health": _of({"status": _TEXT}),
    "Error": _of(
        {
            "error": _of(
                {
                    "code": _TEXT,
                    "message": _TEXT,
                    "retryable": _FLAG,
                    "hint": _TEXT_OR_NULL,
                    "errors": {"type": "array", "items": {"type": "object"}},
                },
                "errors",
            )
        }
    ),
}
"""Schemas by name. An error adds its own fields."""
