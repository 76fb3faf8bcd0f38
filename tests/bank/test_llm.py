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
    return "Herons."


class OwnLLM:
    def __init__(self) -> None:
        self.told: list[Any] = []

    def chat(self, messages: Any, opts: Any = None) -> LLMResponse:
        self.told.append(opts)
        return LLMResponse("Herons.", "own")

    def chat_structured(self, messages: Any, schema: Any, opts: Any = None) -> LLMResponse:
        return LLMResponse({"colour": "red"}, "own")


def summed(bank: Bank) -> None:
    bank.mind.summarize([Said("Herons nest.")])


@pytest.mark.parametrize(("llm", "named"), [(said_by, f"function:{__name__}.said_by"), (OwnLLM(), "custom:OwnLLM")])
def test_own_model_is_handed_down_and_reported(llm: Any, named: str, tmp_path: Path) -> None:
    with Workspace(tmp_path, {"llm": "server:m"}, llm=llm) as workspace, workspace.open("b") as bank:
        assert bank.core.llm is not None
        assert bank.core.llm.chat([{"role": "user", "content": "Who nests?"}]).content == "Herons."
        assert findings(bank, "llm") == [named]
        assert bank.doctor().settings["llm"] == (named, "argument")
        json.dumps(bank.doctor().as_dict())


def test_named_model_comes_before_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A key alone chooses no model.
    monkeypatch.setenv("OPENAI_API_KEY", "made-up")
    with pieria.open("b", data=tmp_path) as bank:
        assert bank.core.llm is None
        told = bank.doctor().settings
    assert (told["llm"], told["llm_key"]) == (("none", "default"), (None, "default"))
    monkeypatch.setenv("PIERIA_LLM", "ollama:one")
    monkeypatch.setenv("PIERIA_LLM_URL", "http://maya:hunter2@localhost:9/v1")
    with Workspace(tmp_path, llm="ollama:two") as workspace, workspace.open("b") as bank:
        assert findings(bank, "llm") == ["ollama:two at localhost:9, without a key"]
        assert bank.doctor().settings["llm"] == ("ollama:two", "argument")
        bank.remember("a word of the user's", scope="user")
        user = bank.core.user_core(False)
        assert user is not None
        assert Bank(user).doctor().settings["llm"] == ("ollama:two", "argument")
        assert findings(workspace.open("@me"), "llm") == findings(bank, "llm")
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
        ("x", "overrides"), ([], "overrides"), ({"summarize": [1]}, "overrides.summarize"),
        ({"summarize": {"opts": "x"}}, "overrides.summarize.opts"),
        ({"summarize": {"opts": {"model": 5}}}, "overrides.summarize.opts.model"),
        ({"summarize": {"llm": 3}}, "overrides.summarize.llm"), ({"summarize": {"lm": "x"}}, "overrides.summarize"),
    ]  # fmt: skip
    with Workspace(tmp_path, llm=OwnLLM()) as workspace:
        for overrides, parameter in wrong:
            with pytest.raises(InputError) as caught:
                workspace.open("b", overrides=overrides)
            assert caught.value.parameter == parameter
        with pytest.raises(InputError, match="Did you mean summarize"):
            workspace.open("b", overrides={"sumarize": {}})
        with pytest.raises(InputError, match="a mapping with"):
            workspace.open("b", overrides={"summarize": "ollama:two"})  # type: ignore[dict-item]
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
    assert [*own.told, *for_step.told] == [{}, {}]
    with pieria.open("b", data=tmp_path, settings={"llm_steps": "keeping=other"}) as bank:
        [finding] = [finding for finding in bank.doctor().findings if finding.check == "llm"]
    assert "llm_steps" in str(finding.remedy)
