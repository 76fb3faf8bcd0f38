"""The command line with banks on PostgreSQL, and a bank copied there and back."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Answer, Ask

from pieria import Bank

UNREACHABLE = "postgresql://maya:hunter2@127.0.0.1:1/memory"


@pytest.fixture
def server_data(empty_database: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("PIERIA_DATA", empty_database)
    monkeypatch.setenv("PIERIA_USER", "maya")
    return empty_database


def test_every_step_of_a_memory_s_life_works_on_a_server(ask: Ask, server_data: str) -> None:
    made = ask("remember", "We chose JWT for all new APIs.", "--bank", "acme", "--tag", "auth").json
    mine = ask("remember", "I like tea", "--scope", "user", "--bank", "acme")
    assert mine.code == 0, mine.err
    assert [hit["memory"]["id"] for hit in ask("recall", "which APIs use JWT", "--bank", "acme").json["hits"]] == [
        made["id"]
    ]
    assert ask("revise", made["id"], "JWT, rotated daily.", "--bank", "acme").code == 0
    assert ask("facts", "add", "Maya", "works_on", "billing", "--bank", "acme").code == 0
    assert ask("upkeep", "sleep", "--bank", "acme").code == 0
    assert ask("stats", "--bank", "acme").json["store"]["engine"] == "postgresql"
    assert ask("worker", "--once").json["banks"] == ["acme", "@me"]
    assert ask("forget", made["id"], "--purge", "--bank", "acme", "-q").code in (0, 1)


def test_where_says_which_bank_of_which_server_and_opens_nothing(ask: Ask, server_data: str) -> None:
    found = ask("where").json
    assert (found["exists"], found["banks"]) == (False, [])
    assert found["data"]["value"].startswith("postgresql://")
    assert found["file"].startswith("default of postgresql://")
    assert ask("where", "--bank", "@me").json["file"].startswith("@maya of ")
    ask("remember", "a word", "--bank", "Notes")
    found = ask("where", "--bank", "nOTES").json
    assert (found["exists"], found["banks"], found["file"].split()[0]) == (True, ["Notes"], "Notes")


def test_doctor_tells_of_server_extension_pool_and_index(ask: Ask, server_data: str) -> None:
    ask("remember", "a word")
    found = ask("doctor").json
    assert found["well"]
    told = {finding["check"]: finding["detail"] for finding in found["findings"]}
    assert "postgresql" in told["engine"] and "pgvector" in told["engine"]
    assert "of 8 connections" in told["engine"] and "takes writes" in told["engine"]
    assert "disk" not in told
    assert found["settings"]["data"]["value"].startswith("postgresql://")


def test_tokens_and_backups_stay_on_this_machine_in_a_folder_for_the_server(
    ask: Ask, server_data: str, person: None, home: Path
) -> None:
    assert ask("token", "create", "laptop").code == 0
    ask("remember", "a word", "--bank", "acme")
    backup = Path(ask("backup", "--bank", "acme").json["path"])
    [beside] = (home / ".pieria" / "servers").iterdir()
    assert {file.name for file in beside.iterdir()} >= {"tokens.json", backup.name}
    assert ask("restore", str(backup), "--bank", "again").json["bank"] == "again"
    assert ask("list", "--bank", "again").json["memories"][0]["text"] == "a word"


def test_banks_on_a_server_are_served_to_nobody_without_a_token(ask: Ask, server_data: str) -> None:
    answer = ask("serve", "--port", "0", "--json")
    assert answer.code == 2
    assert "pieria token create" in answer.err


@pytest.mark.parametrize("command", [["where"], ["list"], ["remember", "a word"], ["doctor"], ["copy"]])
def test_a_server_that_is_not_there_is_told_in_words_with_the_code_to_try_again(command: list[str], ask: Ask) -> None:
    if command == ["copy"]:
        ask("remember", "a word")
        answer = ask("copy", "--to", UNREACHABLE, "--json")
    else:
        answer = ask(*command, "--data", UNREACHABLE, "--json")
    assert answer.code == 4
    error = json.loads(answer.err.splitlines()[-1])["error"]
    assert (error["code"], error["retryable"]) == ("unreachable", True)
    assert "hunter2" not in answer.out + answer.err
    assert "Traceback" not in answer.err


# --- copying


def test_a_bank_goes_there_and_back_with_a_receipt(ask: Ask, bank: Bank, empty_database: str, tmp_path: Path) -> None:
    there = ask("copy", "--to", empty_database, "--as", "acme").json
    assert (there["bank"], there["name"], there["seq"]) == ("default", "acme", 3)
    assert there["rows"]["content"] == 3
    assert set(there["sha256"]) == set(there["rows"])
    assert there["questions"] == 3
    back = ask("copy", "--data", empty_database, "--bank", "acme", "--to", str(tmp_path / "back")).json
    assert back["sha256"] == there["sha256"]
    assert back["to"] == str(tmp_path / "back" / "acme.db")
    listed = ask("list", "--data", str(tmp_path / "back"), "--bank", "acme", "-q").ids
    assert sorted(listed) == ["jwt", "maya", "queue"]


def test_a_bank_that_is_there_is_refused(ask: Ask, bank: Bank, tmp_path: Path) -> None:
    assert ask("copy", "--to", str(tmp_path / "there"), "-q").ids == ["default"]
    answer = ask("copy", "--to", str(tmp_path / "there"))
    assert answer.code == 1
    assert "exists already" in answer.err and "--as" in answer.err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["copy"], 2),
        (["copy", "--to", "mysql://db"], 2),
        (["copy", "--to", "x", "--as", "../up"], 2),
        (["copy", "--to", "x", "--bank", "nowhere"], 1),
    ],
)
def test_what_cannot_be_copied_is_refused(arguments: list[str], code: int, ask: Ask, bank: Bank) -> None:
    answer = ask(*arguments)
    assert answer.code == code
    assert answer.err


def test_people_see_what_was_copied_and_compared(terminal: Callable[..., Answer], bank: Bank, tmp_path: Path) -> None:
    shown: Any = terminal("copy", "--to", str(tmp_path / "there"))
    assert shown.code == 0
    assert "copied default to" in shown.out
    assert "found the same in both" in shown.out
