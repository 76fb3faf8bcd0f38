"""`pieria session`, `worker` and `jobs`: each command continues what the last one left."""

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest
from tests.cli.conftest import Answer, Ask, Run, Started
from tests.waiting import soon

import pieria
from pieria import Bank, Workspace
from pieria.doors.cli.call import Call
from pieria.doors.cli.commands import jobs as commands
from pieria.doors.cli.commands.jobs import _Banks
from pieria.errors import BusyError

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
    wanted = {"session_id": id, "state": "collecting", "committed_steps": 0, "uncommitted_steps": 2}
    assert listed.items() >= wanted.items()
    shown = ask("session", "show", id).json
    assert [step["observation"] for step in shown["steps"]] == [TOKYO[0], "March 3."]
    closed = ask("session", "close", id).json
    assert (closed["state"], bool(closed["node_ids"])) == ("idle", True)
    assert set(texts("episodic")) == {" → ".join(TOKYO), "March 3. → Booked."}
    assert ask("session", "show", id).json.items() >= {"committed_steps": 2, "uncommitted_steps": 0}.items()


def test_held_back_steps_are_committed_or_discarded(ask: Ask) -> None:
    ids = [ask("session", "start", "Plan", "--no-auto-commit").json["session_id"] for _ in range(2)]
    for id in ids:
        ask("session", "append", id, *TOKYO)
        closed = ask("session", "close", id)
        assert (closed.json["state"], f"pieria session commit {id}" in closed.err) == ("ready", True)
    assert texts("episodic") == []
    listed = ask("session", "list").json["sessions"]
    assert [(one["committed_steps"], one["uncommitted_steps"]) for one in listed] == [(0, 1), (0, 1)]
    assert ask("session", "discard", ids[0]).json["state"] == "idle"
    assert ask("session", "commit", ids[1]).json["node_ids"]
    assert texts("episodic") == [" → ".join(TOKYO)]


def test_people_are_told_in_words_what_to_do(ask: Ask) -> None:
    id = ask("session", "start", "Plan", "--no-json").out.split()[1]
    assert "collecting" in ask("session", "append", id, *TOKYO, "--no-json").out
    assert "Plan" in ask("session", "list", "--no-json").out
    assert TOKYO[1] in ask("session", "show", id, "--no-json").out
    assert ask("session", "list", "-q").ids == [id]
    ask("session", "close", id, "--no-wait")
    assert ask("session", "resume", id).json["state"] == "idle"
    assert texts("episodic") == [" → ".join(TOKYO)]
    closed, unknown = (ask("session", "append", name, *TOKYO).failed(1) for name in (id, "session_x"))
    assert "The session is finished: `pieria session start` starts another." in closed
    assert "`pieria session start` returns a session's id." in unknown
    assert "sessions_" not in closed + unknown
    id = ask("session", "start", "Plan", "--bank", "other").json["session_id"]
    assert ask("session", "append", id, *TOKYO).json["step_index"] == 0, "an id leads to its bank"


@pytest.mark.slow
def test_each_command_lets_go_of_the_session(run: Run, bank: Bank) -> None:
    id = json.loads(run("session", "start", "Plan").stdout)["session_id"]
    for number in range(3):
        told = run("session", "append", id, f"Saw {number}.", "Noted it.")
        assert told.returncode == 0, told.stderr
    assert json.loads(run("session", "close", id).stdout)["state"] == "idle"


def test_worker_runs_the_jobs_of_every_bank_or_of_one(ask: Ask, bank: Bank, home: Path) -> None:
    with pieria.open("other") as other, pieria.open("@me") as mine:
        ids = [each.jobs.add("embed").id for each in (bank, other, mine)]
        assert ask("worker", "--once").json == {"banks": ["default", "other", "@me"], "jobs": {"done": 3}}
        assert bank.jobs.get(ids[0]).state == "done"
        left = other.jobs.add("embed")
        assert ask("worker", "--once", "--bank", "default").json == {"banks": ["default"], "jobs": {}}
        assert other.jobs.get(left.id).state == "waiting"
        assert ask("worker", "--once", "--bank", "OTHER").json["jobs"] == {"done": 1}
    assert "no jobs" in ask("worker", "--once", "--no-json").out
    (home / "data" / "foreign.db").write_bytes(b"x" * 4_096)
    assert ask("worker", "--once").err.count("foreign is skipped") == 1
    assert ask("worker", "--once", "--bank", "foreign").code == 3
    bank.jobs.add("embed")
    assert "done 1" in ask("worker", "--idle", "0", "--no-json").out


def test_bank_that_cannot_be_opened_now_is_tried_again(bank: Bank, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(*_: object, **__: object) -> NoReturn:
        raise BusyError("open", "it is brought to a new schema")

    with Workspace(home / "data") as workspace:
        banks = _Banks(Call(quiet=True), workspace)
        with monkeypatch.context() as patched:
            patched.setattr(workspace, "open", busy)
            patched.setattr(commands, "LATER", 0.0)
            assert banks() == []
        assert [each.name for each in banks()] == ["default"]


def test_worker_embeds_everything_before_it_ends(ask: Ask, bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening the bank with an embedder would start work, so the store counts."""
    for line in (["--once"], ["--idle", "0"]):
        bank.remember(f"What came before {line}.")
        with bank.core.store.reading() as reader:
            assert reader.pending_count()
        with monkeypatch.context() as embedding:
            embedding.setenv("PIERIA_EMBEDDER", "hashing")
            ask("worker", *line)
        with bank.core.store.reading() as reader:
            assert reader.pending_count() == 0


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_the_worker_cleanly(bank: Bank, started: Started, how: signal.Signals) -> None:
    bank.jobs.add("embed")
    with started("worker") as process:
        soon(lambda: bank.jobs.counts() == {"done": 1})
        process.send_signal(how)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")
    assert out == b'{"banks": ["default"], "jobs": {"done": 1}}\n'


def test_jobs_are_listed_shown_cancelled_and_replayed(ask: Ask, bank: Bank) -> None:
    waiting, other = bank.jobs.add("embed"), bank.jobs.add("mail", {"to": "Maya"}, key="k", about="jwt@1")
    assert ask("jobs", "list").json == {"jobs": [other.as_dict(), waiting.as_dict()], "truncated": False}
    assert ask("jobs", "list", "-q", "--kind", "embed").ids == [waiting.id]
    assert ask("jobs", "list", "-q", "--state", "waiting", "--state", "dead").ids == [other.id, waiting.id]
    some = ask("jobs", "list", "-n", "1")
    assert (some.json["truncated"], "there are more" in some.err) == (True, True)
    assert ask("jobs", "show", other.id).json == other.as_dict()
    assert [job["state"] for job in ask("jobs", "cancel", waiting.id).json["cancelled"]] == ["cancelled"]
    assert [job["state"] for job in ask("jobs", "replay", waiting.id).json["replayed"]] == ["waiting"]
    assert ask("worker", "--once", "-q").ids == ["dead", "1", "done", "1"]
    shown = ask("jobs", "show", other.id, "--no-json").out
    for word in ("dead", "mail", '{"to": "Maya"}', "jwt@1", "1 of 5 times", "unknown_kind"):
        assert word in shown
    assert "unknown_kind" in ask("jobs", "list", "--no-json").out
    for line in (["replay", waiting.id], ["cancel", waiting.id, "no"]):
        assert "is done" in ask("jobs", *line).failed(1)


def test_stats_and_a_worker_show_jobs_and_costs(
    ask: Ask, bank: Bank, monkeypatch: pytest.MonkeyPatch, terminal: Callable[..., Answer]
) -> None:
    bank.jobs.add("embed")
    assert "models" not in ask("stats", "--no-json").out.split()
    bank.core.meter.note("summarize", "test:model", {"input_tokens": 1234, "output_tokens": 5}, 2.5)
    monkeypatch.setenv("PIERIA_BUDGET_TOKENS_PER_DAY", "5000")
    told = ask("stats").json
    assert (told["jobs"], told["models"]["total"][0]["input_tokens"]) == ({"waiting": 1}, 1234)
    shown = ask("stats", "--no-json").out
    for word in ("jobs: waiting", "summarize", "test:model", "1,234", "5,000 tokens per day"):
        assert word in shown
    assert terminal("worker", "--once").out.count("done 1") == 1
