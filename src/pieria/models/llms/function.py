"""Any callable as a language model: it is given messages, and a schema or None, and returns the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pieria.errors import AdapterError, InputError, PieriaError, ReplyError, ReplyUnreadableError
from pieria.models.embedding import checked_opts
from pieria.models.llm import LLMResponse, Message, checked_messages, checked_schema, read_json

Answer = str | Mapping[str, Any] | LLMResponse
Function = Callable[[list[dict[str, str]], dict[str, Any] | None], Answer]


class FunctionLLM:
    """The messages and the schema are copies, so that the function may do with them as it likes.

    A text is what was said or, where there is a schema, JSON, in a code fence or without; a mapping answers a schema;
    an `LLMResponse` is either with its usage. There are no options: nothing would heed them.
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
        # What a user's function raises is not known here; as the cause it is kept.
        except Exception as problem:
            reason = f"the function failed with {type(problem).__name__}"
            raise AdapterError(self.model, operation, reason) from problem
        if isinstance(answer, LLMResponse):
            return answer
        if isinstance(answer, str | Mapping):
            return LLMResponse(answer if isinstance(answer, str) else dict(answer), self.model)
        expected = "expected a text, a mapping or an LLMResponse"
        raise self._wrong(operation, f"{expected}, got {type(answer).__name__}", None)

    def _wrong(self, operation: str, reason: str, reply: LLMResponse | None) -> ReplyError:
        return ReplyError(self.model, operation, reason, usage=reply.usage if reply else None)


def _name_of(function: Function) -> str:
    """Nothing is kept under this name, so a type's will do where the function has none of its own."""
    named = getattr(function, "__qualname__", None) or type(function).__qualname__
    return f"{getattr(function, '__module__', '')}.{named}"
