"""LlamaIndex: a memory block that keeps what leaves the short-term memory, and tells what the bank knows."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Self

from pieria.bank import Bank
from pieria.errors import UnavailableError
from pieria.integrations.toolbox import PROMPT_TOKENS, told_about
from pieria.record.event import storable
from pieria.record.trust import AGENT, OUTSIDE

try:
    from llama_index.core.base.llms.types import ChatMessage, MessageRole
    from llama_index.core.memory import BaseMemoryBlock
    from llama_index.core.utils import get_tokenizer
except ImportError as problem:
    raise UnavailableError(
        "llama_index", "llama-index-core is not installed", hint="Install it: pip install 'pieria[llama-index]'."
    ) from problem

AUTHORS = {MessageRole.USER: "human", MessageRole.ASSISTANT: "agent", MessageRole.CHATBOT: "agent"}
TOLD = (MessageRole.TOOL, MessageRole.FUNCTION)
"""Roles whose text comes from outside."""
UNKEPT = (MessageRole.SYSTEM, MessageRole.DEVELOPER)


class _Answer(str):
    """The text of a block with its question and Pieria's count of its tokens. LlamaIndex hands it back to truncate."""

    def __new__(cls, text: str, question: str, tokens: int) -> Self:
        made = super().__new__(cls, text)
        made.question, made.tokens = question, tokens
        return made

    question: str
    tokens: int


class PieriaMemoryBlock(BaseMemoryBlock[str]):
    """A block for `Memory(memory_blocks=[…])`: its text is what the bank knows about the last message of the user."""

    name: str = "pieria"
    description: str | None = "What earlier conversations and notes say about the last message."
    priority: int = 1
    bank: Bank
    budget_tokens: int = PROMPT_TOKENS
    """Most tokens of the block."""

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        asked = next(
            (text for one in reversed(messages or []) if one.role == MessageRole.USER and (text := _text(one))), ""
        )
        return await asyncio.to_thread(self._answer, asked, self.budget_tokens) if asked else ""

    async def _aput(self, messages: list[ChatMessage]) -> None:
        await asyncio.to_thread(self._keep, messages)

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Ask the bank again within a smaller budget, until LlamaIndex counts that many tokens less.

        Return None if no entry fits, or if the text is not one of this block.
        """
        if not isinstance(content, _Answer):
            return None
        return await asyncio.to_thread(self._shorter, content, tokens_to_truncate)

    def _answer(self, question: str, budget_tokens: int) -> _Answer:
        text, tokens = told_about(self.bank, question, budget_tokens)
        return _Answer(text, question, tokens)

    def _shorter(self, answer: _Answer, fewer: int) -> str | None:
        count = get_tokenizer()
        size = len(count(answer))
        most = size - fewer
        while answer and size > most:
            # Less than the answer itself, so each turn leaves something out.
            budget = answer.tokens * max(0, most) // size
            answer = self._answer(answer.question, budget) if budget else _Answer("", answer.question, 0)
            size = len(count(answer))
        return answer or None

    def _keep(self, messages: Sequence[ChatMessage]) -> None:
        for message in messages:
            text = _text(message)
            if text and message.role not in UNKEPT:
                self.bank.remember(
                    text,
                    kind="turn",
                    author=message.role.value,
                    author_type=AUTHORS.get(message.role, "system"),
                    session=message.additional_kwargs.get("session_id"),
                    via=OUTSIDE if message.role in TOLD else AGENT,
                )


def _text(message: ChatMessage) -> str:
    return storable(message.content or "").strip()
