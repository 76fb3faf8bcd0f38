"""The OpenAI Agents SDK over a bank: a session as the SDK uses it, and tools that its runner calls."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from agents import Agent, Model, ModelResponse, Runner, Usage, set_tracing_disabled
from agents.memory import Session, SessionSettings
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

import pieria
from pieria.integrations.openai_agents import PieriaSession, memory_tools
from pieria.integrations.toolbox import Toolbox

HELLO: list[Any] = [
    {"role": "user", "content": "Where do we deploy from?"},
    {"role": "assistant", "content": [{"type": "output_text", "text": "From the release branch."}]},
    {"type": "function_call", "name": "look", "arguments": '{"at": "ci"}', "call_id": "c1"},
    {"type": "function_call_output", "call_id": "c1", "output": "branch: release"},
]


class Scripted(Model):
    """A model that gives these outputs in turn, and keeps what it was sent."""

    def __init__(self, *outputs: Any) -> None:
        self.outputs = list(outputs)
        self.seen: list[Any] = []

    async def get_response(self, system_instructions: Any, input: Any, *rest: Any, **more: Any) -> ModelResponse:
        self.seen.append(input)
        return ModelResponse(output=[self.outputs.pop(0)], usage=Usage(), response_id=None)

    def stream_response(self, *arguments: Any, **more: Any) -> Any:
        raise NotImplementedError


def said(text: str) -> ResponseOutputMessage:
    content: list[Any] = [ResponseOutputText(text=text, type="output_text", annotations=[])]
    return ResponseOutputMessage(id="m", role="assistant", status="completed", type="message", content=content)


def called(name: str, **arguments: Any) -> ResponseFunctionToolCall:
    written = json.dumps(arguments)
    return ResponseFunctionToolCall(call_id="c1", name=name, arguments=written, type="function_call")


@pytest.fixture(autouse=True)
def untraced() -> None:
    set_tracing_disabled(True)


def test_session_keeps_items_in_order(bank: pieria.Bank) -> None:
    async def kept() -> None:
        session, other = PieriaSession("s1", bank), PieriaSession("s2", bank)
        assert isinstance(session, Session)
        await session.add_items(HELLO[:2])
        await session.add_items(HELLO[2:])
        await other.add_items(HELLO[:1])
        assert await session.get_items() == HELLO
        assert await session.get_items(2) == HELLO[2:] and await session.get_items(0) == []
        few = PieriaSession("s1", bank, session_settings=SessionSettings(limit=1))
        assert await few.get_items() == HELLO[-1:]
        assert await session.pop_item() == HELLO[-1]
        await session.add_items(HELLO[-1:])
        assert await session.get_items() == HELLO
        await session.clear_session()
        assert await session.get_items() == [] and await session.pop_item() is None
        assert await other.get_items() == HELLO[:1]

    asyncio.run(kept())


def test_threads_with_loops_of_their_own_share_a_session(bank: pieria.Bank) -> None:
    session = PieriaSession("s1", bank)
    items: list[Any] = [{"role": "user", "content": f"n{number}"} for number in range(24)]
    with ThreadPoolExecutor(8) as threads:
        for item in items:
            threads.submit(lambda item: asyncio.run(session.add_items([item])), item)
    kept: list[Any] = asyncio.run(session.get_items())
    assert {item["content"] for item in kept} == {f"n{number}" for number in range(24)}
    assert len({memory.sequence for memory in bank.list(session="s1")}) == 24


def test_settings_may_be_a_dictionary_of_known_fields(bank: pieria.Bank) -> None:
    assert PieriaSession("s1", bank).session_settings == SessionSettings()
    assert PieriaSession("s1", bank, session_settings={"limit": 2}).session_settings == SessionSettings(limit=2)
    with pytest.raises(TypeError, match="limitt"):
        PieriaSession("s1", bank, session_settings={"limitt": 2})


def test_sessions_messages_are_memories_with_their_trust(bank: pieria.Bank) -> None:
    asyncio.run(PieriaSession("s1", bank).add_items(HELLO))
    texts = {memory.text: memory for memory in bank.list(session="s1")}
    assert set(texts) == {
        "Where do we deploy from?", "From the release branch.", 'look({"at": "ci"})', "branch: release",
    }  # fmt: skip
    assert texts["branch: release"].trust <= 0.2
    assert texts["From the release branch."].author_type == "agent"


def test_runner_remembers_and_calls_tools(tmp_path: Path) -> None:
    with Toolbox("shop", data=str(tmp_path)) as toolbox:
        model = Scripted(called("remember", text="We deploy from the release branch."), said("Noted."), said("Yes."))
        agent = Agent(name="helper", model=model, tools=memory_tools(toolbox))

        async def talk() -> None:
            session = PieriaSession("s1", toolbox.bank)
            first = await Runner.run(agent, "We deploy from the release branch. Remember that.", session=session)
            assert first.final_output == "Noted."
            await Runner.run(agent, "Did you?", session=session)

        asyncio.run(talk())
        assert [item.get("content") for item in model.seen[-1] if item.get("role") == "user"] == [
            "We deploy from the release branch. Remember that.", "Did you?",
        ]  # fmt: skip
        assert [memory.text for memory in toolbox.bank.list(kinds="note", meta={}) if not memory.session]


def test_wrong_arguments_reach_the_model_as_a_reply(tmp_path: Path) -> None:
    with Toolbox("shop", data=str(tmp_path)) as toolbox:
        model = Scripted(called("remember", texts=1), said("Sorry."))
        agent = Agent(name="helper", model=model, tools=memory_tools(toolbox))
        result = asyncio.run(Runner.run(agent, "Remember this."))
        assert result.final_output == "Sorry."
        assert "text" in json.dumps(model.seen[-1])


def test_sessions_of_one_id_number_their_items_apart(bank: pieria.Bank) -> None:
    items: list[Any] = [{"role": "user", "content": f"n{number}"} for number in range(24)]
    with ThreadPoolExecutor(8) as threads:
        for item in items:
            threads.submit(lambda item: asyncio.run(PieriaSession("s1", bank).add_items([item])), item)
    assert sorted(memory.sequence or 0 for memory in bank.list(session="s1")) == list(range(1, 25))


def test_items_with_odd_characters_come_back_unchanged(bank: pieria.Bank) -> None:
    items: list[Any] = [
        {"type": "function_call_output", "call_id": "c1", "output": "ELF\0\0binary"},
        {"role": "user", "content": "half \ud800 of a pair"},
    ]
    session = PieriaSession("s1", bank)
    asyncio.run(session.add_items(items))
    assert asyncio.run(session.get_items()) == items
    assert {memory.text for memory in bank.list(session="s1")} == {"ELF��binary", "half ��� of a pair"}


def test_items_are_kept_all_or_none(bank: pieria.Bank) -> None:
    wrong: list[Any] = [{"role": "user", "content": "kept?"}, {"role": "user", "content": object()}]
    with pytest.raises(TypeError):
        asyncio.run(PieriaSession("s1", bank).add_items(wrong))
    assert list(bank.list(session="s1")) == []
