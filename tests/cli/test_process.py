"""The entry point: exit codes, closed pipes, encodings, signals, imports, and terminals."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest
from click.testing import CliRunner
from tests.cli.conftest import ENTRY, Answer, Ask, Run, Started

import pieria
from pieria import Bank
from pieria.doors.cli.call import Call
from pieria.doors.cli.root import cli
from pieria.errors import BusyError

LINE = '"a lamp that stands in the hall, and shines"\n'


def loaded(environment: dict[str, str], *arguments: str) -> set[str]:
    """Return the packages that a command loads."""
    program = (
        "import sys\nbefore = set(sys.modules)\nfrom pieria.doors.cli import main\n"
        "try:\n    main()\nfinally:\n    sys.stderr.write('\\n'.join(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [ENTRY[0], "-c", program, *arguments], env=environment, capture_output=True, check=True, text=True, timeout=60
    )
    return set(done.stderr.split())


def test_help_loads_nothing_heavy(environment: dict[str, str]) -> None:
    modules = loaded(environment, "--help")
    assert "click" in modules
    assert {"rich", "pydantic", "sqlite3", "json", "logging", "asyncio", "numpy"} & modules == set()
    assert [name for name in modules if name.startswith("pieria.") and not name.startswith("pieria.doors")] == []


BESIDE = {
    *("asyncio", "http", "ssl", "pydantic_settings", "rich"),
    *("pieria.config", "pieria.facts", "pieria.graph", "pieria.sessions", "pieria.toolsets", "pieria.transfer"),
    *("pieria.upkeep", "pieria.learning.distilling", "pieria.learning.lessons", "pieria.models.mind"),
    *("pieria.models.minds", "pieria.language.intent", "pieria.vault.folder", "pieria.vault.note"),
    *("pieria.bank.capture.distill", "pieria.bank.facts.from_text", "pieria.bank.facts.verbs"),
    *("pieria.bank.upkeep.verbs", "pieria.bank.read.context_answer", "pieria.bank.transfer.files"),
    "pieria.bank.vault.verbs",
}
"""Packages that plain commands do not need."""
ASKED = {"pieria.recall", "pieria.bank.read.answer", "pieria.language.asks", "pieria.language.timewords"}
"""Packages that only a question needs."""


NEEDLESS = {
    "remember lamp": BESIDE | ASKED, "recall JWT": BESIDE, "count": BESIDE | ASKED, "get jwt": BESIDE | ASKED,
    "capture": BESIDE | ASKED, "list": {"rich"}, "stats": {"rich"}, "facts query": {"rich"},
}  # fmt: skip
FAST = ("remember lamp", "recall JWT")


@pytest.mark.parametrize("line", [pytest.param(line, marks=[pytest.mark.slow][line in FAST :]) for line in NEEDLESS])
@pytest.mark.usefixtures("bank")
def test_commands_load_only_what_they_need(environment: dict[str, str], line: str) -> None:
    modules = loaded(environment, *line.split())
    assert "pieria.bank" in modules
    needless = tuple(f"{name}." for name in NEEDLESS[line])
    assert {name for name in modules if f"{name}.".startswith(needless)} == set()


def test_overview_loads_no_settings_and_no_store(environment: dict[str, str], bank: Bank) -> None:
    modules = loaded(environment)
    assert "pieria.glance" in modules
    assert {"rich", "pydantic", "pieria.settings", "pieria.workspace", "pieria.bank", "numpy"} & modules == set()


def test_bare_group_shows_help_and_version_is_short(ask: Ask) -> None:
    assert ask("--version").out == f"pieria {pieria.__version__}\n"
    for group in (["facts"], ["scratchpad"]):
        bare = ask(*group)
        assert (bare.code, bare.err) == (0, "")
        assert bare.out == ask(*group, "--help").out


def test_wrong_usage_exits_with_two(run: Run, ask: Ask) -> None:
    wrong = run("remember", b"caf\xe9")
    assert (wrong.returncode, wrong.stdout) == (2, b"")
    assert b"error: " in wrong.stderr and b"UTF-8" in wrong.stderr and b"Traceback" not in wrong.stderr
    for arguments in (("--json", "recal"), ("get", "--json"), ("recall", "--colour", "--json")):
        error = ask(*arguments).error
        assert (error["code"], "--help" in error["hint"]) == ("usage", True)


@pytest.mark.usefixtures("bank")
def test_failures_exit_with_one_three_or_four(ask: Ask, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = home / "data"
    (data / "foreign.db").write_text("this is something else altogether\n" * 100)
    failed = ask("list", "--bank", "foreign", "--json")
    assert (failed.code, failed.error["code"]) == (3, "foreign_file")
    (data / "damaged.db").write_bytes(b"SQLite format 3\0" + b"\x10\0" + bytes(5000))
    assert ask("list", "--bank", "damaged").code == 3
    monkeypatch.setenv("PIERIA_SECRETS", "refuse")
    assert ask("remember", f"key AKIA{'Q7' * 8}").code == 1

    def busy(*_: object, **__: object) -> NoReturn:
        raise BusyError("write", "another process kept it locked")

    monkeypatch.setattr(Bank, "remember", busy)
    answer = ask("remember", "x", "--json")
    assert (answer.code, answer.error["retryable"]) == (4, True)


def test_internal_error_exits_with_seventy(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(call: Call) -> None:
        raise RuntimeError("a \x1b[31mfault")

    monkeypatch.setattr(Call, "workspace", broken)
    plain = ask("where", "--json")
    assert (plain.code, plain.error["code"]) == (70, "unknown_error")
    assert "RuntimeError" in plain.err and "--debug" in plain.err
    assert "Traceback" not in plain.err and "\x1b" not in plain.err
    assert "Traceback" in ask("where", "--debug").err


@pytest.mark.parametrize("unbuffered", [pytest.param("", marks=pytest.mark.slow), "1"])
def test_closed_reader_ends_the_command(
    environment: dict[str, str], started: Started, ask: Ask, unbuffered: str
) -> None:
    ask("remember", "--many", "-", stdin=LINE * 2000)
    with started("list", "-n", "2000", env={**environment, "PYTHONUNBUFFERED": unbuffered}) as process:
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 141


@pytest.mark.slow
@pytest.mark.parametrize("closed", [0, 1, 2])
def test_stream_closed_from_the_start_does_no_harm(started: Started, ask: Ask, bank: Bank, closed: int) -> None:
    with started(
        "remember", "kept all the same", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE if closed != 2 else None,
        preexec_fn=lambda: os.close(closed),
    ) as process:  # fmt: skip
        said = process.communicate(timeout=60)[1]
    assert (process.returncode, said or b"") == (0, b"")
    assert ask("count").json == {"count": 4}
    assert ask("doctor").code == 0


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.usefixtures("bank")
def test_answer_that_cannot_be_written_is_an_error(environment: dict[str, str], started: Started) -> None:
    for unbuffered in ("", "1"):
        env = {**environment, "PYTHONUNBUFFERED": unbuffered}
        with open("/dev/full", "wb") as full, started("list", stdout=full, env=env) as process:
            said = process.communicate(timeout=60)[1]
        assert (process.returncode, b"error: the output" in said, b"Traceback" in said) == (3, True, False)


def test_any_encoding_can_show_any_text(ask: Ask) -> None:
    text = "naïve 日本語 ✓ 🎉"
    ask("remember", text, "--id", "odd")
    for encoding in ("ascii", "latin-1", "cp1252", "utf-8"):
        runner = CliRunner(charset=encoding)
        as_json = runner.invoke(cli, ["list", "--json"])
        assert json.loads(as_json.stdout_bytes.decode(encoding))["memories"][0]["text"] == text
        for line in (["list"], ["recall", "naïve"], ["doctor"], ["get", "odd"]):
            shown = runner.invoke(cli, [*line, "--no-json"])
            assert (shown.exit_code, bool(shown.stdout_bytes.decode(encoding))) == (0, True)


@pytest.mark.slow
def test_interrupt_ends_with_one_word(started: Started) -> None:
    """A job in the background would be born deaf to the signal."""
    hears = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
    with started("remember", "--many", "-", **hears) as process:
        process.stdin.write(LINE.encode() * 10_000)
        process.stdin.flush()  # more than a pipe holds: the command has begun to read
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"interrupted\n")


def test_colours_are_for_terminals_that_want_them(terminal: Callable[..., Answer], ask: Ask, bank: Bank) -> None:
    assert "3 memories" in terminal("list").out
    assert json.loads(terminal("list", "--json", env={"NO_COLOR": "1"}).out)["memories"]
    for arguments, coloured in ((("remember", "x"), "\x1b[32m"), (("get", "nowhere"), "\x1b[31m")):
        assert coloured in terminal(*arguments).out
        assert coloured not in terminal(*arguments, env={"NO_COLOR": "1"}).out
        assert "\x1b[" not in terminal(*arguments, env={"TERM": "dumb"}).out
    assert "\x1b[" not in ask("remember", "x", "--no-json").out


def test_tables_and_questions_fit_the_terminal(terminal: Callable[..., Answer], ask: Ask) -> None:
    ask("remember", "a very long text that goes on and on " * 20, "-t", "tag", "--place", "wing/room")
    for width in (30, 60, 100, 200):
        shown = re.sub(r"\x1b\[[\d;]*m", "", terminal("list", width=width).out).splitlines()
        assert max(map(len, shown)) <= width
        assert "a very" in shown[1]
        assert ("wing/room" in shown[1]) is (width >= 110)
    missing = terminal("remember")
    assert missing.code == 2
    assert "pipe it in" in missing.out


def test_long_work_shows_a_bar_on_a_terminal_alone(
    terminal: Callable[..., Answer], ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pieria.doors.cli.console.MANY", 2_000)
    (tmp_path / "many.jsonl").write_text(LINE * 2_400)
    many = ("remember", "--many", str(tmp_path / "many.jsonl"))
    watched = terminal(*many, "--bank", "a").out
    assert "remembering" in watched and "%" in watched
    assert "2,400 memories" in watched
    assert "remembering" not in terminal(*many, "--bank", "b", "-q").out
    assert ask(*many, "--bank", "c").err == ""
