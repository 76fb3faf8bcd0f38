"""The scripted model that agents talk to, and hosts that are not there."""

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from benchmarks.hosts.__main__ import outcomes
from benchmarks.hosts.model import LAST_WORD, ScriptedModel, ToolCall
from benchmarks.hosts.recorder.cleanup import clean_lines

CALL = ToolCall("mcp__pieria__recall", {"query": "heron"})
ANTHROPIC: dict[str, Any] = {"tools": [{"name": CALL.name}], "messages": [{"role": "user", "content": "Which bird?"}]}
CALLED = {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": CALL.name, "input": {}}]}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "heron"}]}
OPENAI: dict[str, Any] = {
    "tools": [{"type": "namespace", "name": "mcp__pieria", "tools": [{"name": "recall"}]}],
    "input": [{"type": "message", "role": "user", "content": "Which bird?"}],
}
BY_CODE = {"input": [{"type": "additional_tools"}, *OPENAI["input"]]}
OUTPUT = {"type": "function_call_output", "call_id": "1", "output": "heron"}


def events(model: ScriptedModel, path: str, body: Any) -> list[dict[str, Any]]:
    answer = httpx2.post(f"{model.address}{path}", json=body)
    return [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: ")]


def test_the_model_calls_its_script_and_keeps_each_request() -> None:
    with ScriptedModel([CALL]) as model:
        asked = events(model, "/v1/messages?beta=true", ANTHROPIC)
        assert asked[1]["content_block"]["name"] == CALL.name
        assert json.loads(asked[2]["delta"]["partial_json"]) == CALL.arguments
        done = events(model, "/v1/messages", {**ANTHROPIC, "messages": [*ANTHROPIC["messages"], CALLED, RESULT]})
        assert done[2]["delta"]["text"] == LAST_WORD
        item = events(model, "/v1/responses", OPENAI)[1]["item"]
        assert (item["namespace"], item["name"]) == ("mcp__pieria", "recall")
        item = events(model, "/v1/responses", BY_CODE)[1]["item"]
        assert (item["name"], CALL.name in item["input"]) == ("exec", True)
        done = events(model, "/v1/responses", {"input": [*OPENAI["input"], OUTPUT]})
        assert done[1]["item"]["content"][0]["text"] == LAST_WORD
        assert [request.tools for request in model.requests[:3]] == [(CALL.name,)] * 3
        assert "heron" in model.requests[1].results[0] and "heron" in model.requests[-1].results[0]


def test_the_model_follows_a_script_of_words_and_of_sub_agents() -> None:
    tool = {"type": "function", "function": {"name": "bash"}}
    said = {"role": "assistant", "content": "Done."}

    def answer(*messages: dict[str, Any], tools: tuple[Any, ...] = (tool,)) -> Any:
        with ScriptedModel(
            ["Done.", lambda request: ToolCall("bash", {"steps": request.steps})], {"Find": ["One."]}
        ) as model:
            url = f"{model.address}/v1/chat/completions"
            answer = httpx2.post(url, json={"messages": messages, "tools": tools}).text.splitlines()[0]
            delta = json.loads(answer.removeprefix("data: "))["choices"][0]["delta"]
            return delta["content"] or delta["tool_calls"][0]["function"]["arguments"]

    asked, told = {"role": "user", "content": "Mend it."}, {"role": "user", "content": "Find uses."}
    assert [answer(asked), answer(asked, said), answer(told), answer(asked, tools=())] == [
        "Done.", '{"steps": 1}', "One.", LAST_WORD,
    ]  # fmt: skip


def test_recorded_payloads_lose_what_depends_on_the_run() -> None:
    session = "64b3604e-f121-4f77-b608-48a10499cd49"
    payload = {"session_id": session, "cwd": "/srv/x/home/shop", "effort": {"level": "high"}, "duration_ms": 7}
    payload |= {
        "tool_input": {"command": "curl 127.0.0.1:44299/health", "plan": "/srv/x/home/.claude/plans/misty-fox.md"}
    }
    payload |= {"error": f"see /var/{session}/tasks/{session}.output"}
    [line] = clean_lines([json.dumps(payload)], Path("/srv/x/home/shop"), Path("/srv/x/home"))
    assert json.loads(line) == {
        "session_id": "id-1", "cwd": "/home/dev/shop", "error": "see tasks/id-1.output",
        "tool_input": {"command": "curl 127.0.0.1:8000/health", "plan": "/home/dev/.claude/plans/plan.md"},
    }  # fmt: skip


@pytest.mark.parametrize("name", ["fastmcp", "inspector", "codex", "claude"])
def test_a_host_that_is_not_there_is_said_not_to_be_tried(name: str) -> None:
    place: Any = None
    found = list(outcomes(place, None, None, name))
    assert found and all(one.well is None and "not tried" in one.detail for one in found)
