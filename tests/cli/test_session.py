"""Sessions on the command line: one process per command, and each continues the session of the last."""

import json

import pytest
from tests.cli.conftest import Ask, Run

from pieria import Bank, Workspace

TOKYO = ("The user wants to visit Tokyo in March.", "Asked about the dates.")


def texts(kind: str) -> list[str]:
    with Workspace() as workspace, workspace.open() as bank:
        return [memory.text for memory in bank.list(kinds=kind)]


def test_session_goes_on_from_command_to_command(ask: Ask) -> None:
    id = ask("session", "start", "Plan", "a", "trip", "--profile", "research").json["session_id"]
    assert ask("session", "append", id, *TOKYO).json["step_index"] == 0
    assert ask("session", "append", id, "March 3.", "Booked.").json["step_index"] == 1
    state = ask("session", "state", id).json
    assert (state["goal"], state["profile"], len(state["recent_steps"])) == ("Plan a trip", "research", 2)
    [listed] = ask("session", "list").json["sessions"]
    assert (listed["session_id"], listed["state"]) == (id, "collecting")
    assert (listed["committed_steps"], listed["uncommitted_steps"]) == (0, 2)
    shown = ask("session", "show", id).json
    assert [step["observation"] for step in shown["steps"]] == [TOKYO[0], "March 3."]
    closed = ask("session", "close", id).json
    assert (closed["state"], bool(closed["node_ids"])) == ("idle", True)
    assert set(texts("episodic")) == {" → ".join(TOKYO), "March 3. → Booked."}
    over = ask("session", "show", id).json
    assert (over["committed_steps"], over["uncommitted_steps"]) == (2, 0)


def test_held_back_steps_are_committed_or_discarded(ask: Ask) -> None:
    ids = [ask("session", "start", "Plan", "--no-auto-commit").json["session_id"] for _ in range(2)]
    for id in ids:
        ask("session", "append", id, *TOKYO)
        closed = ask("session", "close", id)
        assert (closed.json["state"], f"pieria session commit {id}" in closed.err) == ("ready", True)
    assert texts("episodic") == []
    [*listed] = ask("session", "list").json["sessions"]
    assert [(one["committed_steps"], one["uncommitted_steps"]) for one in listed] == [(0, 1), (0, 1)]
    assert ask("session", "discard", ids[0]).json["state"] == "idle"
    assert ask("session", "commit", ids[1]).json["node_ids"]
    assert texts("episodic") == [" → ".join(TOKYO)]


def test_unfinished_session_is_resumed_in_any_bank(ask: Ask) -> None:
    id = ask("session", "start", "Plan").json["session_id"]
    ask("session", "append", id, *TOKYO)
    ask("session", "close", id, "--no-wait")
    assert ask("session", "resume", id).json["state"] == "idle"
    assert texts("episodic") == [" → ".join(TOKYO)]
    id = ask("session", "start", "Plan", "--bank", "other").json["session_id"]
    assert ask("session", "append", id, *TOKYO).json["step_index"] == 0


def test_people_are_told_in_words(ask: Ask) -> None:
    id = ask("session", "start", "Plan", "--no-json").out.split()[1]
    assert "collecting" in ask("session", "append", id, *TOKYO, "--no-json").out
    assert "Plan" in ask("session", "list", "--no-json").out
    assert TOKYO[1] in ask("session", "show", id, "--no-json").out
    assert ask("session", "list", "-q").out == f"{id}\n"


def test_refused_step_says_what_to_do(ask: Ask) -> None:
    refused = ask("session", "append", "session_nobody", *TOKYO)
    assert (refused.code, "session 'session_nobody' not found" in refused.err) == (1, True)
    assert ask("session", "start", "").code == 2
    id = ask("session", "start", "Plan").json["session_id"]
    ask("session", "close", id)
    closed, unknown = ask("session", "append", id, *TOKYO), ask("session", "append", "session_x", *TOKYO)
    assert "The session is finished: `pieria session start` starts another." in closed.err
    assert "`pieria session start` returns a session's id." in unknown.err
    assert "sessions_" not in closed.err + unknown.err


@pytest.mark.slow
def test_each_command_lets_go_of_the_session(run: Run, bank: Bank) -> None:
    id = json.loads(run("session", "start", "Plan").stdout)["session_id"]
    for number in range(3):
        told = run("session", "append", id, f"Saw {number}.", "Noted it.")
        assert told.returncode == 0, told.stderr
    assert json.loads(run("session", "close", id).stdout)["state"] == "idle"
