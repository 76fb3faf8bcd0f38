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


def test_memory_lives_its_life_on_a_server(ask: Ask, server_data: str) -> None:
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


def test_where_and_doctor_describe_the_server(ask: Ask, server_data: str) -> None:
    found = ask("where").json
    assert (found["exists"], found["banks"]) == (False, [])
    assert found["data"]["value"].startswith("postgresql://")
    assert found["file"].startswith("default of postgresql://")
    assert ask("where", "--bank", "@me").json["file"].startswith("@maya of ")
    ask("remember", "a word", "--bank", "Notes")
    found = ask("where", "--bank", "nOTES").json
    assert (found["exists"], found["banks"], found["file"].split()[0]) == (True, ["Notes"], "Notes")
    ask("remember", "a word")
    found = ask("doctor").json
    assert found["well"]
    told = {finding["check"]: finding["detail"] for finding in found["findings"]}
    assert "postgresql" in told["engine"] and "pgvector" in told["engine"]
    assert "of 8 connections" in told["engine"] and "takes writes" in told["engine"]
    assert "disk" not in told
    assert found["settings"]["data"]["value"].startswith("postgresql://")


def test_tokens_are_needed_and_stay_on_this_machine(ask: Ask, server_data: str, person: None, home: Path) -> None:
    answer = ask("serve", "--port", "0", "--json")
    assert answer.code == 2
    assert "pieria token create" in answer.err
    assert ask("token", "create", "laptop").code == 0
    ask("remember", "a word", "--bank", "acme")
    backup = Path(ask("backup", "--bank", "acme").json["path"])
    [beside] = (home / ".pieria" / "servers").iterdir()
    assert {file.name for file in beside.iterdir()} >= {"tokens.json", backup.name}
    assert ask("restore", str(backup), "--bank", "again").json["bank"] == "again"
    assert ask("list", "--bank", "again").json["memories"][0]["text"] == "a word"


def test_unreachable_server_exits_with_four(ask: Ask) -> None:
    ask("remember", "a word")
    to = ("--data", UNREACHABLE)
    for command in (["where", *to], ["list", *to], ["remember", "x", *to], ["doctor", *to], ["copy", "--to", to[1]]):
        answer = ask(*command, "--json")
        assert answer.code == 4, command
        error = json.loads(answer.err.splitlines()[-1])["error"]
        assert (error["code"], error["retryable"]) == ("unreachable", True)
        assert "hunter2" not in answer.out + answer.err
        assert "Traceback" not in answer.err


# --- copying


def test_bank_is_copied_there_and_back(ask: Ask, bank: Bank, empty_database: str, tmp_path: Path) -> None:
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


def test_impossible_copy_is_refused(ask: Ask, bank: Bank, tmp_path: Path) -> None:
    assert ask("copy", "--to", str(tmp_path / "there"), "-q").ids == ["default"]
    for arguments, code, said in (
        (("--to", str(tmp_path / "there")), 1, "exists already"),
        ((), 2, ""),
        (("--to", "mysql://db"), 2, ""),
        (("--to", "x", "--as", "../up"), 2, "--as"),
        (("--to", "x", "--bank", "nowhere"), 1, "nowhere"),
    ):
        answer = ask("copy", *arguments)
        assert answer.code == code, arguments
        assert answer.err and said in answer.err


def test_people_see_what_was_copied(terminal: Callable[..., Answer], bank: Bank, tmp_path: Path) -> None:
    shown: Any = terminal("copy", "--to", str(tmp_path / "there"))
    assert shown.code == 0
    assert "copied default to" in shown.out
    assert "found the same in both" in shown.out
