"""What the mind needs of a chat model: less than what `models.llm` promises, so that any object with these will do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

Message = Mapping[str, str]
"""`role` (`system`, `user` or `assistant`) and `content`."""


class LLMResponse(Protocol):
    """`content` is text of `chat`, and what the JSON said of `chat_structured`; its text is taken as well."""

    @property
    def content(self) -> Any: ...

    @property
    def model(self) -> str: ...

    @property
    def usage(self) -> Mapping[str, int]:
        """`input_tokens` and `output_tokens`."""


class LLM(Protocol):
    """Both methods raise `AdapterError`. `opts` holds `step` and whatever was set for that step.

    An attribute `model` may tell its name, written `provider:model`. An error with an attribute `usage` tells what a
    reply cost that could not be used.
    """

    def chat(self, messages: Sequence[Message], opts: Mapping[str, Any] | None = None) -> LLMResponse: ...

    def chat_structured(
        self, messages: Sequence[Message], schema: Mapping[str, Any], opts: Mapping[str, Any] | None = None
    ) -> LLMResponse: ...
