"""pydantic-ai over a bank: its toolset, and the history processor."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent, models
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from pieria.integrations.pydantic_ai import MemoryToolset, memory_processor
from pieria.integrations.toolbox import Toolbox

models.ALLOW_MODEL_REQUESTS = False


@pytest.fixture
def toolbox(tmp_path: Path) -> Iterator[Toolbox]:
    with Toolbox("shop", data=str(tmp_path)) as toolbox:
        yield toolbox


class Scripted:
    """A model that gives these parts in turn, and keeps what it was sent."""

    def __init__(self, *parts: Any) -> None:
        self.parts = list(parts)
        self.seen: list[list[ModelMessage]] = []
        self.tools: list[str] = []

    def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.seen.append(list(messages))
        self.tools = [tool.name for tool in info.function_tools]
        return ModelResponse(parts=[self.parts.pop(0)])


def test_agent_calls_the_tools_of_the_bank(toolbox: Toolbox) -> None:
    script = Scripted(
        ToolCallPart("remember", {"text": "We deploy from the release branch."}),
        ToolCallPart("recall", {"query": 7}),
        TextPart("Noted."),
    )
    agent = Agent(FunctionModel(script), toolsets=[MemoryToolset(toolbox)])
    assert asyncio.run(agent.run("Remember where we deploy from.")).output == "Noted."
    assert script.tools == list(toolbox.names)
    assert [memory.text for memory in toolbox.bank.list()] == ["We deploy from the release branch."]
    assert "query" in str(script.seen[-1][-1].parts[0])


def test_processor_tells_what_the_bank_knows(toolbox: Toolbox) -> None:
    toolbox.bank.remember("JWT keys are rotated daily by the deploy job, which runs at noon.")
    script = Scripted(TextPart("At noon."), TextPart("Hm."))
    agent = Agent(FunctionModel(script), capabilities=[ProcessHistory(memory_processor(toolbox))])
    asyncio.run(agent.run("When are the JWT keys rotated?"))
    [told] = [part for part in script.seen[0][-1].parts if isinstance(part, SystemPromptPart)]
    assert "rotated daily" in told.content


def test_history_holds_one_block_and_nothing_forgotten(toolbox: Toolbox) -> None:
    key = toolbox.bank.remember("JWT keys are rotated daily by the deploy job, which runs at noon.")
    script = Scripted(*[TextPart("At noon.")] * 4)
    agent = Agent(FunctionModel(script), capabilities=[ProcessHistory(memory_processor(toolbox))])
    told: list[ModelMessage] = []
    for _ in range(3):
        said = asyncio.run(agent.run("When are the JWT keys rotated?", message_history=told))
        told = ModelMessagesTypeAdapter.validate_json(said.all_messages_json())
        assert str(script.seen[-1]).count("rotated daily") == 1
    toolbox.bank.purge(key.id)
    asyncio.run(agent.run("When are the JWT keys rotated?", message_history=told))
    assert "rotated daily" not in str(script.seen[-1])


def test_processor_leaves_history_alone_without_memories(toolbox: Toolbox) -> None:
    script = Scripted(TextPart("Hello."))
    agent = Agent(FunctionModel(script), capabilities=[ProcessHistory(memory_processor(toolbox))])
    result = asyncio.run(agent.run("Hello there"))
    assert not any(isinstance(part, SystemPromptPart) for part in script.seen[0][-1].parts)
    assert len(result.all_messages()) == 2
