"""`pieria call`: tools from the command line, with the replies that an agent gets."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Answer, Ask

import pieria
from pieria.toolsets import registry


def test_called_tool_writes_to_the_named_bank(ask: Ask, reopened: Callable[[], Any]) -> None:
    reply = ask("call", "mnemosyne_remember", '{"content": "Maya prefers tea."}').json
    assert reply["status"] == "stored"
    with reopened() as bank:
        assert bank.get(reply["memory_id"]).text == "Maya prefers tea."
    found = ask("call", "mnemosyne_recall", "-", stdin='{"query": "tea"}\n').json
    assert [hit["content"] for hit in found["results"]] == ["Maya prefers tea."]
    assert ask("call", "--bank", "shop", "mnemosyne_remember", '{"content": "tea"}').json["bank"] == "shop"
    assert ask("count", "--bank", "shop").json == {"count": 1}
    assert ask("call", "--bank", "shop", "mnemosyne_get_stats").json["stats"]["banks"] == ["shop"]
    with pieria.open(session="one") as bank:
        bank.remember("Our tea is in the blue tin.", scope="session")
    for session, count in (("one", 2), ("two", 1)):
        assert ask("call", "--session", session, "mnemosyne_recall", '{"query": "tea"}').json["count"] == count
    assert {"default", "shop"} <= set(ask("call", "mnemosyne_get_stats").json["stats"]["banks"])


def test_refused_call_exits_with_one_and_the_reply(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = ask("call", "mnemosyne_recall", '{"qury": 1}')
    assert {one["parameter"] for one in json.loads(answer.out)["error"]["violations"]} == {"qury", "query"}
    assert "error:" not in answer.failed(1)
    for written in ("[]", "5", "null", '"tea"'):
        answer = ask("call", "mnemosyne_recall", written)
        assert (answer.code, json.loads(answer.out)["error"]["parameter"]) == (1, "arguments")
    monkeypatch.setenv("PIERIA_DURABILITY", "soon")
    answer = ask("call", "mnemosyne_get_stats")
    assert (answer.code, json.loads(answer.out)["error"]["code"]) == (1, "config")


def test_tools_are_listed_and_shown_whole(ask: Ask, terminal: Callable[..., Answer]) -> None:
    listed = ask("call", "--list").json["tools"]
    assert [tool["name"] for tool in listed] == ask("call", "--list", "-q").ids == registry().names
    assert all(tool["toolset"] and tool["access"] and tool["description"] and tool["inputSchema"] for tool in listed)
    assert [one["name"] for one in ask("call", "--list", "mnemosyne_recall").json["tools"]] == ["mnemosyne_recall"]
    (tool,) = (tool for _, tool in registry() if tool.name == "mnemosyne_recall")
    for width in (80, 200):
        everything, one = (
            re.sub(r"\x1b\[[0-9;]*m", "", terminal("call", "--list", *names, width=width).out)
            for names in ([], [tool.name])
        )
        assert all(name in everything for name in registry().names)
        assert "…" not in everything + one
        assert all(len(each) <= width for each in (everything + one).splitlines())
        for schema in tool.parameters.values():
            assert set(one.split()) >= set(schema["description"].split())
        shown = " ".join(one.split())
        assert "query*" in shown and "a whole number from 1 to 50" in shown
        assert f"{tool.parameters['top_k']['default']} by default" in shown


def test_reading_tool_makes_no_bank_of_a_misspelt_name(ask: Ask, tmp_path: Path) -> None:
    def refused(*options: str) -> dict[str, str]:
        answer = ask("call", *options, "mnemosyne_recall", '{"query": "tea"}')
        answer.failed(1)
        return dict(json.loads(answer.out)["error"])

    assert refused("--bank", "shpo")["message"] == "bank 'shpo' not found"
    assert ask("banks", "-q").ids == []
    there, nowhere = str(tmp_path), str(tmp_path / "nowhere")
    assert refused("--data", there, "--bank", "x")["hint"].startswith("There are no banks here yet.")
    assert refused("--data", nowhere, "--bank", "x")["hint"].startswith(f"There is no folder {nowhere}.")
    assert f"There is no folder {nowhere}." in ask("count", "--data", nowhere, "--bank", "x").err
