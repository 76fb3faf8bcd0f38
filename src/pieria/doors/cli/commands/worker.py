"""`pieria worker`: runs the jobs of one bank, or of all in the data folder, until stopped."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.parser import Command
from pieria.doors.cli.values import NUMBER
from pieria.errors import PieriaError
from pieria.record import check
from pieria.runtime.patience import Caller, caller

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pieria.bank import Bank
    from pieria.bank.jobs.worker import Worker
    from pieria.workspace import Workspace

WHO = "worker"
LONGEST_IDLE = 86_400.0
LATER = 30.0
"""Seconds before retrying a bank that could not be opened."""


@click.command(cls=Command)
@click.option("--once", is_flag=True, help="Stop when no job is due, and nothing waits to be embedded.")
@click.option("--idle", type=NUMBER, metavar="SECONDS", help="Stop after this long without work.")
@click.pass_obj
def worker(call: Call, /, once: bool, idle: float | None) -> None:
    """Run the jobs of the bank that --bank names; without it, of all banks in the data folder.

    The worker also stores captured events, for every bank.

    It runs until Ctrl-C or SIGTERM, and then returns its unfinished job to the queue. Any number of workers can share
    the work.
    """
    from pieria.bank.jobs.handlers import HANDLERS
    from pieria.bank.jobs.worker import Worker
    from pieria.capture.drain import Drain, DrainBehind

    longest = None if idle is None else check.number(idle, "idle", 0.0, LONGEST_IDLE)
    with call.workspace() as workspace, call.progress("working") as report:
        if call.bank is not None:
            call.check_there(workspace)
        drain = DrainBehind(workspace)
        if once:
            Drain(workspace).drain()
        banks = _Banks(call, workspace)
        working = Worker(banks, HANDLERS, told=lambda job, at: report and report(at.done, at.whole))
        drain.start()
        try:
            with _stopped_by_signals(working) as asking:
                _work(working, once, longest)
                _embed(banks, call, asking)
        finally:
            drain.close()
    tally = dict(sorted(working.tally.items()))

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.jobs import worked

        yield from worked(tally)

    call.reply({"banks": banks.names, "jobs": tally}, people, [f"{state} {count}" for state, count in tally.items()])


class _Banks:
    """The banks to work on: listed again in every round, because new ones may appear, but opened once."""

    def __init__(self, call: Call, workspace: Workspace) -> None:
        self._call = call
        self._workspace = workspace
        self._opened: dict[str, Bank | None] = {}
        self._later: dict[str, float] = {}
        """Banks that could not be opened, with the time of the next try."""

    @property
    def opened(self) -> list[Bank]:
        return [bank for bank in self._opened.values() if bank is not None]

    @property
    def names(self) -> list[str]:
        return [name for name, bank in self._opened.items() if bank is not None]

    def __call__(self) -> list[Bank]:
        if self._call.bank is not None:
            name = self._workspace.resolved.settings.bank
            self._opened.setdefault(name, None)
            self._opened[name] = self._opened[name] or self._workspace.open(who=WHO)
        else:
            for name in self._workspace.place.everything():
                if name not in self._opened and self._later.get(name, 0.0) <= time.monotonic():
                    self._open(name)
        return self.opened

    def _open(self, name: str) -> None:
        try:
            self._opened[name] = self._workspace.open(name, who=WHO, create=False)
        except PieriaError as problem:
            if problem.retryable:
                self._later[name] = time.monotonic() + LATER
                self._call.note(f"bank {name} is skipped for {LATER:g} s: {problem.message}")
                return
            self._call.note(f"bank {name} is skipped: {problem.message}")
            self._opened[name] = None


def _work(working: Worker, once: bool, idle: float | None) -> None:
    """Work in another thread, so that a signal stops it in time even while a handler waits."""
    working.start(once=once, idle=idle)
    while not working.wait(0.2) and not working.stopping:
        pass
    working.close()
    if working.problem is not None:
        raise working.problem


def _embed(banks: _Banks, call: Call, asking: Caller) -> None:
    """Make the pending vectors, which are no jobs: a bank would make them in the background, but this process ends."""
    before = caller.set(asking)
    for bank in banks.opened:
        try:
            bank.sync()
        except PieriaError as problem:
            call.note(f"bank {bank.name} is not fully embedded: {problem.message}")
    caller.reset(before)


@contextmanager
def _stopped_by_signals(working: Worker) -> Iterator[Caller]:
    """Yield the caller that waits for the work. After a signal it counts as gone."""
    asking = Caller()

    def stop(*_: Any) -> None:
        working.stop()
        asking.gone = True

    before = {each: signal.signal(each, stop) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asking
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
