"""Language models from any server with OpenAI's protocol: hosted ones, vLLM, Ollama, LM Studio and others."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pieria.errors import ReplyCutError, ReplyError, ReplyRefusedError
from pieria.models.llm import LLMResponse, tokens
from pieria.models.llms.server import Asked, ServerLLM

_UNNAMED = "answer"
_TO_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST_NAME = 64


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
