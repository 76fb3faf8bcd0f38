"""Structuring by a model behind HTTP: every call with its prompt, schema and order, and a failure at each of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from tests.learning.trajectories import GOAL, letters, named, of, tied, trajectory
from tests.models.llm_server import Exchange, LLMServer, Reply, cut, llm_server, says, status

from pieria import Config
from pieria.errors import AdapterError, PromptError, ReplyUnreadableError
from pieria.graph import Changeset
from pieria.learning.structuring import extract_trajectory
from pieria.models.llms.server import OpenAILLM
from pieria.models.minds.llm.prompt import prompt

FACT = {"proposition": "Ropes wear.", "concepts": ["rope"], "confidence": 0.9, "steps": [2]}
LESSON = {"intent": "Sail", "condition": "wind", "expected_outcome": "", "steps": []}
SCORES = {2: 10, 0: 1, 1: 4}
GOOD: Mapping[str, Any] = {
    "get_semantic": {"facts": [FACT]},
    "get_procedural": {"instructions": [{**LESSON, "instruction": f"Do {n}"} for n in range(3)]},
    "get_return": {"scores": [{"index": index + 1, "return_score": score} for index, score in SCORES.items()]},
}


def step_of(schema: Mapping[str, Any] | None) -> str:
    assert schema is not None
    [step] = [step for step, said in GOOD.items() if said.keys() & schema["properties"].keys()]
    return step


def answers(**instead: Any) -> Reply:
    """Return a function that answers each step, in any order of calls."""

    def reply(exchange: Exchange) -> None:
        said = {**GOOD, **instead}[step_of(exchange.request.schema)]
        (said if callable(said) else says(said))(exchange)

    return reply


def learnt(server: LLMServer, **more: Any) -> Changeset:
    """Learn without a pause before a retry."""
    llm = OpenAILLM("sailor", base_url=server.address, sleep=lambda pause: None)
    return extract_trajectory(trajectory(0.2, 0.6), GOAL, llm=llm, **{"embedding": letters(), **more})


def asked(server: LLMServer) -> list[str]:
    return [step_of(request.schema) for request in server.requests]


def test_three_calls_have_their_prompts_and_grades_come_last() -> None:
    small = Config(llm={"model": "large"}, embedding={"model": "auto"}, overrides={"structuring": {"model": "small"}})
    with llm_server(*[answers()] * 3) as server:
        changeset = learnt(server, config=small)
    assert sorted(asked(server)[:2]) == ["get_procedural", "get_semantic"]
    assert asked(server)[2:] == ["get_return"]
    for request in server.requests:
        ours = prompt(step_of(request.schema))
        assert (request.schema, request.body["model"]) == (ours.schema, "small")
        assert request.messages[0] == {"role": "system", "content": ours.system}
        assert GOAL in request.messages[1]["content"]
        lines = [json.loads(line) for line in request.messages[1]["content"].splitlines() if line.startswith('{"step"')]
        assert [(line["observed"], line["reward"]) for line in lines] == [("Observed 0.", 0.2), ("Observed 1.", 0.6)]
    scores = {node.text: node.return_score for node in of(changeset, "procedural")}
    assert scores == {"Do 0": 0.0, "Do 1": 0.3333, "Do 2": 1.0}
    assert tied(changeset, named(changeset, "Ropes wear."), "provenance") == {"Observed 1. → Did 1."}


UNREADABLE: Mapping[str, tuple[Reply, type[Exception]]] = {
    "broken": (says("not JSON {"), ReplyUnreadableError),
    "wrong shape": (says({"wrong": 1}), PromptError),
    "empty": (says(""), AdapterError),
    "cut off": (cut('{"facts": ['), AdapterError),
}
REFUSED: tuple[Reply, type[Exception]] = (status(400, "no"), AdapterError)


@pytest.mark.parametrize("step", GOOD)
def test_failure_at_any_step_is_raised_with_its_error(step: str) -> None:
    failures = {"refused": REFUSED} if step == "get_return" else {**UNREADABLE, "refused": REFUSED}
    for name, (reply, error) in failures.items():
        with llm_server(*[answers(**{step: reply})] * 30) as server:
            with pytest.raises(error) as failure:
                learnt(server)
            calls = asked(server)
        if isinstance(failure.value, PromptError):
            assert (failure.value.prompt, failure.value.reason) == (step, prompt(step).nothing)
        if name in ("broken", "wrong shape"):
            assert calls.count(step) == 2
        assert all(calls.count(other) == 1 for other in {"get_semantic", "get_procedural"} - {step})
        assert ("get_return" in calls) == (step == "get_return")


def test_unreadable_grades_cost_the_grades_alone(caplog: pytest.LogCaptureFixture) -> None:
    for reply, _ in UNREADABLE.values():
        caplog.clear()
        with llm_server(*[answers(get_return=reply)] * 30) as server:
            changeset = learnt(server)
        assert [node.text for node in of(changeset, "semantic")] == ["Ropes wear."]
        assert {node.return_score for node in of(changeset, "procedural")} == {None}
        assert "count as much as their steps" in caplog.text
