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
def served(folder: Path, *script: Any, **values: Any) -> Iterator[tuple[Workspace, list[Request]]]:
    """Yield a workspace whose model is on a server, and the requests to that server."""
    with llm_server(*script) as serving:
        settings = {"llm": "server:m", "llm_url": serving.address}
        with Workspace(folder, settings, config=config(**values)) as workspace:
            yield workspace, serving.requests


# --- profiles


@pytest.mark.parametrize("name", ["coding", "research", "customer_support"])
def test_every_prompt_carries_the_profile(name: str, tmp_path: Path) -> None:
    profile = getattr(ExtractionProfile, name)()
    with served(tmp_path, *(case.reply for case in CASES.values()), extraction_profile=profile) as (made, requests):
        bank = made.open("b")
        for case in CASES.values():
            assert case.ask(bank.mind) == case.means
    told = {step: request.messages[0]["content"] for step, request in zip(CASES, requests, strict=True)}
    assert told.keys() == set(STEPS)
    for step, system in told.items():
        assert profile.domain_context in system
        assert system.endswith(profile.overlays.get(step, profile.domain_context))
        for other in profile.overlays.keys() - {step}:
            assert profile.overlays[other] not in system


def test_bank_may_have_a_profile_of_its_own(tmp_path: Path) -> None:
    with served(tmp_path, "Herons.", "Herons.", extraction_profile="coding") as (workspace, requests):
        summed(workspace.open("a"))
        summed(workspace.open("b", config=config(extraction_profile="research")))
    first, second = (request.messages[0]["content"] for request in requests)
    coding, research = (made().domain_context for made in (ExtractionProfile.coding, ExtractionProfile.research))
    assert [text in prompt for prompt in (first, second) for text in (coding, research)] == [True, False, False, True]


# --- models and options


def test_each_step_gets_its_model_and_options(tmp_path: Path) -> None:
    overrides = {
        "keeping": {"model": "mini", "opts": {"temperature": 0.2}},
        "summarize": {"opts": {"max_tokens": 50}},
        "get_state": {"model": "server:nano"},
    }
    llm = {"model": "gpt-4o", "opts": {"temperature": 0.7, "extra": {"seed": 1}}}
    with served(tmp_path, "Herons.", "All is well.", "0.5", llm=llm, overrides=overrides) as (workspace, requests):
        bank = workspace.open("b")
        assert bank.mind.name == "server:m"
        summed(bank)
        bank.mind.state("g", "o")
        bank.mind.reward("s", "o", "a", "r")
        with pytest.raises(ConfigError, match="get_mode: expected a model of server, got 'anthropic:claude'"):
            workspace.open("c", config=config(overrides={"get_mode": {"model": "anthropic:claude"}}))
    fields = [{name: value for name, value in request.body.items() if name != "messages"} for request in requests]
    assert fields == [
        {"model": "mini", "temperature": 0.2, "max_tokens": 50, "seed": 1},
        {"model": "nano", "temperature": 0.7, "seed": 1},
        {"model": "gpt-4o", "temperature": 0.7, "seed": 1},
    ]


def test_own_model_and_embedding_get_their_options(tmp_path: Path) -> None:
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


def test_models_of_pieria_keep_the_public_protocols(tmp_path: Path) -> None:
    with Workspace(tmp_path, {"llm": "server:m", "llm_url": "http://localhost:9"}) as workspace:
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


def test_each_embedding_model_has_a_space_of_its_own(tmp_path: Path) -> None:
    vectors, spaces = OwnEmbedding(), set()
    for named in ("e5", "e6", "auto"):
        made = config(embedding={"model": named})
        with Workspace(tmp_path / named, embedder=vectors, config=made) as workspace, workspace.open("b") as bank:
            bank.remember("Herons nest.")
            assert bank.sync()
            with bank.core.store.reading() as reader:
                spaces.add(reader.space())
    assert len(spaces) == 3


def test_name_of_a_provider_chooses_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIERIA_LLM", "ollama:one")
    made = config(llm={"model": "ollama:two"}, embedding={"model": "hashing"})
    with Workspace(tmp_path, config=made) as workspace:
        bank, other = workspace.open("b"), workspace.open("c", config=config(llm={"model": "openai:three"}))
        assert (bank.mind.name, other.mind.name) == ("ollama:two", "openai:three")
        assert bank.doctor().settings["llm"] == ("ollama:two", "argument")
        assert bank.doctor().settings["embedder"] == ("hashing", "argument")
        assert workspace.open("d", llm="ollama:four").mind.name == "ollama:four"
    with Workspace(tmp_path, llm="ollama:five", config=made) as workspace:
        assert workspace.open("b").mind.name == "ollama:five"
    with llm_server("Herons.") as serving:
        made = config(llm={"model": "openai:gpt-4o", "opts": {"temperature": 0.1}})
        with Workspace(tmp_path, {"llm_url": serving.address}, llm="server:m", config=made) as workspace:
            summed(workspace.open("b"))
    assert (serving.requests[0].body["model"], serving.requests[0].body["temperature"]) == ("m", 0.1)


def test_unknown_name_leaves_it_to_rules_and_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
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


def test_overrides_of_a_bank_come_before_its_configuration(tmp_path: Path) -> None:
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


def test_function_takes_neither_a_model_nor_options(tmp_path: Path) -> None:
    def said(messages: Any, schema: Any) -> str:
        return "Herons."

    refused: dict[str, dict[str, Any]] = {
        "episode: expected no options": {"llm": {"model": "gpt-4o", "opts": {"depth": 3}}},
        "summarize: expected no options and no model of its own": {"overrides": {"summarize": {"model": "mini"}}},
    }
    for told, values in refused.items():
        with pytest.raises(ConfigError, match=told):
            Workspace(tmp_path, llm=said, config=config(**values)).open("b")
    with Workspace(tmp_path, llm=said, config=config()) as workspace:
        assert summed(workspace.open("b")) == "Herons."
    with Workspace(tmp_path, embedder=lambda texts: [[1.0] for _ in texts], config=config()) as workspace:
        assert workspace.open("b").doctor().settings["embedder"] == ("function:e5", "argument")
    with pytest.raises(ConfigError, match=r"embedding\.opts: expected none"):
        Workspace(tmp_path, embedder=lambda texts: [], config=config(embedding={"model": "e", "opts": {"a": 1}}))


def test_wrong_configuration_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    wrong: list[Any] = [object(), "coding", {"llm": {"model": "m"}}, {**MODELS, "colour": 1}]
    for each in wrong:
        with pytest.raises(ConfigError):
            Workspace(tmp_path / "data", config=each)
    assert list(tmp_path.iterdir()) == []
    learning = {"intent_merge_threshold": 0.7, "intent_identity_threshold": 0.9, "trace_verbosity": "detailed"}
    with Workspace(tmp_path, config={**MODELS, **learning}) as workspace:
        assert workspace.open("herons").mind.name == "rules"
        for each in wrong:
            with pytest.raises(ConfigError):
                workspace.open("b", config=each)
    made = config(embedding={"model": "hashing", "opts": {"pooling": "mean"}})
    with Workspace(tmp_path, config=made) as workspace, pytest.raises(InputError, match="pooling"):
        workspace.open("b")
