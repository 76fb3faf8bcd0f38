"""Processes for tests, forked from a server that has imported everything, so that a start takes milliseconds.

Work is a function of a module, since the server finds it by name. A failure comes back with its traceback. This
module knows nothing of the tests.
"""

import multiprocessing
import os
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, chdir, contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from multiprocessing.forkserver import ensure_running
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

PATIENCE = 60.0
"""Seconds after which a silent process counts as stuck."""

FORKED: ForkServerContext = multiprocessing.get_context("forkserver")
FORKED.set_forkserver_preload(["tests.durability.preloaded"])
ROOT = Path(__file__).parents[2]
SEARCHED = os.pathsep.join([str(ROOT), str(ROOT / "src")])
"""The module search path of the processes."""

Work = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Failed:
    """The message of a process whose work raised an exception."""

    trace: str


@dataclass(frozen=True, slots=True)
class Worker:
    """A process and our end of its pipe. The work gets the other end as its first argument."""

    process: BaseProcess
    pipe: Connection

    def receive(self, patience: float = PATIENCE) -> Any:
        """Return the next message. If the process failed, raise its failure here."""
        assert self.pipe.poll(patience), "the process says nothing"
        said = self.pipe.recv()
        assert not isinstance(said, Failed), said.trace
        return said

    def rest(self) -> Iterator[Any]:
        """Yield all messages until the process ends. A message cut off by a kill is none."""
        while True:
            try:
                yield self.receive()
            except (EOFError, OSError):
                return

    def finish(self) -> list[Any]:
        said = list(self.rest())
        self.process.join(PATIENCE)
        assert self.process.exitcode == 0, f"exit code {self.process.exitcode}"
        return said

    def kill(self) -> list[Any]:
        """Kill the process. Return the messages it sent before."""
        self.process.kill()
        said = list(self.rest())
        self.process.join(PATIENCE)
        return said


def _start_server() -> None:
    """Start the server unless it runs. It keeps the module path and the folder of this moment."""
    with pytest.MonkeyPatch.context() as patch, chdir(ROOT):
        patch.setenv("PYTHONPATH", SEARCHED)
        ensure_running()


def _work(work: Work, pipe: Connection, environment: Mapping[str, str], arguments: tuple[Any, ...]) -> None:
    os.environ.clear()
    os.environ.update(environment)
    try:
        work(pipe, *arguments)
    except BaseException:  # noqa: BLE001 - told to the parent, and raised there
        pipe.send(Failed(traceback.format_exc()))
        raise SystemExit(1) from None


@contextmanager
def working(work: Work, *arguments: Any) -> Iterator[Worker]:
    """Run the work in a process with the test's environment. The process is killed at the end in any case."""
    _start_server()
    ours, theirs = FORKED.Pipe()
    environment = {**os.environ, "PYTHONPATH": SEARCHED}
    process = FORKED.Process(target=_work, args=(work, theirs, environment, arguments))
    process.start()
    theirs.close()
    try:
        yield Worker(process, ours)
    finally:
        process.kill()
        process.join(PATIENCE)
        process.close()
        ours.close()


def done(work: Work, *arguments: Any) -> list[Any]:
    with working(work, *arguments) as worker:
        return worker.finish()


def killed(work: Work, *arguments: Any, after: int = 1, moment: float = 0.0) -> list[Any]:
    """Kill a process a moment after it sent so many messages. Return all its messages."""
    with working(work, *arguments) as worker:
        said = [worker.receive() for _ in range(after)]
        worker.process.join(moment)
        return said + worker.kill()


@contextmanager
def started_together(work: Work, *calls: tuple[Any, ...]) -> Iterator[list[Worker]]:
    """Run the work once for each tuple of arguments. All go on from `ready_to_go` at the same moment."""
    with ExitStack() as stack:
        workers = [stack.enter_context(working(work, *arguments)) for arguments in calls]
        for worker in workers:
            assert worker.receive() == "ready"
        for worker in workers:
            worker.pipe.send("go")
        yield workers


def ready_to_go(pipe: Connection) -> None:
    pipe.send("ready")
    assert pipe.recv() == "go"
