"""Who judges and who embeds, of what was handed over and a configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.models.llm_server import llm_server
from tests.models.scripted import Scripted

from pieria import Config, Workspace
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


def config(**more: Any) -> Config:
    return Config(**{"llm": {"model": "none"}, "embedding": {"model": "auto"}, **more})


def test_a_mind_is_taken_as_it_is_a_model_is_asked_and_without_one_rules_judge() -> None:
    mind = RuleMind()
    assert mind_of(mind, config()) is mind
    assert isinstance(mind_of(), RuleMind)
    assert isinstance(mind_of(None, config()), RuleMind)
    assert mind_of(Scripted("mixed")).mode("Where?") == "mixed"
    assert mind_of(lambda messages, schema: "semantic").mode("Where?") == "semantic"


def test_a_model_is_told_what_the_configuration_says_of_its_step_and_of_the_group_of_it() -> None:
    llm = Scripted({"facts": []}, "mixed")
    said = config(
        llm={"model": "large", "opts": {"depth": 3}},
        overrides={"structuring": {"model": "small"}, "get_semantic": {"opts": {"depth": 5}}},
        extraction_profile={"name": "sails", "domain_context": "Sails and ropes", "overlays": {"get_mode": "Briefly."}},
    )
    mind = mind_of(llm, said)
    mind.propositions("goal", [StepSeen("o", "a")])
    mind.mode("Where?")
    opts = [{name: call.opts[name] for name in ("model", "depth")} for call in llm.calls]
    assert opts == [{"model": "small", "depth": 5}, {"model": "large", "depth": 3}]
    assert all("Sails and ropes" in call.system for call in llm.calls)
    assert [call.system.endswith("Briefly.") for call in llm.calls] == [False, True]


def test_a_configuration_that_names_a_model_is_enough() -> None:
    mind = mind_of(None, config(llm={"model": "ollama:qwen3", "opts": {}}))
    assert isinstance(mind, LLMMind)
    assert mind.name == "ollama:qwen3"


def test_prompts_of_ones_own_reach_the_mind_of_a_bank_and_need_a_model(tmp_path: Path) -> None:
    llm = Scripted("Hm.", "Hm.")
    assert mind_of(llm, prompts={"get_mode": Mode()}).mode("Where?") == "episodic"
    with Workspace(tmp_path) as workspace:
        bank = workspace.open("sails", llm=llm, prompts={"get_mode": Mode()})
        assert bank.mind.mode("Where?") == "episodic"
        for given in (None, {"get_mood": Mode()}):
            with pytest.raises(InputError, match="prompts"):
                workspace.open("ropes", llm=given and llm, prompts=given or {"get_mode": Mode()})
    with pytest.raises(InputError, match="prompts"):
        mind_of(RuleMind(), prompts={"get_mode": Mode()})


def test_what_embeds_is_an_embedder_an_embedding_or_a_function() -> None:
    def letters(texts: list[str]) -> list[list[float]]:
        return [[float(len(text)), 1.0] for text in texts]

    made = embedder_of(letters, config(embedding={"model": "letters"}))
    assert isinstance(made, Embedder)
    assert embedder_of(made) is made
    assert made.model == "function:letters"
    assert embedder_of().is_floor
    for wrong in ("local", 5):
        with pytest.raises(InputError, match="a function of"):
            embedder_of(wrong)


def test_a_server_is_a_model_like_any_other() -> None:
    with llm_server("mixed") as server:
        llm = language_model("server:qwen3", options={"base_url": server.address})
        assert mind_of(llm, config()).mode("Where?") == "mixed"
        assert [request.schema for request in server.requests] == [None]
