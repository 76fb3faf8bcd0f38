"""The toolbox: schemas, calls, and the texts around a model call."""

from pathlib import Path

import pytest

from pieria.errors import InputError
from pieria.integrations.toolbox import GUIDE, Toolbox


def test_tools_are_listed_and_called_as_models_do(tmp_path: Path) -> None:
    with Toolbox("shop", data=str(tmp_path)) as toolbox:
        functions = [schema["function"] for schema in toolbox.schemas]
        assert tuple(function["name"] for function in functions) == toolbox.names
        assert functions[0]["parameters"]["type"] == "object"
        assert "release branch" not in toolbox.call("recall", {"query": "deploy"})
        toolbox.call("remember", '{"text": "We deploy from the release branch."}')
        assert "release branch" in toolbox.call("recall", {"query": "deploy"})
        assert toolbox.reply("remember", {}).is_error and toolbox.reply("recall", "{").is_error
        assert "an object of the tool's parameters" in toolbox.call("recall", '{"query": ')
        assert "one of remember, recall" in toolbox.call("erase", {})
        with pytest.raises(InputError):
            toolbox.reply("erase", {})


def test_read_only_toolbox_offers_no_tool_that_writes(tmp_path: Path) -> None:
    with Toolbox("shop", data=str(tmp_path), read_only=True) as toolbox:
        assert "recall" in toolbox.names and "remember" not in toolbox.names


def test_texts_surround_a_model_call(tmp_path: Path) -> None:
    with Toolbox("shop", data=str(tmp_path)) as toolbox:
        assert toolbox.system() == GUIDE and toolbox.before("Where do we deploy from?") == ""
        toolbox.after("We deploy from the release branch, never from main.", "Noted.", author="Maya")
        told = toolbox.before("Where do we deploy from?")
        assert "release branch" in told and len(toolbox.system()) > len(GUIDE)
        turns = {memory.author: memory for memory in toolbox.bank.list(kinds="turn")}
        assert set(turns) == {"Maya", "assistant"}


def test_nothing_surrounds_what_the_bank_does_not_know(tmp_path: Path) -> None:
    with Toolbox("home", data=str(tmp_path)) as toolbox:
        for text in ("I live in Oslo.", "The alarm code is 4471.", "Maya has piano lessons on Mondays."):
            toolbox.bank.remember(text)
        assert [toolbox.before(said) for said in ("What is the capital of Peru?", "thanks!", "", " ")] == [""] * 4
        assert "4471" in toolbox.before("What is the code of the alarm?")


def test_blank_messages_and_replies_are_not_kept(tmp_path: Path) -> None:
    with Toolbox("home", data=str(tmp_path)) as toolbox:
        toolbox.after("Turn on the light.", None)
        toolbox.after(" ", "It is on.")
        toolbox.after("", "")
        assert {memory.text for memory in toolbox.bank.list()} == {"Turn on the light.", "It is on."}


def test_only_a_persons_words_become_rules(tmp_path: Path) -> None:
    with Toolbox("shop", data=str(tmp_path)) as toolbox:
        toolbox.after("Never deploy on Fridays.", "Understood.")
        toolbox.after("Never deploy on Mondays.", "Understood.", by_person=True)
        states = {rule.words: rule.state for rule in toolbox.bank.rules.list().rules}
        assert states["Never deploy on Fridays."] == "waiting" != states["Never deploy on Mondays."]
