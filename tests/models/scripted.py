"""A chat model with scripted replies that records its prompts, and a meter that records its calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pieria.errors import AdapterError
from pieria.models.llm import LLMResponse, Message


@dataclass(frozen=True, slots=True)
class Replied(LLMResponse):
    model: str = "scripted-1-0613"
    usage: dict[str, int] = field(default_factory=lambda: {"input_tokens": 7, "output_tokens": 3})


@dataclass(frozen=True)
class Call:
    messages: Sequence[Message]
    schema: Mapping[str, Any] | None
    opts: Mapping[str, Any]

    @property
    def system(self) -> str:
        return self.messages[0]["content"]

    @property
    def user(self) -> str:
        return self.messages[1]["content"]


class Scripted:
    """Return each reply once, in order; an error among them is raised, and a `Replied` is returned unchanged."""

    def __init__(self, *replies: object, model: str = "scripted-1") -> None:
        self.model = model
        self.calls: list[Call] = []
        self._replies: Iterator[object] = iter(replies)

    def chat(self, messages: Sequence[Message], opts: Mapping[str, Any] | None = None) -> Replied:
        return self._reply(Call(messages, None, dict(opts or {})))

    def chat_structured(
        self, messages: Sequence[Message], schema: Mapping[str, Any], opts: Mapping[str, Any] | None = None
    ) -> Replied:
        return self._reply(Call(messages, schema, dict(opts or {})))

    def _reply(self, call: Call) -> Replied:
        self.calls.append(call)
        reply = next(self._replies)
        if isinstance(reply, BaseException):
            raise reply
        return reply if isinstance(reply, Replied) else Replied(reply)


class Ledger:
    """Records its calls; with a `limit`, it refuses further calls."""

    class SpentError(AdapterError):
        pass

    def __init__(self, limit: int | None = None) -> None:
        self.allowed: list[tuple[str, str]] = []
        self.noted: list[tuple[str, str, dict[str, int], float, bool]] = []
        self._limit = limit

    def allow(self, step: str, model: str) -> None:
        if len(self.allowed) == self._limit:
            raise self.SpentError("budget", step, "all is spent")
        self.allowed.append((step, model))

    def note(self, step: str, model: str, usage: Mapping[str, int], seconds: float, failed: bool = False) -> None:
        self.noted.append((step, model, dict(usage), seconds, failed))
