"""Processes for tests, forked from a server that has imported everything, so that a start takes milliseconds.

Work is a function of a module, since the server finds it by name. A failure comes back with its traceback. This
module knows nothing of the tests.
"""

import multiprocessing
import os
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext, SpawnContext
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
SPAWNED: SpawnContext = multiprocessing.get_context("spawn")

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

    def finish(self, patience: float = PATIENCE) -> None:
        """Wait until the process ends, and check that it succeeded."""
        self.process.join(patience)
        while self.pipe.poll():
            try:
                said = self.pipe.recv()
            except (EOFError, ConnectionResetError):
                break
            assert not isinstance(said, Failed), said.trace
        assert self.process.exitcode == 0, f"exit code {self.process.exitcode}"


def start_server() -> None:
    """Start the server. It keeps the module path and the settings of this moment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", SEARCHED)
        patch.delenv("PIERIA_DURABILITY")
        ensure_running()


def _environment() -> dict[str, str]:
    """Return the test's environment, with the default durability."""
    held = {name: value for name, value in os.environ.items() if name != "PIERIA_DURABILITY"}
    return {**held, "PYTHONPATH": SEARCHED}


def _work(work: Work, pipe: Connection, environment: Mapping[str, str], arguments: tuple[Any, ...]) -> None:
    os.environ.clear()
    os.environ.update(environment)
    try:
        work(pipe, *arguments)
    except BaseException:  # noqa: BLE001 - told to the parent, and raised there
        pipe.send(Failed(traceback.format_exc()))
        raise SystemExit(1) from None


@contextmanager
def working(work: Work, *arguments: Any, context: ForkServerContext | SpawnContext = FORKED) -> Iterator[Worker]:
    """Run the work in a process with the test's environment. The process is killed at the end in any case."""
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(work, theirs, _environment(), arguments))
    process.start()
    theirs.close()
    try:
        yield Worker(process, ours)
    finally:
        process.kill()
        process.join(PATIENCE)
        process.close()
        ours.close()


def done(work: Work, *arguments: Any, context: ForkServerContext | SpawnContext = FORKED) -> list[Any]:
    """Return all messages of a process that must end well."""
    said = []
    with working(work, *arguments, context=context) as worker:
        while True:
            assert worker.pipe.poll(PATIENCE), "the process says nothing"
            try:
                said.append(worker.receive())
            except EOFError:
                break
        worker.finish()
    return said
