"""`pieria context`: the context for an agent, for people, for programs, and in the protocols of hosts."""

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Answer, Ask, Started
from tests.trust import trusted_project

from pieria.record.clip import estimated_tokens

RULE = "Always answer in metric units."
CHOICE = "We chose JWT for all new APIs."


def hook(ask: Ask, host: str, payload: Any, *more: str) -> Answer:
    answer = ask("context", "--hook", host, *more, stdin=json.dumps(payload))
    assert answer.code == 0
    return answer


def begun(session: str = "s1", **more: Any) -> dict[str, Any]:
    return {"session_id": session, "hook_event_name": "SessionStart", "source": "startup", **more}


def prompted(prompt: str, session: str = "s1", **more: Any) -> dict[str, Any]:
    return {"session_id": session, "hook_event_name": "UserPromptSubmit", "prompt": prompt, **more}


def said(answer: Answer) -> str:
    told = json.loads(answer.out)["hookSpecificOutput"]
    assert set(told) == {"hookEventName", "additionalContext"}
    return str(told["additionalContext"])


@pytest.fixture
def told(ask: Ask, person: None) -> None:
    ask("remember", RULE)
    ask("remember", CHOICE, "--file", "src/auth/tokens.py")


@pytest.mark.usefixtures("told")
def test_programs_and_people_get_the_block(ask: Ask) -> None:
    for name in ("context", "wake-up"):
        reply = ask(name, "--budget", "500").json
        assert reply["tokens"] == estimated_tokens(reply["text"]) <= 500
        assert RULE in reply["text"]
        assert [item["parts"] for item in reply["items"]] == [["rules"], ["index"]]
    reply = ask("context", "--json", "--session", "s", "--keep").json
    assert ask("context", "--no-json", "--session", "s").out == reply["text"] + "\n"
    assert ask("context", "-q").ids == [item["id"] for item in reply["items"]]
    assert "--budget" in ask("context", "--no-json", "--budget", "20").out


def test_empty_bank_and_wrong_options_say_what_to_do(ask: Ask) -> None:
    assert "`pieria mine`" in ask("context", "--no-json").out
    said = ask("context", "--keep", "--budget", "many").failed(2)
    assert "--keep" in said and "--budget" in said


@pytest.mark.usefixtures("told")
def test_query_files_and_session_choose_the_context(ask: Ask) -> None:
    ask("remember", "The garden gate is green.")
    assert CHOICE in ask("context", "--query", "which APIs use JWT?").json["text"]
    by_file = ask("context", "--file", "/app/src/auth/tokens.py", "--files", "other.py").json["text"]
    assert by_file.index(CHOICE) < by_file.index("garden gate")
    first = ask("context", "--session", "s1", "--keep").json
    ask("remember", "--author-type", "human", "Never deploy on Fridays.")
    assert ask("context", "--session", "s1").json == first
    assert "Fridays" in ask("context", "--session", "s1", "--anew").json["text"]


@pytest.mark.usefixtures("told")
def test_hosts_are_answered_in_their_own_protocols(ask: Ask) -> None:
    for host, event in (("claude-code", "UserPromptSubmit"), ("codex", "UserPromptSubmit"), ("gemini", "BeforeAgent")):
        begin = begun(f"{host} 1", transcript_path="/x.jsonl", cwd="/", permission_mode="default")
        assert RULE in said(hook(ask, host, begin))
        answer = hook(ask, host, prompted("which APIs use JWT?", f"{host} 2", hook_event_name=event))
        assert json.loads(answer.out)["hookSpecificOutput"]["hookEventName"] == event
        assert CHOICE in said(answer)
    reply = json.loads(hook(ask, "generic", {"event": "start", "session": "s1"}).out)
    assert reply["tokens"] == estimated_tokens(reply["context"])
    assert RULE in reply["context"]
    asked = {"event": "prompt", "session": "s2", "prompt": "what now?", "files": ["src/auth/tokens.py"]}
    assert CHOICE in json.loads(hook(ask, "generic", asked).out)["context"]


@pytest.mark.usefixtures("told")
def test_compacted_session_gets_its_context_anew(ask: Ask) -> None:
    first = said(hook(ask, "claude-code", begun()))
    ask("remember", "--author-type", "human", "Never deploy on Fridays.")
    assert said(hook(ask, "claude-code", begun(source="resume"))) == first
    compacted = said(hook(ask, "claude-code", begun(source="compact")))
    assert "Fridays" in compacted
    assert said(hook(ask, "claude-code", begun(source="resume"))) == compacted


@pytest.mark.usefixtures("told")
def test_prompt_gets_what_bears_on_it_once(ask: Ask) -> None:
    hook(ask, "claude-code", begun())
    ask("remember", "JWT keys are rotated daily by the deploy job, which runs at noon and logs to the audit file.")
    answer = said(hook(ask, "claude-code", prompted("when are JWT keys rotated?")))
    assert "rotated daily" in answer
    assert RULE not in answer
    assert estimated_tokens(answer) <= 800


@pytest.mark.usefixtures("told")
def test_nothing_is_said_where_nothing_bears_on_it(ask: Ask, tmp_path: Path) -> None:
    payloads: list[dict[str, Any]] = [
        prompted("colourless green ideas sleep furiously"),
        prompted("   "),
        prompted("JWT", hook_event_name="PostToolUse"),
        {"hook_event_name": "UserPromptSubmit"},
        prompted("<task-notification>Always answer in metric units.</task-notification>"),
        {},
    ]
    answers = [hook(ask, "claude-code", payload) for payload in payloads]
    answers.append(hook(ask, "claude-code", begun(), "--data", str(tmp_path / "nowhere")))
    assert [answer.out + answer.err for answer in answers] == [""] * len(answers)
    assert not (tmp_path / "nowhere").exists()


def test_mere_consent_gets_nothing(ask: Ask) -> None:
    for number, consent in enumerate(("ok", "Yes, please do.", "looks good, go ahead!", "thanks, continue")):
        ask("remember", f"{consent} and deploy the JWT keys")
        assert hook(ask, "claude-code", prompted(consent, f"s{number}")).out == ""
        asked = prompted(f"{consent} and deploy the JWT keys", f"s{number}")
        assert "deploy" in said(hook(ask, "claude-code", asked))


@pytest.mark.usefixtures("told")
def test_wrong_payload_or_option_is_no_failure_of_the_host(ask: Ask, tmp_path: Path, home: Path) -> None:
    """The log of hooks quotes nothing of a payload."""
    secret = ('"what I told nobody"', json.dumps(begun("what I told\nnobody")))
    for stdin in ("", "nonsense", "[1, 2]", '{"a": ' * 10_000, b"\xff\xfe{}", *secret):
        answer = ask("context", "--hook", "claude-code", stdin=stdin)
        assert (answer.code, answer.out, answer.err.count("\n")) == (0, "", 1)
        assert answer.err.startswith("note: no context: ")
        assert ("what I told" in answer.err) == (stdin in secret)
    log = (home / "data" / "spool" / "hook.log").read_text()
    assert (log.count("no context"), log.count("I told"), "expected" in log) == (7, 0, True)
    (tmp_path / "default.db").write_bytes(b"no database" * 1_000)
    damaged = ("--data", str(tmp_path), "--bank", "default")
    for wrong in (("--budget", "0"), ("--query", "x"), ("--place", "a/b/c"), ("--keep",), damaged):
        answer = hook(ask, "claude-code", begun(), *wrong)
        assert (answer.out, "note: no context: " in answer.err) == ("", True), wrong


def test_bank_is_that_of_the_agents_folder(ask: Ask, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    trusted_project(project, 'bank = "theirs"\n')
    ask("remember", "--bank", "theirs", "--author-type", "human", RULE)
    here = Path.cwd()
    assert RULE in said(hook(ask, "claude-code", begun(cwd=str(project))))
    assert hook(ask, "claude-code", begun(cwd=str(tmp_path))).out == ""
    assert Path.cwd() == here


@pytest.mark.slow
@pytest.mark.usefixtures("told")
def test_locked_bank_still_gives_a_context(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIERIA_BUSY_SECONDS", "5")
    [file] = Path(os.environ["PIERIA_DATA"]).glob("*.db")
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        answer = hook(ask, "claude-code", begun())
    assert RULE in said(answer)
    assert "the session's moment was not stored: " in answer.err


def test_process_ends_where_a_host_never_closes_the_pipe(started: Started, home: Path) -> None:
    with started("context", "--hook", "claude-code", "--within", "0.5") as process:
        assert process.wait(60) == 0
        said = process.stdout.read(), process.stderr.read()
    assert said == (b"", b"note: no context: the answer took more than 0.5 s\n")
    assert "claude-code: no context: the answer took" in (home / "data" / "spool" / "hook.log").read_text()


@pytest.mark.usefixtures("told")
def test_fallback_names_data_where_nothing_else_does(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    noted = ("--fallback-data", os.environ["PIERIA_DATA"])
    monkeypatch.delenv("PIERIA_DATA")
    assert hook(ask, "claude-code", begun()).out == ""
    assert RULE in said(hook(ask, "claude-code", begun(), *noted))
    monkeypatch.setenv("PIERIA_DATA", str(tmp_path / "other"))
    assert hook(ask, "claude-code", begun(), *noted).out == ""
    assert ask("context", *noted).code == 2
