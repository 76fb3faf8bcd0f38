"""pydantic-ai: a toolset of memory tools, and a history processor that adds what the bank knows to a prompt."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from pieria.errors import UnavailableError
from pieria.integrations.toolbox import PROMPT_TOKENS, Toolbox

try:
    from pydantic_ai import ModelRetry, RunContext
    from pydantic_ai.messages import ModelMessage, ModelRequest, SystemPromptPart, UserPromptPart
    from pydantic_ai.tools import ToolDefinition
    from pydantic_ai.toolsets import AbstractToolset
    from pydantic_ai.toolsets.abstract import ToolsetTool
    from pydantic_core import SchemaValidator, core_schema
except ImportError as problem:
    raise UnavailableError(
        "pydantic_ai", "pydantic-ai is not installed", hint="Install it: pip install 'pieria[pydantic-ai]'."
    ) from problem

Processor = Callable[[list[ModelMessage]], Awaitable[list[ModelMessage]]]
# The tools check their own arguments and name all problems at once.
_ANY = SchemaValidator(core_schema.any_schema())
TRIES = 2
BLOCK = "pieria.memory"
"""The mark of our blocks in a history. It is kept when the history is stored."""


class MemoryToolset(AbstractToolset[Any]):
    """The tools of a toolbox for `Agent(toolsets=[…])`. A refused call lets the model try again."""

    def __init__(self, toolbox: Toolbox, *, id: str = "pieria") -> None:
        self._toolbox = toolbox
        self._id = id

    @property
    def id(self) -> str:
        return self._id

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        return {
            name: ToolsetTool(
                toolset=self,
                tool_def=ToolDefinition(name=name, description=description, parameters_json_schema=parameters),
                max_retries=TRIES,
                args_validator=_ANY,
            )
            for name, description, parameters in self._toolbox.listed()
        }

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        reply = await asyncio.to_thread(self._toolbox.reply, name, tool_args)
        if reply.is_error:
            raise ModelRetry(reply.text)
        return reply.value


def memory_processor(toolbox: Toolbox, *, budget_tokens: int = PROMPT_TOKENS) -> Processor:
    """Return a history processor: it puts what the bank knows about the last prompt before that prompt.

    The block is fenced as data. Blocks of earlier prompts are taken out: the bank may have changed, and forgotten.
    """

    async def processed(messages: list[ModelMessage]) -> list[ModelMessage]:
        messages = [_without_blocks(message) for message in messages]
        last = messages[-1] if messages else None
        if not isinstance(last, ModelRequest):
            return messages
        prompts = [part.content for part in last.parts if isinstance(part, UserPromptPart)]
        texts = [one for content in prompts for one in ([content] if isinstance(content, str) else content)]
        asked = "\n".join(text for text in texts if isinstance(text, str))
        told = await asyncio.to_thread(toolbox.before, asked, budget_tokens=budget_tokens) if asked.strip() else ""
        if not told:
            return messages
        return [*messages[:-1], replace(last, parts=[SystemPromptPart(told, dynamic_ref=BLOCK), *last.parts])]

    return processed


def _without_blocks(message: ModelMessage) -> ModelMessage:
    if not isinstance(message, ModelRequest):
        return message
    parts = [part for part in message.parts if getattr(part, "dynamic_ref", None) != BLOCK]
    return message if len(parts) == len(message.parts) else replace(message, parts=parts)
