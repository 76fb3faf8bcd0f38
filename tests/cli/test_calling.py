"""`pieria call`: tools from the command line, with the replies that an agent gets."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Answer, Ask, Run

import pieria
from pieria.toolsets import registry


def test_what_a_tool_is_told_is_in_the_bank(ask: Ask, reopened: Callable[[], Any]) -> None:
    reply = ask("call", "mnemosyne_remember", '{"content": "Maya prefers tea."}').json
    assert reply["status"] == "stored"
    with reopened() as bank:
        assert bank.get(reply["memory_id"]).text == "Maya prefers tea."


def test_arguments_may_come_by_a_pipe(ask: Ask) -> None:
    ask("call", "mnemosyne_remember", "-", stdin='{"content": "Maya prefers tea."}\n')
    found = ask("call", "mnemosyne_recall", "-", stdin='{"query": "tea"}').json
    assert [hit["content"] for hit in found["results"]] == ["Maya prefers tea."]


def test_the_bank_is_the_one_that_is_named(ask: Ask) -> None:
    assert ask("call", "--bank", "shop", "mnemosyne_remember", '{"content": "tea"}').json["bank"] == "shop"
    assert ask("count", "--bank", "shop").json == {"count": 1}


def test_an_error_of_the_tool_is_printed_as_its_reply_with_exit_code_1(ask: Ask) -> None:
    answer = ask("call", "mnemosyne_recall", '{"qury": 1}')
    assert answer.code == 1
    assert {one["parameter"] for one in json.loads(answer.out)["error"]["violations"]} == {"qury", "query"}
    assert "error:" not in answer.err


def test_a_tool_that_is_not_there_is_told_with_the_nearest(ask: Ask) -> None:
    answer = ask("call", "mnemosyne_remembr", "{}")
    assert (answer.code, answer.out) == (1, "")
    assert "Did you mean mnemosyne_remember?" in answer.err


@pytest.mark.parametrize("written", ["{", "tea", "{'query': 'tea'}", ""])
def test_what_is_no_json_is_refused_before_the_tool_is_called(ask: Ask, written: str) -> None:
    answer = ask("call", "mnemosyne_recall", written)
    assert (answer.code, answer.out) == (2, "")
    assert "ARGUMENTS: expected a JSON object" in answer.err


@pytest.mark.parametrize("written", ["[]", "5", "null", '"tea"'])
def test_json_that_is_no_object_is_the_tools_to_refuse(ask: Ask, written: str) -> None:
    answer = ask("call", "mnemosyne_recall", written)
    assert answer.code == 1
    assert json.loads(answer.out)["error"]["parameter"] == "arguments"


def test_without_a_tool_it_says_where_they_are_shown(ask: Ask) -> None:
    answer = ask("call")
    assert answer.code == 2
    assert "pieria call --list" in answer.err


def test_the_tools_are_listed_with_all_that_a_caller_must_know(ask: Ask) -> None:
    listed = ask("call", "--list").json["tools"]
    assert [tool["name"] for tool in listed] == registry().names
    assert all(tool["toolset"] and tool["access"] and tool["description"] and tool["inputSchema"] for tool in listed)
    assert ask("call", "--list", "-q").ids == registry().names
    (one,) = ask("call", "--list", "mnemosyne_recall").json["tools"]
    assert one["name"] == "mnemosyne_recall"


def test_people_see_a_table_of_the_tools_and_of_what_one_takes(terminal: Callable[..., Answer]) -> None:
    everything = terminal("call", "--list").out
    assert all(name in everything for name in registry().names)
    one = terminal("call", "--list", "mnemosyne_recall").out
    assert "query*" in one
    assert "a whole number from 1 to 50" in one


@pytest.mark.parametrize("width", [80, 200])
def test_nothing_of_a_tool_is_cut_on_any_terminal(terminal: Callable[..., Answer], width: int) -> None:
    (tool,) = (tool for _, tool in registry() if tool.name == "mnemosyne_recall")
    for arguments in (["call", "--list"], ["call", "--list", tool.name]):
        told = terminal(*arguments, width=width).out
        assert "…" not in told
        assert all(len(re.sub(r"\x1b\[[0-9;]*m", "", each)) <= width for each in told.splitlines())
    words = set(re.sub(r"\x1b\[[0-9;]*m", "", told).split())
    for schema in tool.parameters.values():
        assert words >= set(schema["description"].split())
    assert f"{tool.parameters['top_k']['default']} by default" in " ".join(told.split())


def test_a_reading_tool_makes_no_bank_under_a_name_that_may_be_misspelt(ask: Ask) -> None:
    answer = ask("call", "--bank", "shpo", "mnemosyne_recall", '{"query": "tea"}')
    assert answer.code == 1
    reply = json.loads(answer.out)
    assert reply["status"] == "error"
    assert reply["error"]["message"] == "bank 'shpo' not found"
    assert "shpo" not in ask("banks", "-q").ids


def test_settings_that_are_wrong_are_told_in_the_reply(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIERIA_DURABILITY", "soon")
    answer = ask("call", "mnemosyne_get_stats")
    assert answer.code == 1
    assert json.loads(answer.out)["error"]["code"] == "config"


def test_a_data_folder_that_is_not_there_is_told_as_that(ask: Ask, tmp_path: Path) -> None:
    there, not_there = tmp_path, tmp_path / "nowhere"
    hints = [
        json.loads(ask("call", "--data", str(data), "--bank", "x", "mnemosyne_get_stats").out)["error"]["hint"]
        for data in (there, not_there)
    ]
    assert hints[0].startswith("There are no banks here yet.")
    assert hints[1].startswith(f"There is no folder {not_there}.")
    assert f"There is no folder {not_there}." in ask("count", "--data", str(not_there), "--bank", "x").err


def test_statistics_are_of_the_bank_that_was_named(ask: Ask) -> None:
    for bank in ("big", "small"):
        ask("call", "--bank", bank, "mnemosyne_remember", '{"content": "One."}')
    assert ask("call", "--bank", "big", "mnemosyne_get_stats").json["stats"]["banks"] == ["big"]
    assert {"big", "small"} <= set(ask("call", "mnemosyne_get_stats").json["stats"]["banks"])


def test_the_shell_completes_tools_and_toolsets(run: Run) -> None:
    def completed(line: str) -> list[str]:
        count = len(line.split()) - (0 if line.endswith(" ") else 1)
        env = {"_PIERIA_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(count)}
        return [one.rpartition(",")[2] for one in run(env=env).stdout.decode().split()]

    assert completed("pieria call mnemosyne_rem") == ["mnemosyne_remember"]
    assert "mnemosyne" in completed("pieria mcp --toolset mn")
    assert "all" in completed("pieria mcp --toolset mnemosyne,")


def test_a_session_is_passed_on(ask: Ask, home: Path) -> None:
    with pieria.open(session="one") as bank:
        bank.remember("Our tea is in the blue tin.", scope="session")
    assert ask("call", "--session", "one", "mnemosyne_recall", '{"query": "tea"}').json["count"] == 1
    assert ask("call", "--session", "two", "mnemosyne_recall", '{"query": "tea"}').json["count"] == 0
