"""`pieria` alone, the words that people try, the page in a browser, completion, and the log of hooks."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Ask, Run, Started
from tests.doors.http.conftest import PATIENCE, started
from tests.trust import trust_folder, trusted_project

import pieria
from pieria import glance
from pieria.capture.hook import note
from pieria.doors.cli import overview
from pieria.doors.cli.root import ALIASES, COMMANDS
from pieria.settings import resolve

OPTIONS: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "nothing": ({}, {}),
    "options": ({"data": "there", "bank": "mine"}, {}),
    "variables": ({}, {"PIERIA_DATA": "~/there", "PIERIA_BANK": "mine"}),
    "options before variables": ({"data": "there"}, {"PIERIA_DATA": "elsewhere"}),
    "empty variables": ({}, {"PIERIA_DATA": "", "PIERIA_BANK": ""}),
}
HOLDS = {"nothing": [], "a project": [".git/HEAD"], "settings": [".pieria.toml", "there/pieria.toml"]}


@pytest.mark.parametrize("held", HOLDS)
def test_overview_means_the_bank_that_the_settings_mean(held: str, home: Path) -> None:
    folder = home / "project"
    for name in HOLDS[held]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("count_uses = false\n")
    folder.mkdir(exist_ok=True)
    trust_folder(folder, "there/pieria.toml")
    for options, variables in OPTIONS.values():
        meant = resolve(options, environ=variables, cwd=folder).settings
        spot = glance.spot(options.get("data"), options.get("bank"), variables, folder)
        assert spot is not None and (spot.data, spot.bank) == (meant.data, meant.bank)


def test_only_the_settings_know_what_files_decide(home: Path) -> None:
    folder = Path.cwd()
    unsure = [
        ({"MNEMEX_STORAGE_PATH": "there"}, None),
        ({"PIERIA_DATA": "postgresql://there/pieria"}, None),
        ({"PIERIA_BANK": "no/bank"}, None),
        ({}, 'bank = "mine"\n'),
        ({}, "bank = \n"),
    ]
    for variables, settings in unsure:
        if settings is not None:
            trusted_project(folder, settings)
        assert glance.spot(None, None, variables, folder) is None


def test_bare_command_says_what_is_there_and_what_next(ask: Ask, home: Path) -> None:
    new = ask().json
    assert (new["bank"], new["next"]) == ({"name": "default", "exists": False, "memories": None}, overview.NEW)
    assert not (home / "data").exists()
    trusted_project(Path.cwd(), 'bank = "mine"\n')
    with pieria.open("mine") as bank:
        empty = ask().json
        bank.remember("JWT")
        bank.remember("Ben works on search.")
        bank.facts.add("Maya", "works_on", "billing")
        bank.remove(bank.remember("a slip").id)
        while_open = ask().json
    for folder in (".codex", ".config/opencode", ".claude"):
        (home / folder).mkdir(parents=True)
    ask("hooks", "install", "--host", "codex", "--host", "opencode")
    (home / ".claude" / "settings.json").write_text('{"projects": {"/somewhere/pieria": {}}}')
    with pieria.open("mine") as bank:
        expected = bank.stats().counts["memories"]
    used = ask().json
    assert (empty["bank"]["memories"], empty["next"]) == (0, overview.NEW)
    assert while_open["bank"] == used["bank"] == {"name": "mine", "exists": True, "memories": expected}
    assert (used["agents"], used["server"], used["next"]) == (["Codex", "OpenCode"], None, overview.USED)
    assert ask("-q").ids == ["mine"]
    lines = ask("--no-json").out.splitlines()
    assert len(lines) == 7 and f"mine, {expected} memories" in lines[2]
    (home / "data" / "mine.db").write_bytes(b"sealed" * 100)
    assert ask().json["bank"]["memories"] is None


def test_words_that_people_try_mean_commands(ask: Ask) -> None:
    ask("add", "We chose JWT.")
    assert [hit["memory"]["text"] for hit in ask("search", "JWT").json["hits"]] == ["We chose JWT."]
    assert ask("delete", ask("search", "-q", "JWT").ids[0]).code == 0
    assert ask("list").json["memories"] == []
    assert "Did you mean search?" in ask("serch").failed(2)
    for alias, (command, *_) in ALIASES.items():
        assert alias not in COMMANDS
        assert f"`pieria {alias}` is" in ask(command, "--help").words


def test_completion_prints_the_script_of_each_shell(ask: Ask) -> None:
    scripts = {shell: ask("completion", shell).out for shell in ("bash", "zsh", "fish")}
    assert all("_PIERIA_COMPLETE" in script for script in scripts.values())
    assert ask("completion", "bash", "--json").json == {"shell": "bash", "script": scripts["bash"][:-1]}
    assert "bash" in ask("completion", "tcsh").failed(2)


def test_logs_show_what_hooks_noted(ask: Ask, home: Path) -> None:
    assert ask("logs").json["lines"] == []
    spool = home / "data" / "spool"
    spool.mkdir(parents=True)
    for number in range(3):
        note(str(spool), f"claude-code: problem {number}")
    shown = ask("logs", "-n", "2").json
    assert shown["file"] == str(spool / "hook.log")
    assert [one["text"] for one in shown["lines"]] == ["claude-code: problem 1", "claude-code: problem 2"]
    assert "problem 2" in ask("logs", "--no-json").out.splitlines()[-1]


@pytest.mark.slow
def test_logs_follow_a_log_that_is_emptied(started: Started, home: Path) -> None:
    spool = home / "data" / "spool"
    spool.mkdir(parents=True)
    for number in range(2):
        note(str(spool), f"before {number}")
    with started("logs", "--follow", "-n", "1") as process:

        def read() -> Any:
            return json.loads(process.stdout.readline())["text"]

        assert read() == "before 1"
        note(str(spool), "after")
        assert read() == "after"
        (spool / "hook.log").write_bytes(b"")
        note(str(spool), "anew")
        assert read() == "anew"


@pytest.mark.slow
def test_ui_opens_the_page_of_the_running_server(
    run: Run, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    browser, opened = home / "browser", home / "opened"
    os.mkfifo(opened)
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}\n')
    browser.chmod(stat.S_IRWXU)
    monkeypatch.setenv("BROWSER", str(browser))
    environment["BROWSER"] = str(browser)
    with started("--open") as server:
        assert opened.read_text().strip() == server.url
        assert json.loads(run("--json").stdout)["server"] == server.url
        browser.write_text(f'#!/bin/sh\necho "$1" > {home / "again"}\n')
        again = run("ui")
        assert json.loads(again.stdout) == {"url": server.url, "data": str(home / "data"), "running": True}
        assert (home / "again").read_text().strip() == server.url
        server.process.terminate()
        assert server.process.wait(PATIENCE) == 0
    assert json.loads(run("--json").stdout)["server"] is None
