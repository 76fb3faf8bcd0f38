"""Choose the mind and the embedder from arguments and a configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.learning.trajectories import config
from tests.models.llm_server import llm_server
from tests.models.scripted import Scripted

from pieria import Workspace
from pieria.errors import InputError
from pieria.learning.models import embedder_of, mind_of
from pieria.models import Embedder, language_model
from pieria.models.mind import StepSeen
from pieria.models.minds.llm import LLMMind
from pieria.models.minds.rules import RuleMind


class Mode:
    """A prompt that reads every reply as the same word."""

    def build_messages(self, variables: Any) -> Any:
        return [{"role": "user", "content": variables["query"]}]

    def parse_response(self, response: Any) -> Any:
        return "episodic"


def test_mind_is_the_given_one_a_model_or_rules() -> None:
    mind = RuleMind()
    assert mind_of(mind, config()) is mind
    assert isinstance(mind_of(), RuleMind) and isinstance(mind_of(None, config()), RuleMind)
    assert mind_of(Scripted("mixed")).mode("Where?") == "mixed"
    assert mind_of(lambda messages, schema: "semantic").mode("Where?") == "semantic"
    configured = mind_of(None, config(llm={"model": "ollama:qwen3", "opts": {}}))
    assert isinstance(configured, LLMMind) and configured.name == "ollama:qwen3"
    with llm_server("mixed") as server:
        llm = language_model("server:qwen3", options={"base_url": server.address})
        assert mind_of(llm, config()).mode("Where?") == "mixed"
        assert [request.schema for request in server.requests] == [None]


def test_step_has_the_settings_of_its_own_and_of_its_group() -> None:
    llm = Scripted({"facts": []}, "mixed")
    said = config(
        llm={"model": "large", "opts": {"depth": 3}},
        overrides={"structuring": {"model": "small"}, "get_semantic": {"opts": {"depth": 5}}},
        extraction_profile={"name": "sails", "domain_context": "Sails and ropes", "overlays": {"get_mode": "Briefly."}},
    )
    mind = mind_of(llm, said)
    mind.propositions("goal", [StepSeen("o", "a")])
    mind.mode("Where?")
    assert [dict(call.opts) for call in llm.calls] == [
        {"model": "small", "depth": 5, "step": "get_semantic"}, {"model": "large", "depth": 3, "step": "get_mode"},
    ]  # fmt: skip
    assert all("Sails and ropes" in call.system for call in llm.calls)
    assert [call.system.endswith("Briefly.") for call in llm.calls] == [False, True]


def test_own_prompts_reach_the_mind_and_need_a_model(tmp_path: Path) -> None:
    llm, prompts = Scripted("Hm.", "Hm."), {"get_mode": Mode()}
    assert mind_of(llm, prompts=prompts).mode("Where?") == "episodic"
    with Workspace(tmp_path) as workspace:
        assert workspace.open("sails", llm=llm, prompts=prompts).mind.mode("Where?") == "episodic"
        for given, wrong in ((None, prompts), (llm, {"get_mood": Mode()})):
            with pytest.raises(InputError, match="prompts"):
                workspace.open("ropes", llm=given, prompts=wrong)
    with pytest.raises(InputError, match="prompts"):
        mind_of(RuleMind(), prompts=prompts)


def test_embedder_is_made_of_an_object_or_a_function() -> None:
    def letters(texts: list[str]) -> list[list[float]]:
        return [[float(len(text)), 1.0] for text in texts]

    made = embedder_of(letters, config(embedding={"model": "letters"}))
    assert isinstance(made, Embedder) and embedder_of(made) is made
    assert (made.model, embedder_of().is_floor) == ("function:letters", True)
    for wrong in ("local", 5):
        with pytest.raises(InputError, match="a function of"):
            embedder_of(wrong)
