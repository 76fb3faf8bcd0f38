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
    assert {"default", "shop"} <= set(ask("call", "mnemosyne_get_stats").json["stats"]["banks"])


def test_refused_call_exits_with_one_and_the_reply(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = ask("call", "mnemosyne_recall", '{"qury": 1}')
    assert answer.code == 1
    assert {one["parameter"] for one in json.loads(answer.out)["error"]["violations"]} == {"qury", "query"}
    assert "error:" not in answer.err
    for written in ("[]", "5", "null", '"tea"'):
        answer = ask("call", "mnemosyne_recall", written)
        assert (answer.code, json.loads(answer.out)["error"]["parameter"]) == (1, "arguments")
    misspelt = ask("call", "mnemosyne_remembr", "{}")
    assert (misspelt.code, misspelt.out) == (1, "")
    assert "Did you mean mnemosyne_remember?" in misspelt.err
    monkeypatch.setenv("PIERIA_DURABILITY", "soon")
    answer = ask("call", "mnemosyne_get_stats")
    assert (answer.code, json.loads(answer.out)["error"]["code"]) == (1, "config")


def test_call_without_json_or_tool_is_wrong_usage(ask: Ask) -> None:
    for written in ("{", "tea", "{'query': 'tea'}", ""):
        answer = ask("call", "mnemosyne_recall", written)
        assert (answer.code, answer.out) == (2, "")
        assert "ARGUMENTS: expected a JSON object" in answer.err
    answer = ask("call")
    assert (answer.code, "pieria call --list" in answer.err) == (2, True)


def test_tools_are_listed_and_shown_whole(ask: Ask, terminal: Callable[..., Answer]) -> None:
    listed = ask("call", "--list").json["tools"]
    assert [tool["name"] for tool in listed] == registry().names
    assert all(tool["toolset"] and tool["access"] and tool["description"] and tool["inputSchema"] for tool in listed)
    assert ask("call", "--list", "-q").ids == registry().names
    (one,) = ask("call", "--list", "mnemosyne_recall").json["tools"]
    assert one["name"] == "mnemosyne_recall"
    (tool,) = (tool for _, tool in registry() if tool.name == "mnemosyne_recall")
    for width in (80, 200):
        everything, one = (
            re.sub(r"\x1b\[[0-9;]*m", "", terminal("call", "--list", *names, width=width).out)
            for names in ([], [tool.name])
        )
        assert all(name in everything for name in registry().names)
        assert "query*" in one and "a whole number from 1 to 50" in " ".join(one.split())
        assert "…" not in everything + one
        assert all(len(each) <= width for each in (everything + one).splitlines())
        for schema in tool.parameters.values():
            assert set(one.split()) >= set(schema["description"].split())
        assert f"{tool.parameters['top_k']['default']} by default" in " ".join(one.split())


def test_reading_tool_makes_no_bank_of_a_misspelt_name(ask: Ask, tmp_path: Path) -> None:
    answer = ask("call", "--bank", "shpo", "mnemosyne_recall", '{"query": "tea"}')
    assert answer.code == 1
    reply = json.loads(answer.out)
    assert (reply["status"], reply["error"]["message"]) == ("error", "bank 'shpo' not found")
    assert "shpo" not in ask("banks", "-q").ids
    there, not_there = tmp_path, tmp_path / "nowhere"
    hints = [
        json.loads(ask("call", "--data", str(data), "--bank", "x", "mnemosyne_get_stats").out)["error"]["hint"]
        for data in (there, not_there)
    ]
    assert hints[0].startswith("There are no banks here yet.")
    assert hints[1].startswith(f"There is no folder {not_there}.")
    assert f"There is no folder {not_there}." in ask("count", "--data", str(not_there), "--bank", "x").err


def test_call_passes_the_session_on(ask: Ask, home: Path) -> None:
    with pieria.open(session="one") as bank:
        bank.remember("Our tea is in the blue tin.", scope="session")
    assert ask("call", "--session", "one", "mnemosyne_recall", '{"query": "tea"}').json["count"] == 1
    assert ask("call", "--session", "two", "mnemosyne_recall", '{"query": "tea"}').json["count"] == 0
