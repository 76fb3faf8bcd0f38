"""The configuration of a bank's models: the model that is called, and the options and prompt of each step."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.models.llm_server import Request, llm_server
from tests.models.prompt_cases import CASES

from pieria import LLM, Bank, Config, Embedding, EmbeddingResponse, ExtractionProfile, LLMResponse, Workspace
from pieria.errors import ConfigError, InputError
from pieria.models.embedders.function import FunctionEmbedding
from pieria.models.embedders.hash_floor import HashingEmbedding
from pieria.models.embedders.openai import OpenAIEmbedding
from pieria.models.embedding import ToldEmbedding
from pieria.models.mind import Found, Said
from pieria.models.minds.llm import STEPS, Override

MODELS: dict[str, Any] = {"llm": {"model": "gpt-4o"}, "embedding": {"model": "e5"}}
PROFILES = ("coding", "research", "customer_support")


class OwnLLM:
    """A model as users write one. It records its options."""

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []

    def chat(self, messages: Any, opts: Any = None) -> LLMResponse:
        self.told.append(dict(opts or {}))
        return LLMResponse("Herons.", "own", {"input_tokens": 3, "output_tokens": 1})

    def chat_structured(self, messages: Any, schema: Any, opts: Any = None) -> LLMResponse:
        self.told.append(dict(opts or {}))
        return LLMResponse({"reasoning": "One fact says so.", "information": "Herons nest."}, "own", {})


class OwnEmbedding:
    """An embedding as users write one. It records its options."""

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []

    def embed(self, text: str, opts: Any = None) -> EmbeddingResponse:
        return self.embed_batch([text], opts)

    def embed_batch(self, texts: Any, opts: Any = None) -> EmbeddingResponse:
        self.told.append(dict(opts or {}))
        return EmbeddingResponse([[text.count(letter) + 0.1 for letter in "aeiou"] for text in texts], "own")


def config(**values: Any) -> Config:
    return Config(**{**MODELS, **values})


def summed(bank: Bank) -> str:
    return bank.mind.summarize([Said("Herons nest.")])


@contextmanager
def served(folder: Path, *script: Any, **values: Any) -> Iterator[tuple[Bank, list[Request]]]:
    """Yield a bank whose model is on a server, and the requests to that server."""
    with llm_server(*script) as serving:
        settings = {"llm": "server:m", "llm_url": serving.address}
        with Workspace(folder, settings, config=config(**values)) as workspace:
            yield workspace.open("b"), serving.requests


# --- profiles


@pytest.mark.parametrize("name", PROFILES)
def test_the_prompt_of_every_step_carries_the_profile(name: str, tmp_path: Path) -> None:
    profile = getattr(ExtractionProfile, name)()
    replies = [case.reply for case in CASES.values()]
    with served(tmp_path, *replies, extraction_profile=profile) as (bank, requests):
        for case in CASES.values():
            assert case.ask(bank.mind) == case.means
    told = {step: request.messages[0]["content"] for step, request in zip(CASES, requests, strict=True)}
    assert told.keys() == set(STEPS)
    for step, system in told.items():
        assert profile.domain_context in system
        assert system.endswith(profile.overlays.get(step, profile.domain_context))
        for other in profile.overlays.keys() - {step}:
            assert profile.overlays[other] not in system


def test_any_step_takes_an_overlay_and_without_a_profile_none_has_one(tmp_path: Path) -> None:
    profile = ExtractionProfile("legal", overlays={step: f"Mind the clauses of {step}." for step in STEPS})
    asked: list[list[str]] = []
    for held in (profile, None):
        replies = [case.reply for case in CASES.values()]
        with served(tmp_path, *replies, extraction_profile=held) as (bank, requests):
            for case in CASES.values():
                case.ask(bank.mind)
        asked.append([request.messages[0]["content"] for request in requests])
    for step, with_overlay, plain in zip(CASES, *asked, strict=True):
        assert with_overlay == f"{plain}\n\nMind the clauses of {step}."


def test_a_bank_may_have_another_profile_than_its_workspace(tmp_path: Path) -> None:
    with llm_server("Herons.", "Herons.") as serving:
        settings = {"llm": "server:m", "llm_url": serving.address}
        with Workspace(tmp_path, settings, config=config(extraction_profile="coding")) as workspace:
            summed(workspace.open("a"))
            summed(workspace.open("b", config=config(extraction_profile="research")))
    first, second = (request.messages[0]["content"] for request in serving.requests)
    assert ExtractionProfile.coding().domain_context in first
    assert ExtractionProfile.research().domain_context in second
    assert ExtractionProfile.coding().domain_context not in second


# --- models and options


def test_each_step_is_told_its_model_and_options(tmp_path: Path) -> None:
    overrides = {
        "keeping": {"model": "mini", "opts": {"temperature": 0.2}},
        "summarize": {"opts": {"max_tokens": 50}},
        "get_state": {"model": "server:nano"},
    }
    llm = {"model": "gpt-4o", "opts": {"temperature": 0.7, "extra": {"seed": 1}}}
    with served(tmp_path, "Herons.", "All is well.", "0.5", llm=llm, overrides=overrides) as (bank, requests):
        summed(bank)
        bank.mind.state("g", "o")
        bank.mind.reward("s", "o", "a", "r")
    fields = [{name: value for name, value in request.body.items() if name != "messages"} for request in requests]
    assert fields == [
        {"model": "mini", "temperature": 0.2, "max_tokens": 50, "seed": 1},
        {"model": "nano", "temperature": 0.7, "seed": 1},
        {"model": "gpt-4o", "temperature": 0.7, "seed": 1},
    ]


def test_an_object_that_is_handed_over_is_told_the_model_and_the_options(tmp_path: Path) -> None:
    own, vectors = OwnLLM(), OwnEmbedding()
    made = config(
        llm={"model": "gpt-4o", "opts": {"depth": 3}},
        embedding={"model": "e5", "opts": {"pooling": "mean"}},
        overrides={"reasoning": {"model": "deep"}},
    )
    assert isinstance(own, LLM)
    assert isinstance(vectors, Embedding)
    with Workspace(tmp_path, llm=own, embedder=vectors, config=made) as workspace, workspace.open("b") as bank:
        summed(bank)
        bank.mind.synthesize("What do herons do?", "semantic", [Found("semantic", "Herons nest.")])
        bank.remember("Herons nest.")
        assert bank.sync()
        assert bank.recall("herons").plan["embedding"]["model"].startswith("custom:OwnEmbedding@")
    assert own.told == [{"model": "gpt-4o", "depth": 3}, {"model": "deep", "depth": 3}]
    assert vectors.told
    assert all(told == {"model": "e5", "pooling": "mean"} for told in vectors.told)


def test_what_comes_with_pieria_keeps_the_protocols_that_users_are_asked_to_keep(tmp_path: Path) -> None:
    settings = {"llm": "server:m", "llm_url": "http://localhost:9"}
    with Workspace(tmp_path, settings) as workspace:
        held = workspace.open("b").core.llm
    assert isinstance(held, LLM)
    for made in (
        HashingEmbedding(),
        FunctionEmbedding(lambda texts: [[1.0] for _ in texts], name="ones"),
        OpenAIEmbedding("m", base_url="http://localhost:9"),
        ToldEmbedding(OwnEmbedding(), {"model": "e5"}),
    ):
        assert isinstance(made, Embedding)
    with Workspace(tmp_path, llm=held, embedder=HashingEmbedding()) as workspace, workspace.open("b") as bank:
        assert bank.mind.name == "server:m"
        bank.remember("Herons nest.")
        assert bank.sync()


def test_vectors_of_another_model_of_one_object_are_of_another_space(tmp_path: Path) -> None:
    vectors = OwnEmbedding()
    spaces = set()
    for named in ("e5", "e6", "auto"):
        made = config(embedding={"model": named})
        with Workspace(tmp_path / named, embedder=vectors, config=made) as workspace, workspace.open("b") as bank:
            bank.remember("Herons nest.")
            assert bank.sync()
            with bank.core.store.reading() as reader:
                spaces.add(reader.space())
    assert len(spaces) == 3


def test_a_name_that_a_provider_answers_to_chooses_the_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIERIA_LLM", "ollama:one")
    monkeypatch.setenv("PIERIA_EMBEDDER", "none")
    made = config(llm={"model": "ollama:two"}, embedding={"model": "hashing"})
    with Workspace(tmp_path, config=made) as workspace:
        bank, other = workspace.open("b"), workspace.open("c", config=config(llm={"model": "openai:three"}))
        assert (bank.mind.name, other.mind.name) == ("ollama:two", "openai:three")
        assert bank.doctor().settings["llm"] == ("ollama:two", "argument")
        assert bank.doctor().settings["embedder"] == ("hashing", "argument")
        assert workspace.open("d", llm="ollama:four").mind.name == "ollama:four"
    with Workspace(tmp_path, llm="ollama:five", config=made) as workspace:
        assert workspace.open("b").mind.name == "ollama:five"


def test_a_model_named_by_itself_is_the_one_that_is_meant(tmp_path: Path) -> None:
    with llm_server("Herons.") as serving:
        settings = {"llm_url": serving.address}
        made = config(llm={"model": "openai:gpt-4o", "opts": {"temperature": 0.1}})
        with Workspace(tmp_path, settings, llm="server:m", config=made) as workspace:
            summed(workspace.open("b"))
    assert (serving.requests[0].body["model"], serving.requests[0].body["temperature"]) == ("m", 0.1)


def test_a_name_that_nobody_answers_to_leaves_it_to_rules_and_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = {"embedder": "hashing"}
    with caplog.at_level(logging.WARNING), Workspace(tmp_path, settings, config=config()) as workspace:
        assert workspace.open("b").mind.name == "rules"
    assert "names the language model 'gpt-4o'; there is none, and rules judge" in caplog.text
    assert "names the embedding model 'e5', but hashing:384" in caplog.text
    caplog.clear()
    nameless = Config(llm={"model": "none"}, embedding={"model": "auto"})
    with caplog.at_level(logging.WARNING), Workspace(tmp_path, settings, config=nameless) as workspace:
        assert workspace.open("b").mind.name == "rules"
    assert caplog.text == ""


def test_what_was_handed_over_for_a_bank_goes_before_its_configuration(tmp_path: Path) -> None:
    base, other = OwnLLM(), OwnLLM()
    made = config(
        llm={"model": "gpt-4o", "opts": {"depth": 3}}, overrides={"summarize": {"model": "mini", "opts": {"words": 9}}}
    )
    with Workspace(tmp_path, llm=base, config=made) as workspace:
        summed(workspace.open("a", overrides={"summarize": Override(opts={"depth": 5})}))
        summed(workspace.open("b", overrides={"keeping": Override(llm=other)}))
        named = Override(opts={"model": "micro"})
        summed(workspace.open("c", overrides={"summarize": named, "keeping": Override(llm=other)}))
    assert base.told == [{"model": "mini", "depth": 5, "words": 9}]
    assert other.told == [{"depth": 3, "words": 9}, {"model": "micro", "depth": 3, "words": 9}]


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"llm": {"model": "gpt-4o", "opts": {"depth": 3}}}, "episode: expected no options"),
        ({"overrides": {"summarize": {"model": "mini"}}}, "summarize: expected no options and no model of its own"),
    ],
)
def test_a_function_is_one_model_and_is_told_nothing(values: dict[str, Any], told: str, tmp_path: Path) -> None:
    def said(messages: Any, schema: Any) -> str:
        return "Herons."

    with pytest.raises(ConfigError, match=told):
        Workspace(tmp_path, llm=said, config=config(**values)).open("b")
    with Workspace(tmp_path, llm=said, config=config()) as workspace:
        assert summed(workspace.open("b")) == "Herons."
    with Workspace(tmp_path, embedder=lambda texts: [[1.0] for _ in texts], config=config()) as workspace:
        assert workspace.open("b").doctor().settings["embedder"] == ("function:e5", "argument")
    with pytest.raises(ConfigError, match=r"embedding\.opts: expected none"):
        Workspace(tmp_path, embedder=lambda texts: [], config=config(embedding={"model": "e", "opts": {"a": 1}}))


def test_a_model_of_another_provider_is_not_asked_of_this_one(tmp_path: Path) -> None:
    with served(tmp_path) as (bank, _):
        assert bank.mind.name == "server:m"
    settings = {"llm": "server:m", "llm_url": "http://localhost:9"}
    made = config(overrides={"get_mode": {"model": "anthropic:claude"}})
    with pytest.raises(ConfigError, match="get_mode: expected a model of server, got 'anthropic:claude'"):
        Workspace(tmp_path, settings, config=made).open("b")


@pytest.mark.parametrize("wrong", [object(), "coding", {"llm": {"model": "m"}}, {**MODELS, "colour": 1}])
def test_a_configuration_that_cannot_be_right_is_refused_before_anything_is_made(wrong: Any, tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        Workspace(tmp_path / "data", config=wrong)
    assert list(tmp_path.iterdir()) == []
    with Workspace(tmp_path, config=MODELS) as workspace, pytest.raises(ConfigError):
        workspace.open("b", config=wrong)


@pytest.mark.parametrize(
    "heeded", [{"intent_merge_threshold": 0.7}, {"intent_identity_threshold": 0.9}, {"trace_verbosity": "detailed"}]
)
def test_what_learning_heeds_is_taken(tmp_path: Path, heeded: dict[str, Any]) -> None:
    with Workspace(tmp_path, config=config(**heeded)) as workspace:
        assert workspace.open("herons").mind.name == "rules"


def test_an_option_that_an_embedder_does_not_have_is_refused(tmp_path: Path) -> None:
    made = config(embedding={"model": "hashing", "opts": {"pooling": "mean"}})
    with Workspace(tmp_path, config=made) as workspace, pytest.raises(InputError, match="pooling"):
        workspace.open("b")
