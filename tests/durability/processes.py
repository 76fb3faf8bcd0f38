"""Other processes for tests: forked from a server that has everything imported, so that one costs milliseconds.

What a process is to do is a function of a module, since the server finds it by name. A failure in it comes back with
its traceback; nothing here knows what is being tested.
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
"""Seconds after which a silent process is taken for stuck."""

FORKED: ForkServerContext = multiprocessing.get_context("forkserver")
FORKED.set_forkserver_preload(["tests.durability.preloaded"])
ROOT = Path(__file__).parents[2]
SEARCHED = os.pathsep.join([str(ROOT), str(ROOT / "src")])
"""Where processes find modules."""
SPAWNED: SpawnContext = multiprocessing.get_context("spawn")

Work = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Failed:
    """What a process sends when its work raised."""

    trace: str


@dataclass(frozen=True, slots=True)
class Worker:
    """A process and the pipe to it. The work gets the other end as its first argument."""

    process: BaseProcess
    pipe: Connection

    def receive(self, patience: float = PATIENCE) -> Any:
        """What the process says next; its failure is ours."""
        assert self.pipe.poll(patience), "the process says nothing"
        said = self.pipe.recv()
        assert not isinstance(said, Failed), said.trace
        return said

    def finish(self, patience: float = PATIENCE) -> None:
        """Waits for its end, which must be a good one."""
        self.process.join(patience)
        while self.pipe.poll():
            try:
                said = self.pipe.recv()
            except (EOFError, ConnectionResetError):
                break
            assert not isinstance(said, Failed), said.trace
        assert self.process.exitcode == 0, f"exit code {self.process.exitcode}"


def start_server() -> None:
    """The server finds modules by the path it is born with, and keeps its settings for as long as it lives."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", SEARCHED)
        patch.delenv("PIERIA_DURABILITY")
        ensure_running()


def _environment() -> dict[str, str]:
    """That of the running test, with the durability that users have."""
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
    """A process at its work, with the environment of the test; whatever happens, it is gone afterwards."""
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
    """Everything a process said until its good end."""
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
