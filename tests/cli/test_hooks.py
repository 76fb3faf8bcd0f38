"""`pieria hooks` and `pieria capture`; every command that opens a bank sees the agent's latest events."""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.capture.payloads import prompt, ran, stop
from tests.cli.conftest import Ask, Started
from tests.learning.session_events import BEGIN, Session
from tests.waiting import soon

import pieria

SETTINGS = '{\n  // mine\n  "model": "opus",\n}\n'


@pytest.fixture
def claude(home: Path) -> Path:
    settings = home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(SETTINGS)
    return settings


@pytest.fixture
def spool(home: Path) -> Path:
    return home / "data" / "spool"


def test_hooks_are_installed_with_or_without_context(ask: Ask, claude: Path) -> None:
    def shown(*line: str) -> str:
        return ask("hooks", *line, "--no-json").words

    [would] = ask("hooks", "install", "--dry-run").json
    assert (would["host"], would["was"], would["dry_run"]) == ("claude-code", "missing", True)
    assert claude.read_text() == SETTINGS
    [did] = ask("hooks", "install").json
    assert (did["file"], did["was"], did["next"]) == (str(claude), "missing", None)
    found = {one["host"]: one["state"] for one in ask("hooks", "status").json["hosts"]}
    assert found == {"claude-code": "installed", "codex": "absent", "opencode": "absent", "gemini": "absent"}
    assert "gets context: SessionStart, UserPromptSubmit" in shown("status")
    assert "unchanged" in shown("install")
    assert ask("hooks", "install", "--no-context", "--dry-run").json[0]["changed"] is True
    assert "written" in shown("install", "--no-context")
    assert "context --hook" not in claude.read_text()
    assert "unchanged" in shown("install", "--no-context")
    assert ask("hooks", "status", "--host", "claude-code").json["hosts"][0]["context"] == []
    [gone] = ask("hooks", "uninstall").json
    assert (gone["was"], claude.read_text()) == ("installed", SETTINGS)
    assert "unchanged" in shown("uninstall")
    ask("hooks", "install")
    assert f"removed the hooks from: {claude}".replace(" ", "") in shown("uninstall").replace(" ", "")


@pytest.mark.usefixtures("claude")
def test_hooks_for_user_and_project_are_one_too_many(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "app" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "app")
    [did] = ask("hooks", "install", "--scope", "project", "--host", "claude-code").json
    assert did["file"] == str(tmp_path / "app" / ".claude" / "settings.local.json")
    assert ask("hooks", "status", "--scope", "project").code == 0
    ask("hooks", "install")
    for scope in ("user", "project"):
        answer = ask("hooks", "status", "--no-json", "--scope", scope)
        assert (answer.code, "get everything twice" in answer.words) == (1, True)
    ask("hooks", "install", "--no-context")
    assert ask("hooks", "status").code == 0
    for verb, needs in (("install", "open /hooks in Codex"), ("status", "needs: open /hooks in Codex")):
        assert needs in ask("hooks", verb, "--host", "codex", "--no-json").out


def test_switched_off_and_broken_hooks_fail(ask: Ask, claude: Path) -> None:
    claude.write_text('{"disableAllHooks": true}')
    ask("hooks", "install")
    answer = ask("hooks", "status", "--no-json")
    assert (answer.code, "runs no hooks" in answer.out) == (1, True)
    claude.write_text("not JSON")
    assert ask("hooks", "status").code == 1


def test_commands_and_tools_find_what_an_agent_just_did(ask: Ask, spool: Path) -> None:
    ran(prompt(Path.cwd(), "Which tokens do APIs take?"), spool)
    ran(stop(Path.cwd(), "They take JWT."), spool)
    found = ask("recall", "which tokens do APIs take?").json["hits"]
    assert "Which tokens do APIs take?" in [hit["memory"]["text"] for hit in found]
    assert ask("hooks", "status").json["spool"]["waiting_bytes"] == 0
    for number, ends in enumerate(("--once", "--idle=1"), 1):
        ran(prompt(Path.cwd(), "Hello", f"s{number}"), spool)
        assert ask("worker", ends).code == 0
        assert ask("count").json == {"count": 2 + number}
    ran(prompt(Path.cwd(), "When do kestrels nest?", "later"), spool)
    assert "When do kestrels" in ask("call", "mnemosyne_recall", '{"query": "when do kestrels nest?"}').out


def test_stuck_spool_stops_no_command(ask: Ask, spool: Path, home: Path) -> None:
    ran(prompt(Path.cwd(), "Hello"), spool, env={"PIERIA_BANK": "other"})
    (home / "data" / "other.db").mkdir()
    answer = ask("remember", "something")
    assert (answer.code, "wait in the spool" in answer.err) == (0, True)
    assert ask("hooks", "status").json["spool"]["waiting_bytes"] > 0


def test_spool_is_drained_by_hand(ask: Ask, spool: Path) -> None:
    ran(prompt(Path.cwd(), "Hello"), spool)
    with (spool / "events.jsonl").open("ab") as live:
        live.write(b"torn\n")
    done = ask("hooks", "drain").json
    assert (done["kept"], done["refused"], done["banks"]) == (1, 1, {"default": 1})
    again = ask("hooks", "drain", "--refused").json
    assert (again["again"], again["refused"]) == (1, 1)
    assert "`pieria hooks status`" in ask("doctor").err
    assert "1 event was refused: `pieria hooks drain --refused` tries again" in ask("hooks", "status", "--no-json").out
    assert "stored: " in ask("hooks", "drain", "--no-json").out


@pytest.mark.slow
def test_server_drains_the_spool(spool: Path, started: Started) -> None:
    """No command opens a bank before that."""
    with started("serve", "--port", "0") as server:
        server.stdout.readline()
        ran(prompt(Path.cwd(), "Hello"), spool)
        soon(lambda: not any(path.suffix in (".jsonl", ".taken") for path in spool.iterdir()))
        server.terminate()
        assert server.wait(60) == 0
    with pieria.open("default") as bank:
        assert [memory.text for memory in bank.list()] == ["Hello"]


EVENT: dict[str, Any] = {"what": "prompt", "session": "s", "id": "1", "text": "Use JWT."}


def test_events_come_as_an_object_a_list_or_lines(ask: Ask) -> None:
    one = json.dumps(EVENT)
    for bank, written in (("a", one), ("b", json.dumps([EVENT, EVENT])), ("c", f"{one}\n\n{one}\n")):
        assert ask("capture", "--bank", bank, stdin=written).json["kept"] == 1
        assert ask("capture", "--bank", bank, stdin=written).json["kept"] == 0
        with pieria.open(bank) as held:
            [turn] = held.list()
        assert (turn.text, turn.session, turn.source) == ("Use JWT.", "s", "generic")


def test_options_fill_in_events_and_torn_lines_are_named(ask: Ask) -> None:
    said = json.dumps({"what": "prompt", "text": "Use JWT."})
    answer = ask("capture", "--host", "mine", "--session", "monday", "--no-json", stdin=said)
    assert answer.out.startswith("1 kept")
    with pieria.open("default") as bank:
        [turn] = bank.list()
    assert (turn.session, turn.source) == ("monday", "mine")
    whole = json.dumps({"what": "prompt", "session": "s", "text": "Use\u2028JWT."}, ensure_ascii=False)
    answer = ask("capture", stdin=f'{whole}\n{{"what": "prompt"')
    assert "Line 2 is not" in answer.failed(2) and json.loads(answer.out)["kept"] == 1


def test_wrong_events_are_named_and_the_others_kept(ask: Ask) -> None:
    wrong = [{**EVENT, "what": "dance"}, EVENT, {"what": "prompt"}, 7, {**EVENT, "colour": "red"}]
    answer = ask("capture", stdin=json.dumps(wrong))
    assert (answer.code, json.loads(answer.out)["kept"]) == (1, 1)
    told = [line.split(":")[1].strip() for line in answer.err.splitlines() if line.startswith("error")]
    assert told == ["events[0].what", "events[2].session", "events[3].event", "events[4].event"]
    for written in (b"not JSON", b"[" * 10_000, b'{"what": "prompt"', b"\xff"):
        assert "standard input" in ask("capture", stdin=written).failed(2)


@pytest.mark.parametrize("command", [["list", "--kind", "observation"], ["context", "--hook", "claude-code"]])
def test_commands_distil_a_session_that_is_over(ask: Ask, command: list[str]) -> None:
    """The command has to do it: no server and no worker runs here."""
    day = Session("yesterday", host="claude-code", folder=str(Path.cwd()))
    yesterday = [
        day.prompt("the cart breaks for orders in yen, please fix it"),
        day.ran("pytest -q", "E   KeyError: 'JPY'\n1 failed, 3 passed in 0.2s"),
        day.edited("src/rates.py", "RATES = {}", "RATES = load()"),
        day.ran("pytest -q", "4 passed in 0.2s"),
    ]
    long_ago = timedelta(days=300)
    with pieria.Workspace(clock=lambda: BEGIN - long_ago) as workspace, workspace.open() as bank:
        bank.observe([replace(event, at=event.at - long_ago) for event in yesterday])
    begun = {"hook_event_name": "SessionStart", "session_id": "today", "cwd": str(Path.cwd()), "source": "startup"}
    assert "KeyError: 'JPY'" in ask(*command, stdin=json.dumps(begun)).out
