"""A test for each complaint of users about hooks that save without a request, in MemPalace and other systems.

Noisy, blocking, losing data, polluted wings (MemPalace 494, 622, 1083, 1341, 673, 786); blocked editors, observers
that observe themselves, identities that split a project, secrets kept, sessions that never end (claude-mem, open-mem).
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.capture.making import HOOK, bash, common, drained, events, on_disk, prompt, ran, stop, turns
from tests.trust import trusted_project

import pieria
from pieria.capture import hook


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def spool(data: Path) -> Path:
    return data / "spool"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "app"
    folder.mkdir()
    trusted_project(folder, 'bank = "app"\n')
    return folder


def a_session(project: Path) -> list[dict[str, object]]:
    return [
        common("SessionStart", project, source="startup"),
        prompt(project, "Which tokens do APIs take?"),
        bash(project, "grep -rn jwt .", "auth.py: jwt"),
        stop(project, "They take JWT."),
        common("PreCompact", project, trigger="auto"),
        common("SessionEnd", project, reason="other"),
    ]


def test_noisy_hooks_say_nothing_by_default(spool: Path, project: Path) -> None:
    """MemPalace: an old-style save blocks the agent with a reason, again and again."""
    for payload in a_session(project) * 20:
        done = ran(payload, spool)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_blocking_hooks_do_not_wait_for_a_bank_that_is_held(data: Path, spool: Path, project: Path) -> None:
    """MemPalace: the hook mines and writes in its own process, and waits for the palace's lock."""
    with pieria.open("app", data=data) as bank, bank.core.store.writing():
        done = ran(prompt(project, "Hello"), spool)
    assert done.returncode == 0
    assert [event["text"] for event in events(spool)] == ["Hello"]


def test_losing_data_a_session_that_ends_at_once_is_saved_whole(data: Path, spool: Path, project: Path) -> None:
    """MemPalace: turns after the fifteenth message are lost at the end of the session. Pieria needs no end event."""
    for payload in a_session(project)[:4]:
        ran(payload, spool)
    drained(data)
    assert turns(data, "app") == ["Which tokens do APIs take?", "They take JWT."]


def test_losing_data_a_marker_is_not_moved_before_the_write(data: Path, spool: Path, project: Path) -> None:
    """MemPalace: the marker of saved turns moved although the save had failed."""
    ran(prompt(project, "Hello"), spool)
    ran(stop(project, "Hi."), spool)
    (data / "app.db").mkdir()
    with pytest.raises(pieria.PieriaError):
        drained(data)
    (data / "app.db").rmdir()
    with pieria.open("app", data=data) as bank:
        assert bank.hooks.last() is None
        drained(data)
        last = bank.hooks.last()
        assert last is not None
        assert last.messages == bank.count(kinds="turn") == 2


def test_polluted_wings_everything_goes_to_the_bank_of_its_folder(data: Path, spool: Path, tmp_path: Path) -> None:
    """MemPalace: all turns from all folders went into one wing."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        trusted_project(tmp_path / name, f'bank = "{name}"\n')
        (tmp_path / name / "deep").mkdir()
        ran(prompt(tmp_path / name / "deep", f"in {name}"), spool)
    drained(data)
    assert (turns(data, "one"), turns(data, "two")) == (["in one"], ["in two"])


def test_filed_away_is_told_more_than_once(data: Path, spool: Path, project: Path) -> None:
    """MemPalace: the first call that asks what was saved takes it away from the next call."""
    for payload in a_session(project):
        ran(payload, spool)
    drained(data)
    command = "import sys; from pieria.doors.cli import main; main()"
    told = [
        json.loads(
            subprocess.run(
                [
                    sys.executable,
                    "-c",
                    command,
                    "call",
                    "mempalace_memories_filed_away",
                    "--bank",
                    "app",
                    "--data",
                    data,
                ],
                capture_output=True,
                check=True,
            ).stdout
        )
        for _ in range(2)
    ]
    assert told[0] == told[1]
    assert told[0]["message_count"] == 2


def test_observers_do_not_observe_themselves(data: Path, spool: Path, project: Path) -> None:
    """claude-mem: answers of the memory were captured, summarised and answered again."""
    ran(bash(project, "pieria recall 'tokens?'", "1  They take JWT."), spool)
    ran(common("PostToolUse", project, tool_name="mcp__pieria__mnemosyne_recall", tool_input={"query": "tokens?"},
               tool_response=[{"type": "text", "text": "They take JWT."}], tool_use_id="t"), spool)  # fmt: skip
    assert events(spool) == []


def test_secrets_are_cut_without_anybody_asking_for_it(spool: Path, project: Path) -> None:
    """open-mem: the documented redaction had no patterns until a user wrote some."""
    ran(bash(project, "cat .env", "STRIPE_KEY=sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc"), spool)
    assert b"4eC39HqLyjWDarjtT1zdp7dc" not in on_disk(project.parent)


def test_no_process_is_left_behind(spool: Path, project: Path) -> None:
    """claude-mem: each hook left a worker running, until there were hundreds."""
    begun = subprocess.Popen(
        [sys.executable, "-I", "-S", str(HOOK), "claude-code", str(spool)],
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
    begun.communicate(json.dumps(prompt(project, "Hello")).encode(), timeout=30)
    with pytest.raises(ProcessLookupError):
        os.killpg(begun.pid, 0)


def test_a_spool_does_not_grow_with_what_tools_put_out(spool: Path, project: Path) -> None:
    """claude-mem: 136 GB, nearly all of it raw output."""
    for number in range(5):
        ran(bash(project, "make", "line of a log\n" * 200_000, number), spool)
    assert (spool / hook.LIVE).stat().st_size < 5 * 3_000
