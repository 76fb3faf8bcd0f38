"""A function as a language model: it takes messages, and a schema or None, and returns the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pieria.errors import AdapterError, InputError, PieriaError, ReplyError, ReplyUnreadableError
from pieria.models.embedding import checked_opts
from pieria.models.llm import LLMResponse, Message, checked_messages, checked_schema, read_json

Answer = str | Mapping[str, Any] | LLMResponse
Function = Callable[[list[dict[str, str]], dict[str, Any] | None], Answer]


class FunctionLLM:
    """Wraps a function. It gets copies of the messages and the schema, so it may change them.

    A returned text is the answer; with a schema it is JSON, in a code fence or not. A mapping answers a schema. An
    `LLMResponse` can be either, with its usage. There are no options, because a function would ignore them.
    """

    takes_options = False

    def __init__(self, function: Function, *, name: str | None = None) -> None:
        if not callable(function):
            raise InputError("function", "a callable that takes messages, and a schema or None", function)
        self._function = function
        self.model = f"function:{name or _name_of(function)}"

    def chat(self, messages: Sequence[Message], opts: Mapping[str, Any] | None = None) -> LLMResponse:
        checked_opts(opts, self.model)
        reply = self._called("chat", checked_messages(messages), None)
        if not isinstance(reply.content, str):
            raise self._wrong("chat", f"expected a text, got {type(reply.content).__name__}", reply)
        return reply

    def chat_structured(
        self, messages: Sequence[Message], schema: Mapping[str, Any], opts: Mapping[str, Any] | None = None
    ) -> LLMResponse:
        checked_opts(opts, self.model)
        reply = self._called("chat_structured", checked_messages(messages), checked_schema(schema))
        if not isinstance(reply.content, str):
            return reply
        try:
            return LLMResponse(read_json(reply.content, fenced=True), reply.model, reply.usage)
        except ValueError as problem:
            raise ReplyUnreadableError(self.model, "chat_structured", usage=reply.usage) from problem

    def _called(self, operation: str, messages: list[dict[str, str]], schema: dict[str, Any] | None) -> LLMResponse:
        try:
            answer = self._function(messages, schema)
        except PieriaError:
            raise
        # A user's function may raise any exception; it is kept as the cause.
        except Exception as problem:
            reason = f"the function failed with {type(problem).__name__}"
            raise AdapterError(self.model, operation, reason, retryable=True) from problem
        if isinstance(answer, LLMResponse):
            return answer
        if isinstance(answer, str | Mapping):
            return LLMResponse(answer if isinstance(answer, str) else dict(answer), self.model)
        expected = "expected a text, a mapping or an LLMResponse"
        raise self._wrong(operation, f"{expected}, got {type(answer).__name__}", None)

    def _wrong(self, operation: str, reason: str, reply: LLMResponse | None) -> ReplyError:
        return ReplyError(self.model, operation, reason, usage=reply.usage if reply else None)


def _name_of(function: Function) -> str:
    """Return the function's name, or its type's: nothing is stored under this name."""
    named = getattr(function, "__qualname__", None) or type(function).__qualname__
    return f"{getattr(function, '__module__', '')}.{named}"
