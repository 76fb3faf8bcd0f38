"""The engine's language model: it wraps any LLM, checks requests and replies, and traces calls.

With every kind of model, a caller gets a text or a JSON value with its usage, or a typed error.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pieria import telemetry
from pieria.errors import AdapterError, InputError, PieriaError, ReplyError
from pieria.models.llm import LLM, USAGE, LLMResponse, Message, checked_messages, checked_schema, tokens
from pieria.record.json_text import parsed


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
        reply = self._told("chat", given, step, lambda: self._llm.chat(said, given))
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
        reply = self._told(operation, given, step, lambda: self._llm.chat_structured(said, wanted, given))
        try:
            content = parsed(json.dumps(reply.content, allow_nan=False))
        except (TypeError, ValueError, RecursionError) as problem:
            expected = "expected what JSON can hold"
            raise self._wrong(operation, f"{expected}, got {type(reply.content).__name__}", reply.usage) from problem
        return LLMResponse(content, reply.model, reply.usage)

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
            raise AdapterError(self.model, operation, f"it failed with {type(problem).__name__}") from problem
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
