"""What every language model offers: a chat that answers in words or in JSON of a given shape.

Exists so that a user's own model needs two methods and no import of ours. How a reply is checked belongs to `chat`,
what the models are to `llms`; what is asked of them, to whoever asks.
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
    """An answer: `content` is a text for `chat`, and for `chat_structured` the JSON value it was read as.

    `usage` has the tokens that were read and written, as `input_tokens` and `output_tokens`.
    """

    content: Any
    model: str
    usage: dict[str, int] = field(default_factory=dict)


@runtime_checkable
class LLM(Protocol):
    """Both methods raise `AdapterError`. What `opts` may hold is the model's own; an unknown option is refused.

    A message has a `role`, one of `ROLES`, and a `content`. The schema is a JSON Schema; that the answer fits it
    is for whoever asked to check.
    """

    def chat(self, messages: Sequence[Message], opts: Mapping[str, Any] | None = None) -> LLMResponse: ...

    def chat_structured(
        self, messages: Sequence[Message], schema: Mapping[str, Any], opts: Mapping[str, Any] | None = None
    ) -> LLMResponse: ...


def checked_messages(messages: object) -> list[dict[str, str]]:
    """The messages as plain dictionaries of our own. The user says something in at least one, as servers want it."""
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
    """A copy of it, as JSON has it. The order stays: models fill in properties as they stand."""
    if not isinstance(schema, Mapping) or not schema:
        raise InputError("schema", "a JSON Schema, as a mapping", schema)
    try:
        copied: dict[str, Any] = json.loads(json.dumps(dict(schema), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as problem:
        raise InputError("schema", "a JSON Schema, of JSON values only", schema) from problem
    return copied


def read_json(text: str, *, fenced: bool = False) -> Any:
    """The one JSON value that the text is, or raises `ValueError`.

    It may stand in a code fence where the model was only asked for JSON, not made to write it. Beyond that nothing
    is guessed: what stands around a value may take it back.
    """
    whole = text.strip()
    in_fence = _FENCED.fullmatch(whole) if fenced else None
    return parsed(in_fence[1] if in_fence else whole, strict=True)


def tokens(usage: object, read: Sequence[str], written: Sequence[str]) -> dict[str, int]:
    """Usage in our words, out of fields that a server names in its own; what it does not tell counts as 0."""
    told = usage if isinstance(usage, Mapping) else {}
    return dict(zip(USAGE, (sum(_count(told.get(name)) for name in names) for names in (read, written)), strict=True))


def _count(told: object) -> int:
    return told if isinstance(told, int) and not isinstance(told, bool) and told > 0 else 0
