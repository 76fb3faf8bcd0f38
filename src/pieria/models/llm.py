"""The protocol of language models: a chat that answers in text, or in JSON that follows a schema.

A user's own model needs two methods and no import of Pieria. `chat` checks replies; the models are in `llms`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from pieria.errors import InputError
from pieria.models.embedding import checked_text
from pieria.record.json_text import parsed

Message = Mapping[str, str]
ROLES = ("system", "user", "assistant")
USAGE = ("input_tokens", "output_tokens")

_FENCED = re.compile(r"```(?:json)?[ \t]*\r?\n(.*)\n[ \t]*```", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LLMResponse:
    """An answer: `content` is a text for `chat`, and a parsed JSON value for `chat_structured`.

    `usage` has `input_tokens` and `output_tokens`.
    """

    content: Any
    model: str
    usage: dict[str, int] = field(default_factory=dict)


@runtime_checkable
class LLM(Protocol):
    """Both methods raise `AdapterError`. The model decides which `opts` it takes, and refuses unknown ones.

    A message has a `role`, one of `ROLES`, and a `content`. The caller must check the answer against the JSON Schema.
    """

    def chat(self, messages: Sequence[Message], opts: Mapping[str, Any] | None = None) -> LLMResponse: ...

    def chat_structured(
        self, messages: Sequence[Message], schema: Mapping[str, Any], opts: Mapping[str, Any] | None = None
    ) -> LLMResponse: ...


def checked_messages(messages: object) -> list[dict[str, str]]:
    """Return a copy of the messages. At least one must be of the user, because servers require it."""
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Sequence):
        raise InputError("messages", "a list of messages", messages)
    kept = [_message(message, f"messages[{place}]") for place, message in enumerate(messages)]
    if not any(message["role"] == "user" for message in kept):
        raise InputError("messages", "at least one message of the user", messages)
    return kept


def _message(message: object, parameter: str) -> dict[str, str]:
    if not isinstance(message, Mapping) or set(message) != {"role", "content"}:
        raise InputError(parameter, "a mapping of role and content", message)
    role, content = message["role"], checked_text(message["content"], f"{parameter}.content")
    if role not in ROLES:
        raise InputError(f"{parameter}.role", "one of " + ", ".join(ROLES), role)
    if not content or content.isspace():
        raise InputError(f"{parameter}.content", "a text that is not blank", content)
    return {"role": role, "content": content}


def checked_schema(schema: object) -> dict[str, Any]:
    """Return a copy of the schema as plain JSON. Keeps the order: models fill in properties in that order."""
    if not isinstance(schema, Mapping) or not schema:
        raise InputError("schema", "a JSON Schema, as a mapping", schema)
    try:
        copied: dict[str, Any] = json.loads(json.dumps(dict(schema), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as problem:
        raise InputError("schema", "a JSON Schema, of JSON values only", schema) from problem
    return copied


def read_json(text: str, *, fenced: bool = False) -> Any:
    """Return the one JSON value that the text consists of. Raises `ValueError` for any other text.

    With `fenced`, the value may be in a code fence. Text around the value is an error: it may contradict the value.
    """
    whole = text.strip()
    in_fence = _FENCED.fullmatch(whole) if fenced else None
    return parsed(in_fence[1] if in_fence else whole, strict=True)


def tokens(usage: object, read: Sequence[str], written: Sequence[str]) -> dict[str, int]:
    """Return usage in Pieria's names, summed from a server's fields. Missing fields count as 0."""
    told = usage if isinstance(usage, Mapping) else {}
    return dict(zip(USAGE, (sum(_count(told.get(name)) for name in names) for names in (read, written)), strict=True))


def _count(told: object) -> int:
    return told if isinstance(told, int) and not isinstance(told, bool) and told > 0 else 0
