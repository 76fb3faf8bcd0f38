"""Language models from any server with Anthropic's protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pieria.errors import ReplyCutError, ReplyError, ReplyRefusedError
from pieria.models.llm import LLMResponse, tokens
from pieria.models.llms.server import Asked, ServerLLM

_MOST_TOKENS = 8_192
"""The default limit of an answer: this protocol requires a limit in every request."""
_READ = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_CUT = ("max_tokens", "model_context_window_exceeded")


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
