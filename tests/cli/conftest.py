"""Run the command line in this process, on pipes or on a terminal; as a process only to test streams and signals."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest
from click.testing import CliRunner

import pieria
from pieria import Bank

SOURCE = Path(__file__).parents[2] / "src"
APPEARANCE = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TERM", "PYTHONUNBUFFERED", "PYTHONIOENCODING")
"""Variables for looks and streams that the caller may have set; tests set what they need."""
ENTRY = [sys.executable, "-c", "from pieria.doors.cli import main; main()"]


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.code == 0, self.err
        return json.loads(self.out)

    @property
    def ids(self) -> list[str]:
        return self.out.split()

    @property
    def words(self) -> str:
        """The output without line ends, as it may be wrapped."""
        return " ".join(self.out.split())

    @property
    def error(self) -> Any:
        """The error that `--json` writes last."""
        return json.loads(self.err.splitlines()[-1])["error"]

    def failed(self, code: int) -> str:
        """Return what is said of the failure, without line ends."""
        assert self.code == code, self.err or self.out
        return " ".join(self.err.split())


class Ask(Protocol):
    def __call__(self, *args: str, stdin: str | bytes | None = None) -> Answer: ...


Run = Callable[..., subprocess.CompletedProcess[bytes]]
Started = Callable[..., AbstractContextManager[Any]]


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend that a person at a terminal types the commands of this process."""
    monkeypatch.setattr("pieria.doors.cli.person.is_person", lambda: True)


@pytest.fixture
def ask() -> Ask:
    """Return a function that runs `pieria ARGS` in this process, into a pipe."""
    from pieria.doors.cli.root import cli

    def asked(*args: str, stdin: str | bytes | None = None) -> Answer:
        result = CliRunner().invoke(cli, list(args), input=stdin)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return Answer(result.exit_code, result.stdout, result.stderr)

    return asked


@pytest.fixture
def environment() -> dict[str, str]:
    """Return the environment for a process of ours, with the test's home."""
    kept = {name: value for name, value in os.environ.items() if name not in APPEARANCE}
    return {**kept, "PYTHONPATH": str(SOURCE), "PYTHONDONTWRITEBYTECODE": "1"}


@pytest.fixture
def run(environment: dict[str, str]) -> Run:
    """Return a function that runs `pieria ARGS` as a process."""

    def ran(*args: str | bytes) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([*ENTRY, *args], input=b"", capture_output=True, check=False, timeout=60, env=environment)

    return ran


@pytest.fixture
def started(environment: dict[str, str]) -> Started:
    """Return a function that starts `pieria ARGS` as a process with pipes. In the end it is killed if it still runs."""

    @contextmanager
    def starts(*args: str, **more: Any) -> Iterator[Any]:
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        with subprocess.Popen([*ENTRY, *args], **{"env": environment, **pipes, **more}) as process:
            try:
                yield process
            finally:
                process.kill()

    return starts


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Answer]:
    """Return a function that runs `pieria ARGS` in this process, on a terminal of its own; its output is `out`."""
    from pieria.doors.cli.root import cli

    def ran(*args: str, width: int = 100, typed: str = "", env: dict[str, str] | None = None) -> Answer:
        leader, follower = pty.openpty()
        os.write(leader, typed.encode())
        with ThreadPoolExecutor(1) as reading, monkeypatch.context() as patch, pytest.raises(SystemExit) as ended:
            said = reading.submit(_all_of, leader)
            for name in APPEARANCE:
                patch.delenv(name, raising=False)
            for name, value in {"TERM": "xterm-256color", "COLUMNS": str(width), **(env or {})}.items():
                patch.setenv(name, value)
            with ExitStack() as streams:
                for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
                    stream = streams.enter_context(open(os.dup(follower), mode, encoding="utf-8"))
                    patch.setattr(sys, name, stream)
                os.close(follower)
                cli.main(args)
        os.close(leader)
        return Answer(int(ended.value.code or 0), said.result().decode().replace("\r\n", "\n"), "")

    return ran


def _all_of(terminal: int) -> bytes:
    """Return all output, up to the error that a terminal raises once its other end is closed."""
    said = b""
    with suppress(OSError):
        while part := os.read(terminal, 1 << 16):
            said += part
    return said


@pytest.fixture
def bank() -> Any:
    """Yield the command line's default bank, with a few memories."""
    with pieria.open() as opened:
        opened.remember("We chose JWT for all new APIs.", id="jwt", tags=["auth"], importance=0.8)
        opened.remember("Maya moved to the billing team.", id="maya", entities=["Maya"], at="2026-01-10")
        opened.remember("The retry queue holds failed payments.", id="queue", place="billing/queue")
        yield opened


@pytest.fixture
def reopened() -> Callable[[], Bank]:
    return pieria.open
