"""The models of a workspace and its banks: which is called, with which options and prompts, and the reports."""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.models.llm_server import Request, llm_server
from tests.models.prompt_cases import CASES

import pieria
from pieria import Bank, Config, EmbeddingResponse, ExtractionProfile, LLMResponse, Workspace
from pieria.errors import ConfigError, InputError
from pieria.models.mind import Found, Said
from pieria.models.minds.llm import STEPS, Override


def findings(bank: Bank, check: str) -> list[str]:
    return [finding.detail for finding in bank.doctor().findings if finding.check == check]


def asked(folder: Path, **settings: Any) -> Request:
    """Return the request that a bank's language model gets."""
    with llm_server("Red.") as serving:
        told = {"llm": "server:m", **settings}
        told["llm_url"] = told.get("llm_url", "{}").format(serving.address)
        with pieria.open("b", data=folder, settings=told) as bank:
            assert bank.core.llm is not None
            bank.core.llm.chat([{"role": "user", "content": "What colour?"}])
            assert str(settings.get("llm_key")) not in json.dumps(bank.doctor().as_dict())
    return serving.requests[0]


def said_by(messages: list[dict[str, str]], schema: dict[str, Any] | None) -> str:
    return "Herons."


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


def summed(bank: Bank) -> str:
    return bank.mind.summarize([Said("Herons nest.")])


def test_own_model_is_handed_down_and_reported(tmp_path: Path) -> None:
    for llm, named in ((said_by, f"function:{__name__}.said_by"), (OwnLLM(), "custom:OwnLLM")):
        with Workspace(tmp_path, {"llm": "server:m"}, llm=llm) as workspace, workspace.open("b") as bank:
            assert summed(bank) == "Herons."
            assert findings(bank, "llm") == [named]
            assert bank.doctor().settings["llm"] == (named, "argument")
            json.dumps(bank.doctor().as_dict())


def test_named_model_comes_before_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A key alone chooses no model.
    monkeypatch.setenv("OPENAI_API_KEY", "made-up")
    with pieria.open("b", data=tmp_path) as bank:
        told = bank.doctor().settings
        assert (bank.core.llm, told["llm"], told["llm_key"]) == (None, ("none", "default"), (None, "default"))
    monkeypatch.setenv("PIERIA_LLM", "ollama:one")
    monkeypatch.setenv("PIERIA_LLM_URL", "http://maya:hunter2@localhost:9/v1")
    with Workspace(tmp_path, llm="ollama:two") as workspace, workspace.open("b") as bank:
        bank.remember("a word of the user's", scope="user")
        user = bank.core.user_core(False)
        assert user is not None
        for each in (bank, Bank(user), workspace.open("@me")):
            assert findings(each, "llm") == ["ollama:two at localhost:9, without a key"]
            assert each.doctor().settings["llm"] == ("ollama:two", "argument")
    with Workspace(tmp_path) as workspace, workspace.open("b") as bank, workspace.open("c") as other:
        assert findings(bank, "llm") == ["ollama:one at localhost:9, without a key"]
        assert bank.core.llm is other.core.llm
    with Workspace(tmp_path, llm="none") as workspace, workspace.open("b") as bank:
        assert findings(bank, "llm") == ["none: Pieria calls no language model"]


def test_model_that_cannot_be_asked_is_refused(tmp_path: Path) -> None:
    wrong: list[Any] = ["openai", 3, OwnLLM, "", "server:m"]
    for llm in wrong:
        with pytest.raises(InputError) as caught:
            Workspace(tmp_path / "data", llm=llm).open("b")
        assert caught.value.parameter == ("llm_url" if llm == "server:m" else "llm")
    hints = {"sumarize=a": "Did you mean summarize?", "summarize": None, "summarize=a,summarize=b": None}
    for line, hint in hints.items():
        with pytest.raises(InputError) as caught:
            Workspace(tmp_path, {"llm_steps": line})
        assert (caught.value.parameter, caught.value.hint) == ("llm_steps", hint)
    assert list(tmp_path.iterdir()) == []


def test_bank_session_and_step_may_have_their_own_model(tmp_path: Path) -> None:
    shared, own, for_step = OwnLLM(), OwnLLM(), OwnLLM()
    with Workspace(tmp_path, llm=shared) as workspace:
        summed(workspace.open("a"))
        session = workspace.open("a", session="s", llm=own)
        summed(session)
        overrides: Any = {"keeping": {"llm": for_step, "opts": {"depth": 3}}}
        bank = workspace.open("b", overrides=overrides)
        summed(bank)
        assert bank.mind.state("g", "o") == "Herons."
        assert findings(session, "llm") == ["custom:OwnLLM"]
        named = workspace.open("b", llm="ollama:two")
        assert findings(named, "llm") == ["ollama:two at localhost:11434, without a key"]
        assert {line["step"] for line in bank.stats().models["today"]} == {"summarize", "get_state"}
    assert (len(shared.told), len(own.told)) == (2, 1)
    assert [opts["depth"] for opts in for_step.told] == [3]


def test_wrong_overrides_are_refused_by_name(tmp_path: Path) -> None:
    wrong: list[tuple[Any, str]] = [
        ("x", "overrides:"), ([], "overrides:"), ({"summarize": [1]}, "overrides.summarize:"),
        ({"summarize": {"opts": "x"}}, "overrides.summarize.opts:"),
        ({"summarize": {"opts": {"model": 5}}}, "overrides.summarize.opts.model:"),
        ({"summarize": {"llm": 3}}, "overrides.summarize.llm:"), ({"summarize": {"lm": "x"}}, "overrides.summarize:"),
        ({"sumarize": {}}, "Did you mean summarize"), ({"summarize": "ollama:two"}, "a mapping with"),
    ]  # fmt: skip
    with Workspace(tmp_path, llm=OwnLLM()) as workspace:
        for overrides, said in wrong:
            with pytest.raises(InputError, match=said):
                workspace.open("b", overrides=overrides)
    with Workspace(tmp_path) as workspace, pytest.raises(InputError, match="no language model is set"):
        workspace.open("b", overrides={"summarize": {}})


def test_steps_of_the_settings_are_for_the_settings_model(tmp_path: Path) -> None:
    own, for_step = OwnLLM(), OwnLLM()
    with llm_server() as serving:
        told = {"llm": "server:m", "llm_url": serving.address, "llm_steps": "keeping=other"}
        with Workspace(tmp_path, told) as workspace:
            summed(workspace.open("b", llm=own))
            overrides: Any = {"summarize": {"llm": for_step}}
            summed(workspace.open("b", overrides=overrides))
            summed(workspace.open("b"))
        assert [request.body["model"] for request in serving.requests] == ["other"]
    assert [*own.told, *for_step.told] == [{"model": "custom:OwnLLM", "step": "summarize"}] * 2
    with pieria.open("b", data=tmp_path, settings={"llm_steps": "keeping=other"}) as bank:
        assert [find.check for find in bank.doctor().findings if "llm_steps" in str(find.remedy)] == ["llm"]


MODELS: dict[str, Any] = {"llm": {"model": "gpt-4o"}, "embedding": {"model": "e5"}}


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
    assert CASES.keys() == set(STEPS)
    for step, request in zip(CASES, requests, strict=True):
        system = request.messages[0]["content"]
        assert profile.domain_context in system
        own = "get_reward" if step == "judge_steps" else step
        assert system.endswith(profile.overlays.get(own, profile.domain_context))
        for other in profile.overlays.keys() - {own}:
            assert profile.overlays[other] not in system


def test_bank_may_have_a_profile_of_its_own(tmp_path: Path) -> None:
    with served(tmp_path, "Herons.", "Herons.", extraction_profile="coding") as (workspace, requests):
        summed(workspace.open("a"))
        summed(workspace.open("b", config=config(extraction_profile="research")))
        with pytest.raises(ConfigError, match="get_mode: expected a model of server, got 'anthropic:claude'"):
            workspace.open("c", config=config(overrides={"get_mode": {"model": "anthropic:claude"}}))
    for prompt, profile in zip(requests, (ExtractionProfile.coding(), ExtractionProfile.research()), strict=True):
        assert profile.domain_context in prompt.messages[0]["content"]


# --- models and options


def test_own_model_and_embedding_get_their_options(tmp_path: Path) -> None:
    own, vectors = OwnLLM(), OwnEmbedding()
    made = config(
        llm={"model": "gpt-4o", "opts": {"depth": 3}}, embedding={"model": "e5", "opts": {"pooling": "mean"}},
        overrides={"reasoning": {"model": "deep"}},
    )  # fmt: skip
    with Workspace(tmp_path, llm=own, embedder=vectors, config=made) as workspace, workspace.open("b") as bank:
        summed(bank)
        bank.mind.synthesize("What do herons do?", "semantic", [Found("semantic", "Herons nest.")])
        bank.remember_many(["Herons nest."])
        assert bank.recall("herons").plan["embedding"]["model"].startswith("custom:OwnEmbedding@")
    assert own.told == [
        {"model": "gpt-4o", "depth": 3, "step": "summarize"}, {"model": "deep", "depth": 3, "step": "reason_semantic"}
    ]  # fmt: skip
    assert vectors.told
    assert all(told == {"model": "e5", "pooling": "mean"} for told in vectors.told)


def test_each_embedding_model_has_a_space_of_its_own(tmp_path: Path) -> None:
    vectors, spaces = OwnEmbedding(), set()
    for named in ("e5", "e6", "auto"):
        made = config(embedding={"model": named})
        with Workspace(tmp_path / named, embedder=vectors, config=made) as workspace, workspace.open("b") as bank:
            bank.remember_many(["Herons nest."])
            with bank.core.store.reading() as reader:
                spaces.add(reader.space())
    assert len(spaces) == 3


def test_name_of_a_provider_chooses_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIERIA_LLM", "ollama:one")
    made = config(llm={"model": "ollama:two"}, embedding={"model": "hashing"})
    with Workspace(tmp_path, config=made) as workspace, workspace.open("b") as bank:
        told = bank.doctor().settings
        assert (told["llm"], told["embedder"]) == (("ollama:two", "argument"), ("hashing", "argument"))
        others = (
            workspace.open("c", config=config(llm={"model": "openai:three"})),
            workspace.open("d", llm="ollama:four"),
        )
        assert [each.mind.name for each in (bank, *others)] == ["ollama:two", "openai:three", "ollama:four"]
    with Workspace(tmp_path, llm="ollama:five", config=made) as workspace:
        assert workspace.open("b").mind.name == "ollama:five"
    made = config(llm={"model": "openai:gpt-4o", "opts": {"temperature": 0.1}})
    with llm_server("Herons.") as serving:
        summed(Workspace(tmp_path, {"llm_url": serving.address}, llm="server:m", config=made).open("b"))
    assert (serving.requests[0].body["model"], serving.requests[0].body["temperature"]) == ("m", 0.1)


def test_unknown_name_leaves_it_to_rules_and_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def opened(made: Config) -> str:
        with caplog.at_level(logging.WARNING), Workspace(tmp_path, {"embedder": "hashing"}, config=made) as workspace:
            assert workspace.open("b").mind.name == "rules"
        return caplog.text

    assert opened(Config(llm={"model": "none"}, embedding={"model": "auto"})) == ""
    logged = opened(config())
    assert "names the language model 'gpt-4o'; there is none, and rules judge" in logged
    assert "names the embedding model 'e5', but hashing:384" in logged


def test_overrides_of_a_bank_come_before_its_configuration(tmp_path: Path) -> None:
    base, other = OwnLLM(), OwnLLM()
    summarize = {"model": "mini", "opts": {"words": 9}}
    made = config(llm={"model": "gpt-4o", "opts": {"depth": 3}}, overrides={"summarize": summarize})
    with Workspace(tmp_path, llm=base, config=made) as workspace:
        for name, overrides in {
            "a": {"summarize": Override(opts={"depth": 5})}, "b": {"keeping": Override(llm=other)},
            "c": {"summarize": Override(opts={"model": "micro"}), "keeping": Override(llm=other)},
        }.items():  # fmt: skip
            summed(workspace.open(name, overrides=overrides))
    same = {"words": 9, "step": "summarize"}
    assert base.told == [{"model": "mini", "depth": 5, **same}]
    assert other.told == [{"model": name, "depth": 3, **same} for name in ("custom:OwnLLM", "micro")]


def test_function_takes_neither_a_model_nor_options(tmp_path: Path) -> None:
    refused: dict[str, dict[str, Any]] = {
        "episode: expected no options": {"llm": {"model": "gpt-4o", "opts": {"depth": 3}}},
        "summarize: expected no options and no model of its own": {"overrides": {"summarize": {"model": "mini"}}},
    }
    for told, values in refused.items():
        with pytest.raises(ConfigError, match=told):
            Workspace(tmp_path, llm=said_by, config=config(**values)).open("b")

    def ones(texts: list[str]) -> list[list[float]]:
        return [[1.0] for _ in texts]

    with Workspace(tmp_path, llm=said_by, embedder=ones, config=config()) as workspace, workspace.open("b") as bank:
        assert summed(bank) == "Herons."
        assert bank.doctor().settings["embedder"] == ("function:e5", "argument")
    with pytest.raises(ConfigError, match=r"embedding\.opts: expected none"):
        Workspace(tmp_path, embedder=ones, config=config(embedding={"model": "e", "opts": {"a": 1}}))


def test_wrong_configuration_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    wrong: list[Any] = [object(), "coding", {"llm": {"model": "m"}}, {**MODELS, "colour": 1}]
    for each in wrong:
        with pytest.raises(ConfigError):
            Workspace(tmp_path / "data", config=each)
    assert list(tmp_path.iterdir()) == []
    with Workspace(tmp_path, config={**MODELS, "trace_verbosity": "detailed"}) as workspace:
        assert workspace.open("herons").mind.name == "rules"
        for each in wrong:
            with pytest.raises(ConfigError):
                workspace.open("b", config=each)
    made = config(embedding={"model": "hashing", "opts": {"pooling": "mean"}})
    with Workspace(tmp_path, config=made) as workspace, pytest.raises(InputError, match="pooling"):
        workspace.open("b")
