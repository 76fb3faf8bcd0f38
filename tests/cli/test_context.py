"""`pieria context`: the context for an agent, for people, for programs, and in the protocols of hosts."""

import json
import os
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import ENTRY, Answer, Ask
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
@pytest.mark.parametrize("name", ["context", "wake-up"])
def test_a_program_gets_the_block_with_its_tokens(ask: Ask, name: str) -> None:
    reply = ask(name, "--budget", "500").json
    assert reply["tokens"] == estimated_tokens(reply["text"]) <= 500
    assert RULE in reply["text"]
    assert [item["parts"] for item in reply["items"]] == [["rules"], ["index"]]


@pytest.mark.usefixtures("told")
def test_a_person_gets_the_block_as_it_is(ask: Ask) -> None:
    reply = ask("context", "--json", "--session", "s", "--keep").json
    assert ask("context", "--no-json", "--session", "s").out == reply["text"] + "\n"
    assert ask("context", "-q").ids == [item["id"] for item in reply["items"]]


def test_an_empty_bank_has_nothing_to_tell(ask: Ask) -> None:
    assert "`pieria mine`" in ask("context", "--no-json").out


@pytest.mark.usefixtures("told")
def test_too_small_a_budget_says_so(ask: Ask) -> None:
    assert "--budget" in ask("context", "--no-json", "--budget", "20").out


@pytest.mark.usefixtures("told")
def test_query_and_files_choose_what_it_is_about(ask: Ask) -> None:
    ask("remember", "The garden gate is green.")
    assert CHOICE in ask("context", "--query", "which APIs use JWT?").json["text"]
    by_file = ask("context", "--file", "/app/src/auth/tokens.py", "--files", "other.py").json["text"]
    assert by_file.index(CHOICE) < by_file.index("garden gate")


@pytest.mark.usefixtures("told")
def test_a_session_is_told_the_same_until_it_is_told_anew(ask: Ask) -> None:
    first = ask("context", "--session", "s1", "--keep").json
    ask("remember", "--author-type", "human", "Never deploy on Fridays.")
    assert ask("context", "--session", "s1").json == first
    assert "Fridays" in ask("context", "--session", "s1", "--anew").json["text"]


def test_what_is_asked_wrongly_is_refused(ask: Ask) -> None:
    answer = ask("context", "--keep", "--budget", "many")
    assert answer.code == 2
    assert "--keep" in answer.err
    assert "--budget" in answer.err


# --- hosts


@pytest.mark.usefixtures("told")
@pytest.mark.parametrize(
    ("host", "event"), [("claude-code", "UserPromptSubmit"), ("codex", "UserPromptSubmit"), ("gemini", "BeforeAgent")]
)
def test_a_host_is_answered_in_its_own_protocol(ask: Ask, host: str, event: str) -> None:
    assert RULE in said(hook(ask, host, begun(transcript_path="/x.jsonl", cwd="/", permission_mode="default")))
    answer = hook(ask, host, prompted("which APIs use JWT?", "s2", hook_event_name=event))
    assert json.loads(answer.out)["hookSpecificOutput"]["hookEventName"] == event
    assert CHOICE in said(answer)


@pytest.mark.usefixtures("told")
def test_any_other_host_says_plainly_what_happens(ask: Ask) -> None:
    reply = json.loads(hook(ask, "generic", {"event": "start", "session": "s1"}).out)
    assert reply["tokens"] == estimated_tokens(reply["context"])
    assert RULE in reply["context"]
    asked = {"event": "prompt", "session": "s2", "prompt": "what now?", "files": ["src/auth/tokens.py"]}
    assert CHOICE in json.loads(hook(ask, "generic", asked).out)["context"]


@pytest.mark.usefixtures("told")
def test_a_session_that_goes_on_is_told_the_same_and_anew_once_it_was_compacted(ask: Ask) -> None:
    first = said(hook(ask, "claude-code", begun()))
    ask("remember", "--author-type", "human", "Never deploy on Fridays.")
    assert said(hook(ask, "claude-code", begun(source="resume"))) == first
    compacted = said(hook(ask, "claude-code", begun(source="compact")))
    assert "Fridays" in compacted
    assert said(hook(ask, "claude-code", begun(source="resume"))) == compacted


@pytest.mark.usefixtures("told")
def test_a_prompt_is_told_what_bears_on_it_and_not_what_was_told(ask: Ask) -> None:
    hook(ask, "claude-code", begun())
    ask("remember", "JWT keys are rotated daily by the deploy job, which runs at noon and logs to the audit file.")
    answer = said(hook(ask, "claude-code", prompted("when are JWT keys rotated?")))
    assert "rotated daily" in answer
    assert RULE not in answer
    assert estimated_tokens(answer) <= 800


@pytest.mark.usefixtures("told")
@pytest.mark.parametrize(
    "payload",
    [
        prompted("colourless green ideas sleep furiously"),
        prompted("   "),
        prompted("JWT", hook_event_name="PostToolUse"),
        {"hook_event_name": "UserPromptSubmit"},
        prompted("<task-notification>Always answer in metric units.</task-notification>"),
        {},
    ],
)
def test_where_there_is_nothing_to_say_nothing_is_said(ask: Ask, payload: dict[str, Any]) -> None:
    answer = hook(ask, "claude-code", payload)
    assert (answer.out, answer.err) == ("", "")


@pytest.mark.parametrize("consent", ["ok", "Yes, please do.", "looks good, go ahead!", "thanks, continue"])
def test_mere_consent_is_told_nothing_whatever_shares_its_words(ask: Ask, consent: str) -> None:
    ask("remember", f"{consent} and deploy the JWT keys")
    assert hook(ask, "claude-code", prompted(consent)).out == ""
    assert "deploy" in said(hook(ask, "claude-code", prompted(f"{consent} and deploy the JWT keys")))


def test_no_bank_is_made_to_be_told_nothing_of(ask: Ask, tmp_path: Path) -> None:
    answer = hook(ask, "claude-code", begun(), "--data", str(tmp_path / "nowhere"))
    assert (answer.out, answer.err) == ("", "")
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("stdin", ["", "nonsense", "[1, 2]", '{"a": ' * 10_000, b"\xff\xfe{}"])
def test_a_payload_that_is_none_is_no_failure_of_the_host_s(ask: Ask, stdin: str | bytes) -> None:
    answer = ask("context", "--hook", "claude-code", stdin=stdin)
    assert (answer.code, answer.out) == (0, "")
    assert answer.err.startswith("note: no context: ")
    assert answer.err.count("\n") == 1


def test_the_log_holds_nothing_of_a_payload(ask: Ask, home: Path) -> None:
    ask("remember", "something")
    for stdin in ('"what I told nobody"', json.dumps(begun("what I told\nnobody"))):
        assert "what I told" in ask("context", "--hook", "claude-code", stdin=stdin).err
    log = (home / "data" / "spool" / "hook.log").read_text()
    assert (log.count("no context"), log.count("expected"), log.count("I told")) == (2, 2, 0)


@pytest.mark.usefixtures("told")
@pytest.mark.parametrize("wrong", [["--budget", "0"], ["--query", "x"], ["--place", "a/b/c"], ["--keep"]])
def test_a_wrong_option_is_said_and_no_failure_either(ask: Ask, wrong: list[str]) -> None:
    answer = hook(ask, "claude-code", begun(), *wrong)
    assert answer.out == ""
    assert "note: no context: " in answer.err


def test_a_damaged_bank_is_said_and_no_failure_either(ask: Ask, tmp_path: Path) -> None:
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "default.db").write_bytes(b"no database" * 1_000)
    answer = hook(ask, "claude-code", begun(), "--data", str(folder), "--bank", "default")
    assert answer.out == ""
    assert "note: no context: " in answer.err


def test_the_bank_is_that_of_the_folder_where_the_agent_works(ask: Ask, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    trusted_project(project, 'bank = "theirs"\n')
    ask("remember", "--bank", "theirs", "--author-type", "human", RULE)
    here = Path.cwd()
    assert RULE in said(hook(ask, "claude-code", begun(cwd=str(project))))
    assert hook(ask, "claude-code", begun(cwd=str(tmp_path))).out == ""
    assert Path.cwd() == here


@pytest.mark.usefixtures("told")
def test_a_bank_that_cannot_be_written_to_is_told_all_the_same(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIERIA_BUSY_SECONDS", "5")
    [file] = Path(os.environ["PIERIA_DATA"]).glob("*.db")
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        answer = hook(ask, "claude-code", begun())
    assert RULE in said(answer)
    assert "the session's moment was not stored: " in answer.err


def test_a_host_that_never_closes_the_pipe_is_not_held_up(environment: dict[str, str]) -> None:
    command = [*ENTRY, "context", "--hook", "claude-code", "--within", "0.5"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.wait(60) == 0
        assert (process.stdout.read(), process.stderr.read()) == (
            b"", b"note: no context: the answer took more than 0.5 s\n",
        )  # fmt: skip
    assert (
        "claude-code: no context: the answer took" in Path(environment["PIERIA_DATA"], "spool", "hook.log").read_text()
    )


@pytest.mark.usefixtures("told")
def test_a_fallback_names_the_banks_where_nobody_else_does(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted = ("--fallback-data", os.environ["PIERIA_DATA"])
    monkeypatch.delenv("PIERIA_DATA")
    assert hook(ask, "claude-code", begun()).out == ""
    assert RULE in said(hook(ask, "claude-code", begun(), *noted))
    monkeypatch.setenv("PIERIA_DATA", str(tmp_path / "other"))
    assert hook(ask, "claude-code", begun(), *noted).out == ""
    assert ask("context", *noted).code == 2
