"""The entry point as a process: exit codes, closed pipes, encodings, signals, and imports."""

import json
import os
import re
import signal
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import ENTRY, Answer, Ask, Run

from pieria import Bank

LINE = '"a lamp that stands in the hall, and shines"\n'


def loaded(run: Run, environment: dict[str, str], *arguments: str) -> set[str]:
    """Return the packages that a command loads."""
    program = (
        "import sys\nbefore = set(sys.modules)\nfrom pieria.doors.cli import main\n"
        "try:\n    main()\nfinally:\n    sys.stderr.write('\\n'.join(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [ENTRY[0], "-c", program, *arguments], env=environment, capture_output=True, check=True, text=True, timeout=60
    )
    return set(done.stderr.split())


# --- start


def test_help_loads_click_and_nothing_heavy(run: Run, environment: dict[str, str]) -> None:
    modules = loaded(run, environment, "--help")
    assert "click" in modules
    heavy = {"rich", "pydantic", "sqlite3", "json", "logging", "asyncio", "numpy"}
    assert heavy & modules == set()
    ours = {name for name in modules if name.startswith("pieria.") and not name.startswith("pieria.doors")}
    assert ours == set()


def test_a_pipe_needs_no_rich(run: Run, environment: dict[str, str], bank: Bank) -> None:
    for arguments in (("recall", "JWT"), ("list",), ("stats",), ("get", "jwt"), ("facts", "query")):
        assert "rich" not in loaded(run, environment, *arguments)


BESIDE = {
    *("asyncio", "http", "ssl", "pydantic_settings", "rich"),
    *("pieria.config", "pieria.facts", "pieria.graph", "pieria.sessions", "pieria.toolsets", "pieria.transfer"),
    *("pieria.upkeep", "pieria.learning.distilling", "pieria.learning.lessons", "pieria.models.mind"),
    *("pieria.models.minds", "pieria.language.intent", "pieria.vault.folder", "pieria.vault.note"),
    *(
        "pieria.bank.capture.distill",
        "pieria.bank.facts.from_text",
        "pieria.bank.facts.verbs",
        "pieria.bank.upkeep.verbs",
    ),
    *("pieria.bank.read.context_answer", "pieria.bank.transfer.files", "pieria.bank.vault.verbs"),
}
"""Packages that plain commands do not need."""
ASKED = {"pieria.recall", "pieria.bank.read.answer", "pieria.language.asks", "pieria.language.timewords"}
"""Packages that only a question needs."""


@pytest.mark.parametrize(
    ("arguments", "needless"),
    [
        (("count",), BESIDE | ASKED),
        (("get", "jwt"), BESIDE | ASKED),
        (("remember", "a lamp"), BESIDE | ASKED),
        (("capture",), BESIDE | ASKED),
        (("recall", "JWT"), BESIDE),
    ],
)
def test_a_plain_command_loads_nothing_that_it_has_no_use_for(
    run: Run, environment: dict[str, str], bank: Bank, arguments: tuple[str, ...], needless: set[str]
) -> None:
    modules = loaded(run, environment, *arguments)
    assert "pieria.bank" in modules
    assert {name for name in modules if any(f"{name}.".startswith(f"{other}.") for other in needless)} == set()


def test_the_version_is_that_of_the_package(run: Run) -> None:
    import pieria

    assert run("--version").stdout.decode() == f"pieria {pieria.__version__}\n"


def test_without_a_command_the_overview_is_shown(run: Run) -> None:
    assert run().stdout == run("--help").stdout
    assert run().returncode == 0


# --- exit codes


def test_what_is_not_there_or_refused_is_one(run: Run, bank: Bank) -> None:
    assert run("get", "nowhere").returncode == 1
    assert run("remember", "x", "--id", "jwt").returncode == 1
    assert run("remember", f"key AKIA{'Q7' * 8}", env={"PIERIA_SECRETS": "refuse"}).returncode == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("recal",),
        ("recall", "--colour"),
        ("get",),
        ("get", "a", "b"),
        ("remember", "x", "--importance", "5"),
        ("list", "-n", "x"),
    ],
)
def test_what_is_asked_wrongly_is_two(run: Run, arguments: tuple[str, ...]) -> None:
    wrong = run(*arguments)
    assert wrong.returncode == 2
    assert wrong.stdout == b""
    assert b"error: " in wrong.stderr
    assert b"Traceback" not in wrong.stderr


@pytest.mark.parametrize("arguments", [("--json", "recal"), ("get", "--json"), ("recall", "--colour", "--json")])
def test_a_line_that_cannot_be_read_is_told_as_json_too(run: Run, arguments: tuple[str, ...]) -> None:
    error = json.loads(run(*arguments).stderr.splitlines()[-1])["error"]
    assert error["code"] == "usage"
    assert "--help" in error["hint"]


def test_a_command_that_is_misspelt_is_told_the_nearest(run: Run) -> None:
    assert b"Did you mean recall?" in run("recal", "x").stderr
    assert b"Did you mean query?" in run("facts", "querry", "x").stderr


@pytest.mark.parametrize("group", ["facts", "scratchpad"])
def test_a_group_without_a_command_shows_what_it_takes(run: Run, group: str) -> None:
    bare = run(group)
    assert (bare.returncode, bare.stderr) == (0, b"")
    assert bare.stdout == run(group, "--help").stdout


def test_a_store_that_fails_is_three(run: Run, home: Path) -> None:
    data = home / "data"
    data.mkdir()
    (data / "foreign.db").write_text("this is something else altogether\n" * 100)
    failed = run("list", "--bank", "foreign", "--json")
    assert failed.returncode == 3
    assert json.loads(failed.stderr.splitlines()[-1])["error"]["code"] == "foreign_file"
    damaged = bytearray(b"SQLite format 3\0" + b"\x10\0" + bytes(5000))
    (data / "damaged.db").write_bytes(damaged)
    assert run("list", "--bank", "damaged").returncode == 3


def test_a_store_that_is_busy_is_four(run: Run, bank: Bank, home: Path) -> None:
    bank.close()
    holder = sqlite3.connect(home / "data" / "default.db", isolation_level=None)
    try:
        holder.execute("BEGIN IMMEDIATE")
        busy = run("remember", "x", "--json", env={"PIERIA_BUSY_SECONDS": "5"})
    finally:
        holder.close()
    assert busy.returncode == 4
    assert json.loads(busy.stderr.splitlines()[-1])["error"]["retryable"] is True


# --- streams


def test_a_reader_that_goes_away_ends_it_without_a_word(environment: dict[str, str], ask: Ask) -> None:
    ask("remember", "--many", "-", stdin=LINE * 2000)
    for unbuffered in ("", "1"):
        process = subprocess.Popen(
            [*ENTRY, "list", "-n", "2000"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**environment, "PYTHONUNBUFFERED": unbuffered},
        )
        assert process.stdout and process.stderr
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        process.stderr.close()
        assert process.wait(timeout=60) == 141


@pytest.mark.parametrize("closed", [0, 1, 2])
def test_a_stream_that_is_closed_from_the_start_harms_nothing(
    environment: dict[str, str], ask: Ask, bank: Bank, closed: int
) -> None:
    process = subprocess.Popen(
        [*ENTRY, "remember", "kept all the same"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE if closed != 2 else None,
        env=environment,
        preexec_fn=lambda: os.close(closed),  # noqa: PLW1509 - nothing else runs in this process
    )
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 0
    assert not said
    assert ask("count").json == {"count": 4}
    assert ask("doctor").code == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_an_answer_that_cannot_be_written_is_told(environment: dict[str, str], bank: Bank, unbuffered: str) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*ENTRY, "list"], stdout=full, stderr=subprocess.PIPE, check=False, timeout=60,
            env={**environment, "PYTHONUNBUFFERED": unbuffered},
        )  # fmt: skip
    assert done.returncode == 3
    assert b"error: the output" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_any_encoding_can_show_any_text(ask: Ask, environment: dict[str, str], encoding: str) -> None:
    text = "naïve 日本語 ✓ 🎉"
    ask("remember", text, "--id", "odd")
    lines = [
        ["list", "--json"],
        *([*line, "--no-json"] for line in (["list"], ["recall", "naïve"], ["doctor"], ["get", "odd"])),
    ]
    program = (
        "import json, sys\nfrom pieria.doors.cli import main\nfor line in json.loads(sys.argv[1]):\n"
        "    sys.argv[1:] = line\n    try:\n        main()\n"
        "    except SystemExit as ended:\n        assert not ended.code, line"
    )
    done = subprocess.run(
        [ENTRY[0], "-c", program, json.dumps(lines)], capture_output=True, check=False, timeout=60,
        env={**environment, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"},
    )  # fmt: skip
    # `doctor` reports missing scripts of the web page.
    told = [line for line in done.stderr.splitlines() if b"make web" not in line]
    assert (done.returncode, told) == (0, [])
    as_json, _, shown = done.stdout.decode(encoding).partition("\n")
    assert json.loads(as_json)["memories"][0]["text"] == text
    assert shown


def test_bytes_on_the_line_that_are_no_text_are_refused(run: Run) -> None:
    refused = run("remember", b"caf\xe9")
    assert refused.returncode == 2
    assert b"UTF-8" in refused.stderr
    assert run("get", b"caf\xe9").returncode == 2


# --- signals


def test_an_interrupt_ends_it_in_a_word(environment: dict[str, str]) -> None:
    process = subprocess.Popen(
        [*ENTRY, "remember", "--many", "-"], env=environment,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - a background job is born deaf to it
    )  # fmt: skip
    assert process.stdin and process.stdout and process.stderr
    process.stdin.write(LINE.encode() * 10_000)
    process.stdin.flush()  # more than a pipe holds: the command has begun to read
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"interrupted\n")


# --- internal errors


@pytest.fixture
def broken(environment: dict[str, str]) -> Callable[..., Any]:
    """Return a runner for a command line whose `where` raises an internal error."""

    def ran(*arguments: str) -> Any:
        program = (
            "from pieria.doors.cli import main\n"
            "from pieria.doors.cli.call import Call\n"
            "def workspace(self): raise RuntimeError('a \\x1b[31mfault')\n"
            "Call.workspace = workspace\nmain()"
        )
        return subprocess.run(
            [ENTRY[0], "-c", program, *arguments],
            env=environment,
            capture_output=True,
            check=False,
            text=True,
            timeout=60,
        )

    return ran


def test_an_unforeseen_fault_is_told_in_a_line_and_its_traceback_on_demand(broken: Callable[..., Any]) -> None:
    plain = broken("where", "--json")
    assert plain.returncode == 70
    assert "RuntimeError" in plain.stderr
    assert "--debug" in plain.stderr
    assert "Traceback" not in plain.stderr
    assert "\x1b" not in plain.stderr
    assert json.loads(plain.stderr.splitlines()[-1])["error"]["code"] == "unknown_error"
    assert "Traceback" in broken("where", "--debug").stderr


# --- terminals


def test_a_terminal_shows_tables_and_a_pipe_gets_json(terminal: Callable[..., Answer], ask: Ask, bank: Bank) -> None:
    assert "3 memories" in terminal("list").out
    assert json.loads(terminal("list", "--json", env={"NO_COLOR": "1"}).out)["memories"]
    assert json.loads(ask("list").out)["memories"]


def test_colours_are_for_terminals_that_want_them(terminal: Callable[..., Answer], ask: Ask, bank: Bank) -> None:
    coloured = "\x1b[32m"
    assert coloured in terminal("remember", "x").out
    assert coloured not in terminal("remember", "x", env={"NO_COLOR": "1"}).out
    assert "\x1b[" not in terminal("remember", "x", env={"TERM": "dumb"}).out
    assert "\x1b[" not in ask("remember", "x", "--no-json").out
    assert "\x1b[31m" in terminal("get", "nowhere").out
    assert "\x1b[31m" not in terminal("get", "nowhere", env={"NO_COLOR": "1"}).out
    assert "\x1b[" not in terminal("get", "nowhere", env={"TERM": "dumb"}).out


@pytest.mark.parametrize("width", [30, 60, 100, 200])
def test_a_table_is_as_wide_as_the_terminal(terminal: Callable[..., Answer], ask: Ask, width: int) -> None:
    ask("remember", "a very long text that goes on and on " * 20, "-t", "tag", "--place", "wing/room")
    shown = re.sub(r"\x1b\[[\d;]*m", "", terminal("list", width=width).out).splitlines()
    assert max(map(len, shown)) <= width
    assert "a very" in shown[1]
    assert ("wing/room" in shown[1]) is (width >= 110)


def test_long_work_shows_a_bar_on_a_terminal_alone(terminal: Callable[..., Answer], run: Run, tmp_path: Path) -> None:
    (tmp_path / "many.jsonl").write_text(LINE * 12_000)
    watched = terminal("remember", "--many", str(tmp_path / "many.jsonl"), "--bank", "a").out
    assert "remembering" in watched
    assert "%" in watched
    assert "12,000 memories" in watched
    quiet = terminal("remember", "--many", str(tmp_path / "many.jsonl"), "--bank", "b", "-q").out
    assert "remembering" not in quiet
    assert run("remember", "--many", str(tmp_path / "many.jsonl"), "--bank", "c").stderr == b""


def test_a_text_is_asked_for_where_a_person_gives_none(terminal: Callable[..., Answer]) -> None:
    missing = terminal("remember")
    assert missing.code == 2
    assert "pipe it in" in missing.out
