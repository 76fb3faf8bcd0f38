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
from tests.cli.conftest import ENTRY, Answer, Ask, Run

import pieria
from pieria import Bank
from pieria.doors.cli.call import Call
from pieria.doors.cli.root import cli
from pieria.errors import BusyError

LINE = '"a lamp that stands in the hall, and shines"\n'
Environment = dict[str, str]
Terminal = Callable[..., Answer]


def loaded(environment: Environment, *arguments: str) -> set[str]:
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


def test_help_loads_nothing_heavy(environment: Environment) -> None:
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


@pytest.mark.parametrize(
    ("arguments", "needless"),
    [
        pytest.param(("count",), BESIDE | ASKED, marks=pytest.mark.slow),
        pytest.param(("get", "jwt"), BESIDE | ASKED, marks=pytest.mark.slow),
        (("remember", "a lamp"), BESIDE | ASKED),
        pytest.param(("capture",), BESIDE | ASKED, marks=pytest.mark.slow),
        (("recall", "JWT"), BESIDE),
        pytest.param(("list",), {"rich"}, marks=pytest.mark.slow),
        pytest.param(("stats",), {"rich"}, marks=pytest.mark.slow),
        pytest.param(("facts", "query"), {"rich"}, marks=pytest.mark.slow),
    ],
)
@pytest.mark.usefixtures("bank")
def test_commands_load_only_what_they_need(
    environment: Environment, arguments: tuple[str, ...], needless: set[str]
) -> None:
    modules = loaded(environment, *arguments)
    assert "pieria.bank" in modules
    assert {name for name in modules if any(f"{name}.".startswith(f"{other}.") for other in needless)} == set()


def test_bare_command_shows_help_or_version(ask: Ask) -> None:
    assert ask("--version").out == f"pieria {pieria.__version__}\n"
    for group in ([], ["facts"], ["scratchpad"]):
        bare = ask(*group)
        assert (bare.code, bare.err) == (0, "")
        assert bare.out == ask(*group, "--help").out


# --- exit codes


def test_wrong_usage_exits_with_two(run: Run, ask: Ask) -> None:
    wrong = run("remember", b"caf\xe9")
    assert (wrong.returncode, wrong.stdout) == (2, b"")
    assert b"error: " in wrong.stderr and b"UTF-8" in wrong.stderr
    assert b"Traceback" not in wrong.stderr
    for arguments, said in (
        (("recal", "x"), "Did you mean recall?"),
        (("recall", "--colour"), ""),
        (("get",), ""),
        (("get", "a", "b"), ""),
        (("remember", "x", "--importance", "5"), ""),
        (("list", "-n", "x"), ""),
        (("remember",), "not blank"),
        (("facts", "querry", "x"), "Did you mean query?"),
        (("get", "caf\udce9"), "valid Unicode"),
    ):
        answer = ask(*arguments)
        assert (answer.code, answer.out) == (2, ""), arguments
        assert "error: " in answer.err and said in answer.err
    for arguments in (("--json", "recal"), ("get", "--json"), ("recall", "--colour", "--json")):
        error = json.loads(ask(*arguments).err.splitlines()[-1])["error"]
        assert (error["code"], "--help" in error["hint"]) == ("usage", True)


@pytest.mark.usefixtures("bank")
def test_failures_exit_with_one_three_or_four(ask: Ask, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = home / "data"
    (data / "foreign.db").write_text("this is something else altogether\n" * 100)
    failed = ask("list", "--bank", "foreign", "--json")
    assert failed.code == 3
    assert json.loads(failed.err.splitlines()[-1])["error"]["code"] == "foreign_file"
    (data / "damaged.db").write_bytes(b"SQLite format 3\0" + b"\x10\0" + bytes(5000))
    assert ask("list", "--bank", "damaged").code == 3
    monkeypatch.setenv("PIERIA_SECRETS", "refuse")
    for arguments in (("get", "nowhere"), ("remember", "x", "--id", "jwt"), ("remember", f"key AKIA{'Q7' * 8}")):
        assert ask(*arguments).code == 1

    def busy(*_: object, **__: object) -> NoReturn:
        raise BusyError("write", "another process kept it locked")

    monkeypatch.setattr(Bank, "remember", busy)
    answer = ask("remember", "x", "--json")
    assert answer.code == 4
    assert json.loads(answer.err.splitlines()[-1])["error"]["retryable"] is True


def test_internal_error_exits_with_seventy(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(call: Call) -> None:
        raise RuntimeError("a \x1b[31mfault")

    monkeypatch.setattr(Call, "workspace", broken)
    plain = ask("where", "--json")
    assert plain.code == 70
    assert "RuntimeError" in plain.err and "--debug" in plain.err
    assert "Traceback" not in plain.err and "\x1b" not in plain.err
    assert json.loads(plain.err.splitlines()[-1])["error"]["code"] == "unknown_error"
    assert "Traceback" in ask("where", "--debug").err


# --- streams


@pytest.mark.parametrize("unbuffered", [pytest.param("", marks=pytest.mark.slow), "1"])
def test_reader_that_goes_away_ends_the_command(environment: Environment, ask: Ask, unbuffered: str) -> None:
    ask("remember", "--many", "-", stdin=LINE * 2000)
    process = subprocess.Popen(
        [*ENTRY, "list", "-n", "2000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**environment, "PYTHONUNBUFFERED": unbuffered},
    )  # fmt: skip
    assert process.stdout and process.stderr
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=60) == 141


@pytest.mark.slow
@pytest.mark.parametrize("closed", [0, 1, 2])
def test_stream_closed_from_the_start_does_no_harm(environment: Environment, ask: Ask, bank: Bank, closed: int) -> None:
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


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.usefixtures("bank")
def test_answer_that_cannot_be_written_is_an_error(environment: Environment) -> None:
    for unbuffered in ("", "1"):
        with open("/dev/full", "wb") as full:
            done = subprocess.run(
                [*ENTRY, "list"], stdout=full, stderr=subprocess.PIPE, check=False, timeout=60,
                env={**environment, "PYTHONUNBUFFERED": unbuffered},
            )  # fmt: skip
        assert done.returncode == 3
        assert b"error: the output" in done.stderr
        assert b"Traceback" not in done.stderr


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
def test_interrupt_ends_with_one_word(environment: Environment) -> None:
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


# --- terminals


def test_colours_are_for_terminals_that_want_them(terminal: Terminal, ask: Ask, bank: Bank) -> None:
    assert "3 memories" in terminal("list").out
    assert json.loads(terminal("list", "--json", env={"NO_COLOR": "1"}).out)["memories"]
    for arguments, coloured in ((("remember", "x"), "\x1b[32m"), (("get", "nowhere"), "\x1b[31m")):
        assert coloured in terminal(*arguments).out
        assert coloured not in terminal(*arguments, env={"NO_COLOR": "1"}).out
        assert "\x1b[" not in terminal(*arguments, env={"TERM": "dumb"}).out
    assert "\x1b[" not in ask("remember", "x", "--no-json").out


def test_tables_and_questions_fit_the_terminal(terminal: Terminal, ask: Ask) -> None:
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
    terminal: Terminal, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pieria.doors.cli.console.MANY", 2_000)
    (tmp_path / "many.jsonl").write_text(LINE * 2_400)
    many = ("remember", "--many", str(tmp_path / "many.jsonl"))
    watched = terminal(*many, "--bank", "a").out
    assert "remembering" in watched and "%" in watched
    assert "2,400 memories" in watched
    assert "remembering" not in terminal(*many, "--bank", "b", "-q").out
    assert ask(*many, "--bank", "c").err == ""
