"""The code that all LLM servers share: options, deadlines, and JSON with or without the server's support for schemas.

The request and reply formats are in one file per protocol.
"""

from __future__ import annotations

import json
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from pieria.errors import InputError, ReplyCutError, ReplyError, ReplyRefusedError, ReplyUnreadableError
from pieria.models.endpoint import Endpoint, NotTakenError
from pieria.models.llm import LLMResponse, Message, checked_messages, checked_schema, read_json, tokens
from pieria.record import check

_ABOUT_SCHEMA = re.compile(r"invalid[\s_]+(?:json[\s_]+)?schema|format\.schema\b", re.IGNORECASE)
"""Errors about this one schema: the server supports schemas, so the next one may work."""
_IN_WORDS = (
    "Answer with one JSON value that fits this JSON Schema, and with nothing else: no explanation, no code fence.\n\n"
)
_OPTIONS = ("model", "max_tokens", "temperature", "extra")

_UNNAMED = "answer"
_TO_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST_NAME = 64

_MOST_TOKENS = 8_192
"""The default limit of an answer: this protocol requires a limit in every request."""
_READ = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_CUT = ("max_tokens", "model_context_window_exceeded")


@dataclass(frozen=True, slots=True)
class Asked:
    """One call: the messages, the model and the options."""

    operation: str
    messages: list[dict[str, str]]
    model: str
    max_tokens: int | None
    temperature: float | None
    extra: Mapping[str, Any]


class ServerLLM(ABC):
    """A language model on a server. Safe in threads. `seconds` bounds a call with all its retries.

    Options of a call: `model`, another one of the same server; `max_tokens`; `temperature`; and `extra`, further fields
    of the request. `provider` is the first part of the model's name. A received answer is never requested again.
    """

    takes_step: ClassVar[bool] = False
    """Whether a call may have the option `step`."""
    path: ClassVar[str]
    shape_words: ClassVar[tuple[str, ...]]
    """Words, in lower case, in errors of servers that do not support schemas."""
    key_header: ClassVar[tuple[str, str]] = ("Authorization", "Bearer ")
    headers: ClassVar[Mapping[str, str]] = {}

    def __init__(
        self,
        model: str,
        *,
        base_url: str,
        api_key: str | None = None,
        seconds: float = 60.0,
        provider: str,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._name = _model(model, "model")
        self._provider = provider
        self.model = f"{provider}:{self._name}"
        self._endpoint = Endpoint(
            self.model,
            base_url,
            key=api_key,
            key_header=self.key_header,
            headers=self.headers,
            seconds=seconds,
            sleep=sleep,
        )
        self._without_schemas: set[str] = set()
        """Models that this server cannot hold to a schema."""

    @property
    def host(self) -> str:
        return self._endpoint.host

    @property
    def has_key(self) -> bool:
        return self._endpoint.has_key

    @property
    def seconds(self) -> float:
        """The time of a call with all its retries."""
        return self._endpoint.seconds

    def close(self) -> None:
        self._endpoint.close()

    def chat(self, messages: Sequence[Message], opts: Mapping[str, Any] | None = None) -> LLMResponse:
        return self._answered(self._asked("chat", messages, opts), {}, self._endpoint.deadline())

    def chat_structured(
        self, messages: Sequence[Message], schema: Mapping[str, Any], opts: Mapping[str, Any] | None = None
    ) -> LLMResponse:
        wanted = checked_schema(schema)
        asked = self._asked("chat_structured", messages, opts)
        deadline = self._endpoint.deadline()
        learnt = None
        if asked.model not in self._without_schemas:
            try:
                return self._read(self._answered(asked, self.shape(wanted), deadline), asked)
            except NotTakenError as refused:
                learnt = None if _ABOUT_SCHEMA.search(refused.said) else asked.model
        reply = self._answered(_in_words(asked, wanted), {}, deadline)
        if learnt is not None:
            self._without_schemas.add(learnt)
        return self._read(reply, asked, fenced=True)

    @abstractmethod
    def body(self, asked: Asked) -> dict[str, Any]:
        """Return the request without the fields for a schema."""

    @abstractmethod
    def shape(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return the fields of a request that hold the answer to a schema."""

    @abstractmethod
    def answer(self, reply: Mapping[str, Any], asked: Asked) -> LLMResponse:
        """Return the text of a reply. Raises `ReplyError` if it is missing or incomplete."""

    def named(self, asked: Asked) -> str:
        return f"{self._provider}:{asked.model}"

    def _answered(self, asked: Asked, shape: Mapping[str, Any], deadline: float) -> LLMResponse:
        body = {**self.body(asked), **shape}
        for name in asked.extra:
            if name in body or name == "stream":
                raise InputError("opts.extra", "no field that Pieria sets itself", name)
        private = [message["content"] for message in asked.messages]
        reply = self._endpoint.post(
            self.path,
            {**body, **asked.extra},
            asked.operation,
            private,
            deadline=deadline,
            optional=self.shape_words if shape else (),
        )
        return self.answer(reply, asked)

    def _read(self, reply: LLMResponse, asked: Asked, *, fenced: bool = False) -> LLMResponse:
        try:
            content = read_json(reply.content, fenced=fenced)
        except ValueError as problem:
            raise ReplyUnreadableError(reply.model, asked.operation, usage=reply.usage) from problem
        return LLMResponse(content, reply.model, reply.usage)

    def _asked(self, operation: str, messages: Sequence[Message], opts: Mapping[str, Any] | None) -> Asked:
        given = dict(opts or {})
        for name in given:
            if name not in _OPTIONS:
                raise InputError("opts", "one of " + ", ".join(_OPTIONS), str(name))
        limit, temperature = given.get("max_tokens"), given.get("temperature")
        extra = given.get("extra", {})
        check.mapping(extra, "opts.extra")
        return Asked(
            operation,
            checked_messages(messages),
            _model(given.get("model", self._name), "opts.model").removeprefix(f"{self._provider}:"),
            None if limit is None else check.whole(limit, "opts.max_tokens", 1),
            None if temperature is None else check.number(temperature, "opts.temperature", 0, 2),
            extra,
        )


def _model(model: object, parameter: str) -> str:
    if not isinstance(model, str) or not model.strip():
        raise InputError(parameter, "the name of a model of the server", model)
    return model.strip()


def _in_words(asked: Asked, schema: dict[str, Any]) -> Asked:
    """Append the schema to the last user message: some models take no system message, and none takes a late one."""
    messages = [dict(message) for message in asked.messages]
    last = next(message for message in reversed(messages) if message["role"] == "user")
    last["content"] += f"\n\n{_IN_WORDS}{json.dumps(schema, ensure_ascii=False)}"
    return replace(asked, messages=messages)


class OpenAILLM(ServerLLM):
    """`limit_field` is the request's field for the maximum of tokens. OpenAI itself has renamed that field."""

    path = "/chat/completions"
    shape_words = ("response_format", "response format", "json_schema", "structured output")

    def __init__(self, model: str, *, provider: str = "openai", limit_field: str = "max_tokens", **server: Any) -> None:
        super().__init__(model, provider=provider, **server)
        self._limit_field = limit_field

    def body(self, asked: Asked) -> dict[str, Any]:
        limits = {self._limit_field: asked.max_tokens, "temperature": asked.temperature}
        given = {name: value for name, value in limits.items() if value is not None}
        return {"model": asked.model, "messages": asked.messages, **given}

    def shape(self, schema: dict[str, Any]) -> dict[str, Any]:
        name = _TO_NAME.sub("_", str(schema.get("title", "")))[:_LONGEST_NAME] or _UNNAMED
        told = {"name": name, "schema": schema, "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": told}}

    def answer(self, reply: Mapping[str, Any], asked: Asked) -> LLMResponse:
        model = self.named(asked)
        usage = tokens(reply.get("usage"), ("prompt_tokens",), ("completion_tokens",))
        choices = reply.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(choice, dict) or not isinstance(message, dict):
            raise ReplyError(model, asked.operation, "the reply holds no answer", usage=usage)
        if message.get("refusal") or choice.get("finish_reason") == "content_filter":
            raise ReplyRefusedError(model, asked.operation, usage=usage)
        if choice.get("finish_reason") == "length":
            raise ReplyCutError(model, asked.operation, usage=usage)
        content = message.get("content")
        if not isinstance(content, str):
            raise ReplyError(model, asked.operation, "the reply holds no text", usage=usage)
        return LLMResponse(content, model, usage)


class AnthropicLLM(ServerLLM):
    """Sends all system messages as one, apart from the other messages."""

    path = "/messages"
    shape_words = ("output_config", "output_format", "json_schema", "structured output")
    key_header = ("x-api-key", "")
    headers: ClassVar[Mapping[str, str]] = {"anthropic-version": "2023-06-01"}

    def __init__(self, model: str, *, provider: str = "anthropic", **server: Any) -> None:
        super().__init__(model, provider=provider, **server)

    def body(self, asked: Asked) -> dict[str, Any]:
        system = "\n\n".join(message["content"] for message in asked.messages if message["role"] == "system")
        further = {"system": system or None, "temperature": asked.temperature}
        given = {name: value for name, value in further.items() if value is not None}
        said = [message for message in asked.messages if message["role"] != "system"]
        return {"model": asked.model, "max_tokens": asked.max_tokens or _MOST_TOKENS, "messages": said, **given}

    def shape(self, schema: dict[str, Any]) -> dict[str, Any]:
        return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}

    def answer(self, reply: Mapping[str, Any], asked: Asked) -> LLMResponse:
        model = self.named(asked)
        usage = tokens(reply.get("usage"), _READ, ("output_tokens",))
        stopped, blocks = reply.get("stop_reason"), reply.get("content")
        if stopped == "refusal":
            raise ReplyRefusedError(model, asked.operation, usage=usage)
        if stopped in _CUT:
            raise ReplyCutError(model, asked.operation, usage=usage)
        if not isinstance(blocks, list):
            raise ReplyError(model, asked.operation, "the reply holds no answer", usage=usage)
        texts = [block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") == "text"]
        if not texts or not all(isinstance(text, str) for text in texts):
            raise ReplyError(model, asked.operation, "the reply holds no text", usage=usage)
        return LLMResponse("".join(map(str, texts)), model, usage)
