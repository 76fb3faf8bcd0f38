"""The command line with banks on PostgreSQL, and a bank copied there and back."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Answer, Ask

from pieria import Bank

UNREACHABLE = "postgresql://maya:hunter2@127.0.0.1:1/memory"


@pytest.fixture
def server_data(empty_database: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("PIERIA_DATA", empty_database)
    monkeypatch.setenv("PIERIA_USER", "maya")
    return empty_database


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
    assert ask("remember", "I like tea", "--scope", "user").code == 0
    assert ask("worker", "--once").json["banks"] == ["Notes", "default", "@me"]
    assert ask("stats").json["store"]["engine"] == "postgresql"


def test_tokens_and_backups_stay_on_this_machine(ask: Ask, server_data: str, person: None, home: Path) -> None:
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
        assert (answer.code, answer.error["code"], answer.error["retryable"]) == (4, "unreachable", True), command
        assert "hunter2" not in answer.out + answer.err and "Traceback" not in answer.err


def test_bank_is_copied_there_and_back(
    ask: Ask, terminal: Callable[..., Answer], bank: Bank, empty_database: str, tmp_path: Path
) -> None:
    there = ask("copy", "--to", empty_database, "--as", "acme").json
    assert (there["bank"], there["name"], there["seq"], there["questions"]) == ("default", "acme", 3, 3)
    assert there["rows"]["content"] == 3 and set(there["sha256"]) == set(there["rows"])
    back = ask("copy", "--data", empty_database, "--bank", "acme", "--to", str(tmp_path / "back")).json
    assert (back["sha256"], back["to"]) == (there["sha256"], str(tmp_path / "back" / "acme.db"))
    listed = ask("list", "--data", str(tmp_path / "back"), "--bank", "acme", "-q").ids
    assert sorted(listed) == ["jwt", "maya", "queue"]
    assert "exists already" in ask("copy", "--to", str(tmp_path / "back"), "--as", "acme").failed(1)
    shown = terminal("copy", "--to", str(tmp_path / "there")).out
    assert "copied default to" in shown and "found the same in both" in shown
