"""Translate between open-mem's names and the bank's.

A reply has `data`, `error` and `meta`, the same through every door.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pieria.bank import Bank
from pieria.errors import AccessError, ConflictError, Invalid, NotFoundError, PieriaError
from pieria.record.clip import estimated_tokens
from pieria.record.memory import LISTED_KINDS, Memory
from pieria.record.privacy import cut_private, find_secrets, redact
from pieria.record.time import iso
from pieria.toolsets.host import Call
from pieria.toolsets.registry import Tool
from pieria.toolsets.validation import violations

TYPES = ("decision", "bugfix", "feature", "refactor", "discovery", "change")
ANYTHING = "discovery"
"""The type shown for a memory whose own type is not in `TYPES` or `SHOWN_AS`."""
SHOWN_AS = {"plan": "decision"}
"""Other types of the bank, and those that show them."""
KIND = "observation"
SUMMARY = "summary"
SESSION = "session"
"""The type of a session's summary."""
OBSERVED = tuple(kind for kind in LISTED_KINDS if kind != SUMMARY)
"""The kinds that can be opened as observations."""
SPOKEN = "turn"
NOTED = tuple(kind for kind in OBSERVED if kind != SPOKEN)
"""The kinds that are listed as observations: without what was said word for word."""
PROJECT, USER = "project", "user"
ARCHIVED = "archived"
"""The status of memories that search skips and that can be recovered."""
IMPORTANCES = 5
TITLE, LISTED, BRIEF = 80, 200, 240
READ, BOTH = "files_read", "files_modified"
"""Keys in a body: the files that were read, and those of them that were also changed."""
CODES: tuple[tuple[type[PieriaError], str], ...] = (
    (NotFoundError, "NOT_FOUND"),
    (ConflictError, "CONFLICT"),
    (AccessError, "LOCKED_BY_ENV"),
    (Invalid, "VALIDATION_ERROR"),
)
OTHERWISE = "INTERNAL_ERROR"
MISSING = "mem-find and mem-history return the ids."


def asked_types(types: Sequence[str] | None) -> list[str] | None:
    """Return the types as recall takes them. Memories without a type count as `ANYTHING`."""
    wanted = set(types or TYPES)
    if wanted == set(TYPES):
        return None
    spelt = {type: type for type in TYPES} | SHOWN_AS
    if ANYTHING not in wanted:
        return [type for type, shown in spelt.items() if shown in wanted]
    return [f"-{type}" for type, shown in spelt.items() if shown not in wanted]


def type_of(memory: Memory) -> str:
    held = memory.body.get("type")
    return SHOWN_AS.get(held, held if held in TYPES else ANYTHING) if isinstance(held, str) else ANYTHING


def importance_of(memory: Memory) -> int:
    return 1 + round(memory.importance * (IMPORTANCES - 1))


def share_of(importance: int) -> float:
    return (importance - 1) / (IMPORTANCES - 1)


def own_scope(bank: Bank) -> str:
    """Return the scope of the project's memories in this bank."""
    return "user" if bank.is_user_bank else "bank"


def scope_of(memory: Memory) -> str:
    return USER if memory.scope == "user" else PROJECT


def brief(text: str, length: int = BRIEF) -> str:
    """Return the beginning, cut at a word, with an ellipsis if there is more."""
    flat = " ".join(text[: 4 * length].split())
    if len(flat) <= length and len(text) <= 4 * length:
        return flat
    cut = flat[:length].rsplit(" ", 1)[0] if " " in flat[:length] else flat[:length]
    return f"{cut} …"


def title_of(memory: Memory) -> str:
    """Return a title on one line, short enough for a list."""
    return brief(memory.title, LISTED) if memory.title else brief(memory.text, TITLE)


def tokens_of(memory: Memory) -> int:
    return estimated_tokens(f"{memory.title or ''} {memory.text}")


def stamp(moment: datetime | None) -> str | None:
    return None if moment is None else iso(moment)


def texts_of(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def files_of(memory: Memory) -> tuple[list[str], list[str]]:
    """Return the files read and the files changed. A file without a note counts as changed."""
    read = [file for file in texts_of(memory.body.get(READ)) if file in memory.files]
    both = texts_of(memory.body.get(BOTH))
    return read, [file for file in memory.files if file not in read or file in both]


def row_of(memory: Memory) -> dict[str, Any]:
    """Return the memory as a line of a timeline."""
    return {
        "id": memory.id,
        "type": type_of(memory),
        "title": title_of(memory),
        "createdAt": iso(memory.at),
        "importance": importance_of(memory),
    }


def told(memory: Memory, revision_of: str | None = None) -> dict[str, Any]:
    """Return the memory as a full observation."""
    read, modified = files_of(memory)
    return {
        "id": memory.id,
        "sessionId": memory.session or "",
        "scope": scope_of(memory),
        "type": type_of(memory),
        "title": memory.title or title_of(memory),
        "subtitle": memory.body.get("subtitle") or "",
        "facts": texts_of(memory.body.get("facts")),
        "narrative": memory.text,
        "concepts": list(memory.tags),
        "filesRead": read,
        "filesModified": modified,
        "toolName": memory.source or "",
        "createdAt": iso(memory.at),
        "tokenCount": tokens_of(memory),
        "discoveryTokens": memory.body.get("discovery_tokens") or 0,
        "importance": importance_of(memory),
        "revisionOf": revision_of,
        "deletedAt": stamp(memory.known_from) if memory.removed else None,
        "supersededBy": memory.superseded_by,
        "supersededAt": _superseded_at(memory),
        "kind": memory.kind,
    }


def _superseded_at(memory: Memory) -> str | None:
    if memory.ended == "revised":
        return iso(memory.known_from)
    return stamp(memory.valid_until) if memory.superseded_by else None


def kept_of(bank: Bank, value: Any) -> Any:
    """Return the value as the bank stores it: without private parts and, if set so, without secrets."""
    if isinstance(value, list):
        return [kept_of(bank, each) for each in value]
    if not isinstance(value, str):
        return value
    kept, _ = cut_private(value)
    return redact(kept)[0] if bank.secrets == "redact" else kept


class Screened:
    """Counts of private parts and secrets in an agent's texts, for `meta`."""

    def __init__(self, bank: Bank, texts: Iterable[str | None]) -> None:
        self._bank = bank
        self.cut = 0
        self.secrets: list[str] = []
        for text in texts:
            kept, cuts = cut_private(text or "")
            self.cut += cuts
            self.secrets += [secret.kind for secret in find_secrets(kept)]

    def as_dict(self) -> dict[str, Any]:
        redacted = len(self.secrets) if self._bank.secrets == "redact" else 0
        kept = sorted(set(self.secrets)) if not redacted else []
        return {"redacted": redacted, "private": self.cut, **({"secretsKept": kept} if kept else {})}


@dataclass(frozen=True, slots=True)
class Answer:
    """A handler's result. `meta` holds notes for the caller."""

    data: Mapping[str, Any]
    meta: Mapping[str, Any] = field(default_factory=dict)


def answer(call: Call, bank: Bank, data: Mapping[str, Any], **meta: Any) -> Answer:
    """Return the answer with bank and session in `meta`. Leave out values that are None."""
    told = {"bank": bank.name, "session": call.host.session, **meta}
    return Answer(data, {name: value for name, value in told.items() if value is not None})


def succeeded(call: Call, value: Answer) -> dict[str, Any]:
    return {"data": dict(value.data), "error": None, "meta": dict(value.meta)}


def is_of_purged(error: NotFoundError) -> bool:
    return "purged" in str(error.hint)


def failed(tool: Tool, arguments: Mapping[str, Any], error: PieriaError) -> dict[str, Any]:
    if isinstance(error, NotFoundError) and error.resource == "memory":
        error = NotFoundError("observation", error.id, hint=error.hint if is_of_purged(error) else MISSING)
    code = next((code for kind, code in CODES if isinstance(error, kind)), OTHERWISE)
    shown = error.as_dict()
    # `violations` already holds all of `errors`, and the first error as well.
    details = {name: value for name, value in shown.items() if name not in ("message", "errors")}
    told = {"code": code, "message": str(error), "details": {**details, "violations": violations(error)}}
    return {"data": None, "error": told, "meta": {"tool": tool.name}}
