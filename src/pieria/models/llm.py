"""The protocol of language models: a chat that answers in text, or in JSON that follows a schema.

A user's own model needs two methods and no import of Pieria. `chat` checks replies; the models are in `llms`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from pieria import telemetry
from pieria.errors import AdapterError, InputError, PieriaError, ReplyError
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


class Chat:
    """Wraps an LLM and follows the same protocol. Safe in threads if the wrapped model is.

    `step` names the purpose of a call in its span.
    """

    def __init__(self, llm: LLM) -> None:
        self._llm = llm
        told = getattr(llm, "model", None)
        self.model: str = told if isinstance(told, str) and told else f"custom:{type(llm).__qualname__}"

    @property
    def about(self) -> str:
        """The model's name and, if known, its host and whether a key is set. Never contains the key."""
        host = getattr(self._llm, "host", None)
        if not isinstance(host, str):
            return self.model
        return f"{self.model} at {host}, {'with a' if getattr(self._llm, 'has_key', False) else 'without a'} key"

    @property
    def seconds(self) -> float | None:
        """The model's time for one answer, if it says so."""
        told = getattr(self._llm, "seconds", None)
        return float(told) if isinstance(told, int | float) else None

    @property
    def takes_options(self) -> bool:
        """Whether calls may pass options."""
        return bool(getattr(self._llm, "takes_options", True))

    def close(self) -> None:
        """Close connections, if there are any."""
        close = getattr(self._llm, "close", None)
        if callable(close):
            close()

    def chat(
        self, messages: Sequence[Message], opts: Mapping[str, Any] | None = None, *, step: str | None = None
    ) -> LLMResponse:
        """Return the model's answer as text, which may be empty."""
        said, given = checked_messages(messages), _opts(opts)
        reply = self._told("chat", given, step, lambda: self._llm.chat(said, self._named(given, step)))
        if not isinstance(reply.content, str):
            raise self._wrong("chat", f"expected a text, got {type(reply.content).__name__}", reply.usage)
        return reply

    def chat_structured(
        self,
        messages: Sequence[Message],
        schema: Mapping[str, Any],
        opts: Mapping[str, Any] | None = None,
        *,
        step: str | None = None,
    ) -> LLMResponse:
        """Return the model's answer as a JSON value. The caller must check it against the schema."""
        said, wanted, given = checked_messages(messages), checked_schema(schema), _opts(opts)
        operation = "chat_structured"
        reply = self._told(
            operation, given, step, lambda: self._llm.chat_structured(said, wanted, self._named(given, step))
        )
        try:
            content = parsed(json.dumps(reply.content, allow_nan=False))
        except (TypeError, ValueError, RecursionError) as problem:
            expected = "expected what JSON can hold"
            raise self._wrong(operation, f"{expected}, got {type(reply.content).__name__}", reply.usage) from problem
        return LLMResponse(content, reply.model, reply.usage)

    def _named(self, opts: dict[str, Any] | None, step: str | None) -> dict[str, Any] | None:
        """Return the options, for a user's own model with the names of the model and of the step."""
        if step is None or not self.takes_options or not getattr(self._llm, "takes_step", True):
            return opts
        return {"model": self.model, **(opts or {}), "step": step}

    def _told(
        self, operation: str, opts: dict[str, Any] | None, step: str | None, ask: Callable[[], LLMResponse]
    ) -> LLMResponse:
        model = (opts or {}).get("model", self.model)
        with telemetry.during(f"llm.{operation}", model=model, step=step) as measured:
            reply = self._replied(operation, ask)
            measured.update({f"tokens_{name.partition('_')[0]}": reply.usage[name] for name in USAGE})
            return reply

    def _replied(self, operation: str, ask: Callable[[], LLMResponse]) -> LLMResponse:
        try:
            reply = ask()
        except PieriaError:
            raise
        # A user's own model may raise any exception; it is kept as the cause.
        except Exception as problem:
            reason = f"it failed with {type(problem).__name__}"
            raise AdapterError(self.model, operation, reason, retryable=True) from problem
        if not isinstance(reply, LLMResponse):
            raise self._wrong(operation, f"expected an LLMResponse, got {type(reply).__name__}")
        return LLMResponse(reply.content, str(reply.model), tokens(reply.usage, USAGE[:1], USAGE[1:]))

    def _wrong(self, operation: str, reason: str, usage: Mapping[str, int] | None = None) -> ReplyError:
        return ReplyError(self.model, operation, reason, usage=usage, hint="The adapter of this model has a bug.")


def _opts(opts: object) -> dict[str, Any] | None:
    if opts is None:
        return None
    if not isinstance(opts, Mapping):
        raise InputError("opts", "a mapping of options by name", opts)
    return dict(opts)
