"""Structuring by a model behind HTTP: every call with its prompt, schema and order, and a failure at each of them."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.learning.living import GOAL, Letters, named, of, tied, trajectory
from tests.models.llm_server import Exchange, LLMServer, Reply, cut, hangs, llm_server, raw, says, status

from pieria import Config, ExtractionProfile
from pieria.errors import AdapterError, PromptError, ReplyUnreadableError
from pieria.graph import Changeset
from pieria.learning.structuring import extract_trajectory
from pieria.models.llms.server import OpenAILLM
from pieria.models.minds.llm.prompt import prompt

LIVED = trajectory(0.2, 0.6)
FACTS = {"facts": [{"proposition": "Ropes wear.", "concepts": ["rope"], "confidence": 0.9, "steps": [2]}]}
LESSONS = {
    "instructions": [
        {"intent": "Sail", "condition": "wind", "instruction": f"Do {n}", "expected_outcome": "", "steps": []}
        for n in range(3)
    ]
}
SCORES = {
    "scores": [{"index": 2, "return_score": 10}, {"index": 0, "return_score": 1}, {"index": 1, "return_score": 4}]
}
KEYS = {"facts": "get_semantic", "instructions": "get_procedural", "scores": "get_return"}
GOOD: Mapping[str, Any] = {"get_semantic": FACTS, "get_procedural": LESSONS, "get_return": SCORES}


def step_of(schema: Mapping[str, Any] | None) -> str:
    assert schema is not None
    return KEYS[next(iter(schema["properties"]))]


def answers(**instead: Any) -> Reply:
    """Return a function that answers each step, in any order of calls."""

    def reply(exchange: Exchange) -> None:
        said = {**GOOD, **instead}[step_of(exchange.request.schema)]
        (said if callable(said) else says(said))(exchange)

    return reply


def learnt(server: LLMServer, *, seconds: float = 60.0, **more: Any) -> Changeset:
    """Learn without a pause before a retry."""
    llm = OpenAILLM("sailor", base_url=server.address, seconds=seconds, sleep=lambda pause: None)
    return extract_trajectory(LIVED, GOAL, llm=llm, **{"embedding": Letters(), **more})


def asked(server: LLMServer) -> list[str]:
    return [step_of(request.schema) for request in server.requests]


def config(**more: Any) -> Config:
    return Config(**{"llm": {"model": "none"}, "embedding": {"model": "auto"}, **more})


def test_three_calls_are_made_with_their_prompts_and_schemas_and_the_grades_come_last() -> None:
    with llm_server(*[answers()] * 3) as server:
        changeset = learnt(server)
    assert sorted(asked(server)[:2]) == ["get_procedural", "get_semantic"]
    assert asked(server)[2:] == ["get_return"]
    for request in server.requests:
        ours = prompt(step_of(request.schema))
        assert request.schema == ours.schema
        assert request.messages[0] == {"role": "system", "content": ours.system}
        assert GOAL in request.messages[1]["content"]
        lines = [json.loads(line) for line in request.messages[1]["content"].splitlines() if line.startswith('{"step"')]
        assert [(line["observed"], line["reward"]) for line in lines] == [("Observed 0.", 0.2), ("Observed 1.", 0.6)]
    assert {node.text: node.return_score for node in of(changeset, "procedural")} == {
        "Do 0": 0.0, "Do 1": 0.3333, "Do 2": 1.0,
    }  # fmt: skip
    assert tied(changeset, named(changeset, "Ropes wear."), "provenance") == {"Observed 1. → Did 1."}


def test_without_instructions_nothing_is_graded() -> None:
    with llm_server(*[answers(get_semantic={"facts": []}, get_procedural={"instructions": []})] * 2) as server:
        changeset = learnt(server)
    assert sorted(asked(server)) == ["get_procedural", "get_semantic"]
    assert len(of(changeset, "episodic")) == 2
    assert not [*of(changeset, "semantic"), *of(changeset, "procedural")]


UNREADABLE: Mapping[str, tuple[Reply, type[Exception]]] = {
    "broken": (says("not JSON {"), ReplyUnreadableError),
    "wrong shape": (says({"wrong": 1}), PromptError),
    "empty": (says(""), AdapterError),
    "cut off": (cut('{"facts": ['), AdapterError),
}
UNHEARD: Mapping[str, tuple[Reply, type[Exception]]] = {
    "refused": (status(400, "no"), AdapterError),
    "out of order": (status(500), AdapterError),
    "no JSON": (raw(b"<html>"), AdapterError),
    "timeout": (hangs, AdapterError),
}
FAILING = [("get_semantic", name) for name in (*UNREADABLE, *UNHEARD)]
FAILING += [("get_procedural", name) for name in (*UNREADABLE, *UNHEARD)]
FAILING += [("get_return", name) for name in UNHEARD]


@pytest.mark.parametrize(("step", "name"), FAILING)
def test_a_failure_at_any_step_fails_the_trajectory_with_the_error_of_that_step(step: str, name: str) -> None:
    reply, reason = {**UNREADABLE, **UNHEARD}[name]
    with llm_server(*[answers(**{step: reply})] * 30) as server:
        with pytest.raises(reason) as failure:
            learnt(server, seconds=0.4 if name == "timeout" else 60.0)
        calls = asked(server)
    if isinstance(failure.value, PromptError):
        assert (failure.value.prompt, failure.value.reason) == (step, prompt(step).nothing)
    if name in ("broken", "wrong shape"):
        assert calls.count(step) == 2
    others = {"get_semantic", "get_procedural"} - {step}
    assert all(calls.count(other) == 1 for other in others)
    assert ("get_return" in calls) == (step == "get_return")


@pytest.mark.parametrize("name", UNREADABLE)
def test_grades_that_cannot_be_read_cost_the_grades_alone(name: str) -> None:
    with llm_server(*[answers(get_return=UNREADABLE[name][0])] * 30) as server:
        changeset = learnt(server)
    assert [node.text for node in of(changeset, "semantic")] == ["Ropes wear."]
    assert {node.return_score for node in of(changeset, "procedural")} == {None}


@pytest.mark.parametrize("name", ["coding", "research", "customer_support"])
def test_a_profile_reaches_the_prompts_of_what_it_changes_and_its_domain_reaches_all(name: str) -> None:
    profile: ExtractionProfile = getattr(ExtractionProfile, name)()
    with llm_server(*[answers()] * 3) as server:
        learnt(server, config=config(extraction_profile=name))
    for request in server.requests:
        system = request.messages[0]["content"]
        overlay = profile.overlays.get(step_of(request.schema))
        assert profile.domain_context in system
        assert system.endswith(overlay) if overlay else "The record is about" not in system
    assert {"get_semantic", "get_procedural"} <= set(profile.overlays)


def test_a_group_of_steps_is_told_its_model_and_a_step_its_own() -> None:
    said = config(
        llm={"model": "large", "opts": {}},
        overrides={
            "structuring": {"model": "small"},
            "get_return": {"model": "exact"},
            "retrieval": {"model": "other"},
        },
    )
    with llm_server(*[answers()] * 3) as server:
        learnt(server, config=said)
    assert {step_of(request.schema): request.body["model"] for request in server.requests} == {
        "get_semantic": "small", "get_procedural": "small", "get_return": "exact",
    }  # fmt: skip


def test_a_prompt_of_ones_own_takes_the_place_of_a_step() -> None:
    class Brief:
        def build_messages(self, variables: Mapping[str, Any]) -> list[dict[str, str]]:
            return [{"role": "user", "content": f"Facts, please: {len(variables['steps'])}"}]

        def parse_response(self, response: Any) -> Any:
            return [{"proposition": response}]

    def reply(exchange: Exchange) -> None:
        says("Ropes wear out.")(exchange) if exchange.request.schema is None else answers()(exchange)

    with llm_server(*[reply] * 3) as server:
        changeset = learnt(server, prompts={"get_semantic": Brief()})
    assert [node.text for node in of(changeset, "semantic")] == ["Ropes wear out."]
    [own] = [request for request in server.requests if request.schema is None]
    assert own.messages == [{"role": "user", "content": "Facts, please: 2"}]


def test_every_promise_on_structuring_has_a_test() -> None:
    here = Path(__file__).parent
    promised = tomllib.loads((here / "structuring_rulings.toml").read_text("utf-8"))
    listed = {name for numbers in promised.values() for names in numbers.values() for name in names}
    written = {
        name
        for file in here.glob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", file.read_text("utf-8"), re.MULTILINE)
    }
    assert listed <= written
    assert {kind: set(numbers) for kind, numbers in promised.items()} == {
        "defects": {"2", "13", "14", "15", "16", "17"}, "rulings": {"4", "6", "14", "15"},
    }  # fmt: skip
