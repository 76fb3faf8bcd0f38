"""The language model that the engine holds: any LLM, what is asked and answered checked, and told as spans.

Exists so that whoever asks gets a text or a JSON value, with what it cost, or a typed error, whoever made the model.
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
    """An LLM itself, and safe in threads when the one behind it is. `step` is what a span says the call was for."""

    def __init__(self, llm: LLM) -> None:
        self._llm = llm
        told = getattr(llm, "model", None)
        self.model: str = told if isinstance(told, str) and told else f"custom:{type(llm).__qualname__}"

    @property
    def about(self) -> str:
        """Its name, and what is known of where it is; never a key."""
        host = getattr(self._llm, "host", None)
        if not isinstance(host, str):
            return self.model
        return f"{self.model} at {host}, {'with a' if getattr(self._llm, 'has_key', False) else 'without a'} key"

    @property
    def takes_options(self) -> bool:
        """Whether a call may tell it more than the messages."""
        return bool(getattr(self._llm, "takes_options", True))

    def close(self) -> None:
        """Lets go of connections, if there are any."""
        close = getattr(self._llm, "close", None)
        if callable(close):
            close()

    def chat(
        self, messages: Sequence[Message], opts: Mapping[str, Any] | None = None, *, step: str | None = None
    ) -> LLMResponse:
        """The model's answer in words, which may be empty."""
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
        """The model's answer as a JSON value. Whether it fits the schema is not checked here."""
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
        # What a user's own model raises is not known here; as the cause it is kept.
        except Exception as problem:
            raise AdapterError(self.model, operation, f"it failed with {type(problem).__name__}") from problem
        if not isinstance(reply, LLMResponse):
            raise self._wrong(operation, f"expected an LLMResponse, got {type(reply).__name__}")
        return LLMResponse(reply.content, str(reply.model), tokens(reply.usage, USAGE[:1], USAGE[1:]))

    def _wrong(self, operation: str, reason: str, usage: Mapping[str, int] | None = None) -> ReplyError:
        return ReplyError(self.model, operation, reason, usage=usage, hint="The adapter of this model is wrong.")


def _opts(opts: object) -> dict[str, Any] | None:
    if opts is None:
        return None
    if not isinstance(opts, Mapping):
        raise InputError("opts", "a mapping of options by name", opts)
    return dict(opts)
