"""The language model of a workspace: the model its banks get, and the reports about it."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.models.llm_server import Request, llm_server

import pieria
from pieria import Bank, LLMResponse, Workspace
from pieria.errors import InputError
from pieria.models.mind import Said


def findings(bank: Bank, check: str) -> list[str]:
    return [finding.detail for finding in bank.doctor().findings if finding.check == check]


def asked(folder: Path, **settings: Any) -> Request:
    """Return the request that a bank's language model gets."""
    with llm_server("Red.") as serving:
        told = {"llm": "server:m", "llm_url": serving.address, **settings}
        told["llm_url"] = told["llm_url"].format(serving.address)
        with pieria.open("b", data=folder, settings=told) as bank:
            assert bank.core.llm is not None
            bank.core.llm.chat([{"role": "user", "content": "What colour?"}])
            assert str(settings.get("llm_key")) not in json.dumps(bank.doctor().as_dict())
    return serving.requests[0]


def said_by(messages: list[dict[str, str]], schema: dict[str, Any] | None) -> str:
    return "Red."


class OwnLLM:
    def chat(self, messages: Any, opts: Any = None) -> LLMResponse:
        return LLMResponse("Red.", "own")

    def chat_structured(self, messages: Any, schema: Any, opts: Any = None) -> LLMResponse:
        return LLMResponse({"colour": "red"}, "own")


@pytest.mark.parametrize(
    ("llm", "named"), [(said_by, f"function:{__name__}.said_by"), (OwnLLM(), "custom:OwnLLM")], ids=["function", "own"]
)
def test_a_language_model_is_handed_down_and_told_of(llm: Any, named: str, tmp_path: Path) -> None:
    settings = {"llm": "server:m"}
    with Workspace(tmp_path, settings, llm=llm) as workspace, workspace.open("b") as bank:
        assert bank.core.llm is not None
        assert bank.core.llm.chat([{"role": "user", "content": "What colour?"}]).content == "Red."
        assert findings(bank, "llm") == [named]
        assert bank.doctor().settings["llm"] == (named, "argument")
        json.dumps(bank.doctor().as_dict())


def test_a_name_given_to_the_workspace_counts_before_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIERIA_LLM", "ollama:one")
    monkeypatch.setenv("PIERIA_LLM_URL", "http://maya:hunter2@localhost:9/v1")
    with Workspace(tmp_path, llm="ollama:two") as workspace, workspace.open("b") as bank:
        assert findings(bank, "llm") == ["ollama:two at localhost:9, without a key"]
        assert bank.doctor().settings["llm"] == ("ollama:two", "argument")
    with Workspace(tmp_path) as workspace, workspace.open("b") as bank, workspace.open("c") as other:
        assert findings(bank, "llm") == ["ollama:one at localhost:9, without a key"]
        assert bank.core.llm is other.core.llm
    with Workspace(tmp_path, llm="none") as workspace, workspace.open("b") as bank:
        assert findings(bank, "llm") == ["none: Pieria calls no language model"]


def test_without_a_word_no_language_model_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "made-up")
    with pieria.open("b", data=tmp_path) as bank:
        assert bank.core.llm is None
        told = bank.doctor().settings
    assert (told["llm"], told["llm_key"]) == (("none", "default"), (None, "default"))


@pytest.mark.parametrize(
    ("llm", "parameter"), [("openai", "llm"), (3, "llm"), (OwnLLM, "llm"), ("server:m", "llm_url"), ("", "llm")]
)
def test_a_language_model_that_cannot_be_asked_is_refused(llm: Any, parameter: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        Workspace(tmp_path / "data", llm=llm).open("b")
    assert caught.value.parameter == parameter
    assert list(tmp_path.iterdir()) == []


class Counted(OwnLLM):
    def __init__(self) -> None:
        self.told: list[Any] = []

    def chat(self, messages: Any, opts: Any = None) -> LLMResponse:
        self.told.append(opts)
        return LLMResponse("Herons.", "counted")


def test_a_bank_a_session_and_a_step_may_each_have_their_own(tmp_path: Path) -> None:
    shared, own, for_step = Counted(), Counted(), Counted()
    with Workspace(tmp_path, llm=shared) as workspace:
        workspace.open("a").mind.summarize([Said("Herons nest.")])
        session = workspace.open("a", session="s", llm=own)
        session.mind.summarize([Said("Herons nest.")])
        overrides: Any = {"keeping": {"llm": for_step, "opts": {"depth": 3}}}
        bank = workspace.open("b", overrides=overrides)
        bank.mind.summarize([Said("Herons nest.")])
        assert bank.mind.state("g", "o") == "Herons."
        assert findings(session, "llm") == ["custom:Counted"]
        named = workspace.open("b", llm="ollama:two")
        assert findings(named, "llm") == ["ollama:two at localhost:11434, without a key"]
        assert {line["step"] for line in bank.stats().models["today"]} == {"summarize", "get_state"}
    assert (len(shared.told), len(own.told)) == (2, 1)
    assert [opts["depth"] for opts in for_step.told] == [3]


def test_what_overrides_cannot_say_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    with Workspace(tmp_path, llm=OwnLLM()) as workspace, pytest.raises(InputError, match="Did you mean summarize"):
        workspace.open("b", overrides={"sumarize": {}})
    with Workspace(tmp_path, llm=OwnLLM()) as workspace, pytest.raises(InputError, match="a mapping with"):
        workspace.open("b", overrides={"summarize": "ollama:two"})  # type: ignore[dict-item]
    with Workspace(tmp_path) as workspace, pytest.raises(InputError, match="no language model is set"):
        workspace.open("b", overrides={"summarize": {}})


@pytest.mark.parametrize(
    ("overrides", "parameter"),
    [
        ("x", "overrides"),
        ([], "overrides"),
        ({"summarize": [1]}, "overrides.summarize"),
        ({"summarize": {"opts": "x"}}, "overrides.summarize.opts"),
        ({"summarize": {"opts": {"model": 5}}}, "overrides.summarize.opts.model"),
        ({"summarize": {"llm": 3}}, "overrides.summarize.llm"),
        ({"summarize": {"lm": "ollama:two"}}, "overrides.summarize"),
    ],
)
def test_an_override_that_cannot_be_right_is_named(overrides: Any, parameter: str, tmp_path: Path) -> None:
    with Workspace(tmp_path, llm=OwnLLM()) as workspace, pytest.raises(InputError) as caught:
        workspace.open("b", overrides=overrides)
    assert caught.value.parameter == parameter


def test_steps_of_the_settings_are_for_the_model_of_the_settings(tmp_path: Path) -> None:
    own, for_step = Counted(), Counted()
    with llm_server() as serving:
        told = {"llm": "server:m", "llm_url": serving.address, "llm_steps": "keeping=other"}
        with Workspace(tmp_path, told) as workspace:
            workspace.open("b", llm=own).mind.summarize([Said("Herons nest.")])
            overrides: Any = {"summarize": {"llm": for_step}}
            workspace.open("b", overrides=overrides).mind.summarize([Said("Herons nest.")])
            workspace.open("b").mind.summarize([Said("Herons nest.")])
        assert [request.body["model"] for request in serving.requests] == ["other"]
    assert [*own.told, *for_step.told] == [{}, {}]


def test_steps_without_a_model_are_pointed_out(tmp_path: Path) -> None:
    with pieria.open("b", data=tmp_path, settings={"llm_steps": "keeping=other"}) as bank:
        [finding] = [finding for finding in bank.doctor().findings if finding.check == "llm"]
    assert finding.remedy is not None
    assert "llm_steps" in finding.remedy


def test_a_user_s_own_bank_tells_the_same_origin_of_its_model(tmp_path: Path) -> None:
    settings = {"llm": "ollama:one"}
    with Workspace(tmp_path, settings) as workspace, workspace.open("b") as bank:
        bank.remember("a word of the user's", scope="user")
        user = bank.core.user_core(False)
        assert user is not None
        assert Bank(user).doctor().settings["llm"] == bank.doctor().settings["llm"] == ("ollama:one", "argument")
        own = workspace.open("@me")
        assert findings(own, "llm") == findings(bank, "llm")


@pytest.mark.parametrize(
    ("line", "hint"),
    [("sumarize=a", "Did you mean summarize?"), ("summarize", None), ("summarize=a,summarize=b", None)],
)
def test_a_line_of_steps_that_cannot_be_right_is_refused(line: str, hint: str | None, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        Workspace(tmp_path, {"llm_steps": line})
    assert (caught.value.parameter, caught.value.hint) == ("llm_steps", hint)
