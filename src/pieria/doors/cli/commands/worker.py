"""`pieria worker`: does the jobs of one bank, or of all in the data folder, until it is stopped."""

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
from pieria.record.patience import Caller, caller

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pieria.bank import Bank
    from pieria.bank.jobs.worker import Worker
    from pieria.workspace import Workspace

WHO = "worker"
LONGEST_IDLE = 86_400.0
LATER = 30.0
"""Seconds until a bank is tried again that could not be opened just now."""


@click.command(cls=Command)
@click.option("--once", is_flag=True, help="End when nothing is left that is due, or to be embedded.")
@click.option("--idle", type=NUMBER, metavar="SECONDS", help="The same, when there was nothing to do for so long.")
@click.pass_obj
def worker(call: Call, /, once: bool, idle: float | None) -> None:
    """Do the jobs of the bank that --bank names; without it, of all banks in the data folder.

    Hands over what hooks have captured, too, whichever bank it belongs to.

    Works until it is stopped (Ctrl-C, or a signal to terminate), and then gives back the job that is not done. Any
    number of workers may share the work.
    """
    from pieria.bank.jobs.handlers import HANDLERS
    from pieria.bank.jobs.worker import Worker
    from pieria.capture.behind import DrainBehind
    from pieria.capture.drain import Drain

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
    """The banks to work on: looked for anew in every round, since there may be new ones, and opened once."""

    def __init__(self, call: Call, workspace: Workspace) -> None:
        self._call = call
        self._workspace = workspace
        self._opened: dict[str, Bank | None] = {}
        self._later: dict[str, float] = {}
        """Those that could not be opened just now, and when that is tried again."""

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
                self._call.note(f"bank {name} is left alone for {LATER:g} s: {problem.message}")
                return
            self._call.note(f"bank {name} is left alone: {problem.message}")
            self._opened[name] = None


def _work(working: Worker, once: bool, idle: float | None) -> None:
    """In a thread beside, so that a signal ends it in time, whatever a handler waits for."""
    working.start(once=once, idle=idle)
    while not working.wait(0.2) and not working.stopping:
        pass
    working.close()
    if working.problem is not None:
        raise working.problem


def _embed(banks: _Banks, call: Call, asking: Caller) -> None:
    """What no job says is to be done: each bank sees to it behind, and this process is about to end."""
    before = caller.set(asking)
    for bank in banks.opened:
        try:
            bank.sync()
        except PieriaError as problem:
            call.note(f"bank {bank.name} is not embedded to the end: {problem.message}")
    caller.reset(before)


@contextmanager
def _stopped_by_signals(working: Worker) -> Iterator[Caller]:
    """Gives who waits for it: they are gone once there was a signal."""
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
