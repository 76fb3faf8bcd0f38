"""`pieria worker` and `pieria jobs`, as a person, a script and a service manager use them."""

import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest
from tests.cli.conftest import ENTRY, Answer, Ask

import pieria
from pieria import Bank, Workspace
from pieria.doors.cli.call import Call
from pieria.doors.cli.commands import jobs as commands
from pieria.doors.cli.commands.jobs import _Banks
from pieria.errors import BusyError


def test_worker_runs_the_jobs_of_every_bank(ask: Ask, bank: Bank) -> None:
    with pieria.open("other") as other, pieria.open("@me") as mine:
        ids = [each.jobs.add("embed").id for each in (bank, other, mine)]
    told = ask("worker", "--once").json
    assert told == {"banks": ["default", "other", "@me"], "jobs": {"done": 3}}
    assert bank.jobs.get(ids[0]).state == "done"
    assert ask("worker", "--once").json["jobs"] == {}
    assert "no jobs" in ask("worker", "--once", "--no-json").out
    bank.jobs.add("embed")
    assert "done 1" in ask("worker", "--idle", "0", "--no-json").out


def test_worker_of_one_bank_leaves_the_others(ask: Ask, bank: Bank) -> None:
    with pieria.open("other") as other:
        left = other.jobs.add("embed")
        assert ask("worker", "--once", "--bank", "default").json == {"banks": ["default"], "jobs": {}}
        assert other.jobs.get(left.id).state == "waiting"
        assert ask("worker", "--once", "--bank", "OTHER").json["jobs"] == {"done": 1}


def test_worker_skips_a_file_that_is_no_bank(ask: Ask, bank: Bank, home: Path) -> None:
    (home / "data" / "foreign.db").write_bytes(b"x" * 4_096)
    bank.jobs.add("embed")
    answer = ask("worker", "--once")
    assert answer.json == {"banks": ["default"], "jobs": {"done": 1}}
    assert answer.err.count("foreign is skipped") == 1
    assert ask("worker", "--once", "--bank", "foreign").code == 3


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


def pending(bank: Bank) -> int:
    """Return the number of pending embeddings from the store: opening the bank with an embedder would start work."""
    with bank.core.store.reading() as reader:
        return reader.pending_count()


def test_worker_embeds_everything_before_it_ends(ask: Ask, bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    for line in (["--once"], ["--idle", "0"]):
        bank.remember(f"What came before {line}.")
        assert pending(bank)
        with monkeypatch.context() as embedding:
            embedding.setenv("PIERIA_EMBEDDER", "hashing")
            ask("worker", *line)
        assert pending(bank) == 0
    for wrong in ("-1", "soon"):
        refused = ask("worker", "--idle", wrong)
        assert (refused.code, "--idle" in refused.err) == (2, True)


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_the_worker_cleanly(bank: Bank, environment: dict[str, str], how: signal.Signals) -> None:
    bank.jobs.add("embed")
    process = subprocess.Popen([*ENTRY, "worker"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    try:
        while bank.jobs.counts() != {"done": 1}:
            assert process.poll() is None
        process.send_signal(how)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, err) == (0, b"")
    assert out == b'{"banks": ["default"], "jobs": {"done": 1}}\n'


def test_jobs_are_listed_shown_cancelled_and_replayed(ask: Ask, bank: Bank) -> None:
    waiting, other = bank.jobs.add("embed"), bank.jobs.add("mail", {"to": "Maya"}, key="k", about="jwt@1")
    assert ask("jobs", "list").json == {"jobs": [other.as_dict(), waiting.as_dict()], "truncated": False}
    assert ask("jobs", "list", "-q", "--kind", "embed").ids == [waiting.id]
    assert ask("jobs", "list", "-q", "--state", "waiting", "--state", "dead").ids == [other.id, waiting.id]
    some = ask("jobs", "list", "-n", "1")
    assert some.json["truncated"] is True
    assert "there are more" in some.err
    assert ask("jobs", "show", other.id).json == other.as_dict()
    assert [job["state"] for job in ask("jobs", "cancel", waiting.id).json["cancelled"]] == ["cancelled"]
    assert [job["state"] for job in ask("jobs", "replay", waiting.id).json["replayed"]] == ["waiting"]
    assert ask("worker", "--once", "-q").ids == ["dead", "1", "done", "1"]
    shown = ask("jobs", "show", other.id, "--no-json").out
    for word in ("dead", "mail", '{"to": "Maya"}', "jwt@1", "1 of 5 times", "unknown_kind"):
        assert word in shown
    assert "unknown_kind" in ask("jobs", "list", "--no-json").out


def test_unknown_and_finished_jobs_are_refused(ask: Ask, bank: Bank) -> None:
    job = bank.jobs.add("embed")
    ask("worker", "--once")
    for line, code, word in (
        (["show", "no"], 1, "pieria jobs list"),
        (["replay", job.id], 1, "is done"),
        (["cancel", job.id, "no"], 1, "is done"),
        (["list", "--state", "lost"], 2, "--state"),
    ):
        refused = ask("jobs", *line)
        assert refused.code == code
        assert word in refused.err


def test_stats_show_jobs_and_the_cost_of_models(ask: Ask, bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    bank.jobs.add("embed")
    assert "models" not in ask("stats", "--no-json").out.split()
    bank.core.meter.note("summarize", "test:model", {"input_tokens": 1234, "output_tokens": 5}, 2.5)
    monkeypatch.setenv("PIERIA_BUDGET_TOKENS_PER_DAY", "5000")
    told = ask("stats").json
    assert told["jobs"] == {"waiting": 1}
    assert told["models"]["total"][0]["input_tokens"] == 1234
    shown = ask("stats", "--no-json").out
    for word in ("jobs: waiting", "summarize", "test:model", "1,234", "5,000 tokens per day"):
        assert word in shown


def test_worker_shows_a_person_the_jobs(terminal: Callable[..., Answer], bank: Bank) -> None:
    bank.jobs.add("embed")
    said = terminal("worker", "--once")
    assert (said.code, said.out.count("done 1")) == (0, 1)
