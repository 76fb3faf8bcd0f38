"""LlamaIndex: a memory block that keeps what leaves the short-term memory, and tells what the bank knows."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from pieria.bank import Bank
from pieria.errors import UnavailableError
from pieria.integrations.toolbox import PROMPT_TOKENS
from pieria.record.clip import estimated_tokens
from pieria.record.trust import AGENT, OUTSIDE

try:
    from llama_index.core.base.llms.types import ChatMessage, MessageRole
    from llama_index.core.memory import BaseMemoryBlock
except ImportError as problem:
    raise UnavailableError(
        "llama_index", "llama-index-core is not installed", hint="Install it: pip install 'pieria[llama-index]'."
    ) from problem

AUTHORS = {MessageRole.USER: "human", MessageRole.ASSISTANT: "agent", MessageRole.CHATBOT: "agent"}
TOLD = (MessageRole.TOOL, MessageRole.FUNCTION)
"""Roles whose text comes from outside."""
UNKEPT = (MessageRole.SYSTEM, MessageRole.DEVELOPER)


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
        return await asyncio.to_thread(self._told, asked) if asked else ""

    async def _aput(self, messages: list[ChatMessage]) -> None:
        await asyncio.to_thread(self._keep, messages)

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Leave out the last lines until the text has that many tokens less. Its last line, the mark, stays."""
        *lines, mark = content.split("\n")
        most = estimated_tokens(content) - tokens_to_truncate
        while any(line.startswith("- ") for line in lines):
            lines.pop()
            shorter = "\n".join([*lines, mark])
            if estimated_tokens(shorter) <= most and any(line.startswith("- ") for line in lines):
                return shorter
        return None

    def _told(self, asked: str) -> str:
        found = self.bank.context(asked, budget_tokens=self.budget_tokens)
        return found.text if found.items else ""

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
    return (message.content or "").strip()
