"""`pieria jobs`: the queue of background jobs, and the finished ones."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.console import Parts, age, counted, day_and_age, line, pairs, row, table
from pieria.doors.cli.parser import Command, Group
from pieria.doors.cli.values import NUMBER, WHOLE, OneOf
from pieria.errors import PieriaError
from pieria.record import check
from pieria.record.job import STATES, WORKER, Job
from pieria.record.time import system_clock
from pieria.runtime.patience import Caller, caller

if TYPE_CHECKING:
    from pieria.bank import Bank
    from pieria.bank.jobs.worker import Worker
    from pieria.workspace import Workspace

_STYLES = {"running": "cyan", "done": "green", "dead": "bold red", "later": "yellow"}
WHO = "worker"
LONGEST_IDLE = 86_400.0
LATER = 30.0
"""Seconds before retrying a bank that could not be opened."""


@click.group(cls=Group)
def jobs() -> None:
    """List background jobs, replay failed ones, and cancel unwanted ones.

    `pieria worker` runs the jobs.
    """


@jobs.command(name="list")
@click.option("--state", "states", multiple=True, type=OneOf(*STATES), metavar="STATE",
              help="Only waiting, later, running, done, stale, cancelled or dead jobs; may be repeated.")  # fmt: skip
@click.option("--kind", "kinds", multiple=True, metavar="KIND", help="Only this kind; may be repeated.")
@click.option("-n", "--limit", type=WHOLE, default=50, show_default=True, metavar="N", help="At most this many.")
@click.pass_obj
def list_jobs(call: Call, /, states: tuple[str, ...], kinds: tuple[str, ...], limit: int) -> None:
    """List jobs, newest first."""
    with call.opened(reading=True) as bank:
        found = bank.jobs.list(states=states or None, kinds=kinds or None, limit=limit)
    call.reply(found.as_dict(), show_jobs(found), [job.id for job in found])
    if found.truncated:
        call.note("there are more: raise --limit, or select a --state or --kind")


@jobs.command()
@click.argument("id")
@click.pass_obj
def show(call: Call, /, id: str) -> None:
    """Show all details of a job: its progress, its attempts, and why it failed."""
    with call.opened(reading=True) as bank:
        found = bank.jobs.get(id)
    call.reply(found.as_dict(), show_job(found), [found.id])


@jobs.command()
@click.argument("ids", nargs=-1, required=True)
@click.pass_obj
def replay(call: Call, /, ids: tuple[str, ...]) -> None:
    """Queue dead or cancelled jobs again, with all their attempts: all of them, or none."""
    with call.opened() as bank:
        found = bank.jobs.replay(ids)
    _answer(call, "replayed", found)


@jobs.command()
@click.argument("ids", nargs=-1, required=True)
@click.pass_obj
def cancel(call: Call, /, ids: tuple[str, ...]) -> None:
    """Cancel jobs: all of them, or none. The result of a running job is discarded."""
    with call.opened() as bank:
        found = bank.jobs.cancel(ids)
    _answer(call, "cancelled", found)


def _answer(call: Call, done: str, found: Iterable[Job]) -> None:
    jobs = list(found)
    people = (((f"{done} ", "green"), (job.id, "bold"), (f"  {job.kind}", "dim")) for job in jobs)
    call.reply({done: [job.as_dict() for job in jobs]}, people, [job.id for job in jobs])


def show_jobs(jobs: Iterable[Job]) -> Parts:
    """Yield a table of jobs, one a row, with their state."""
    now = system_clock()
    made = table("job", "state", "kind", "made", "tried", "about", wide=("about",), right=("tried",))
    for job in jobs:
        state = (job.state, _STYLES.get(job.state, ""))
        tried = f"{job.attempts}/{job.tries}"
        row(made, (job.id, "bold"), state, job.kind, age(job.made_at, now), tried, (_standing(job), "dim"))
    yield made if made.row_count else line("No jobs.")


def show_job(job: Job) -> Parts:
    """Yield all details of a job."""
    now = system_clock()
    yield line((job.id, "bold"), ("  ", ""), (job.state, _STYLES.get(job.state, "")), (f"  {job.kind}", "dim"))
    yield pairs(
        [
            ("key", job.key),
            ("payload", _payload(job.payload)),
            ("about", job.about),
            ("digest", job.digest),
            ("priority", f"{job.priority}"),
            ("made", day_and_age(job.made_at, now)),
            ("due", day_and_age(job.due_at, now)),
            ("tried", f"{job.attempts} of {counted(job.tries, 'time')}"),
            ("begun", day_and_age(job.begun_at, now)),
            ("worker", job.worker),
            ("workers lost", f"{job.takeovers}" if job.takeovers else None),
            ("progress", _progress(job)),
            ("ended", day_and_age(job.ended_at, now)),
            ("problem", _problem(job)),
        ]
    )


def show_tally(tally: Mapping[str, int]) -> Parts:
    """Yield the results of a worker's jobs."""
    if not tally:
        yield line("There were no jobs.")
        return
    yield line(("  ".join(f"{state} {number:,}" for state, number in tally.items()), "bold"))


def _standing(job: Job) -> str:
    parts = [_progress(job) if job.state == "running" else None, job.about, _problem(job)]
    return "  ".join(part for part in parts if part)


def _progress(job: Job) -> str | None:
    held = job.progress
    return None if held is None else f"{held.done:,} of {held.whole:,} {held.what}".rstrip()


def _problem(job: Job) -> str | None:
    return None if job.problem is None else f"{job.problem.code}: {job.problem.message}"


def _payload(payload: Mapping[str, Any] | None) -> str:
    import json

    return "(unreadable)" if payload is None else json.dumps(payload, ensure_ascii=False)


@click.command(cls=Command)
@click.option("--once", is_flag=True, help="Stop when no job is due, and nothing waits to be embedded.")
@click.option("--idle", type=NUMBER, metavar="SECONDS", help="Stop after this long without work.")
@click.pass_obj
def worker(call: Call, /, once: bool, idle: float | None) -> None:
    """Run the jobs of the bank that --bank names; without it, of all banks in the data folder.

    The worker also stores captured events, for every bank, and lets banks sleep that are due.

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
        working = Worker(banks, HANDLERS, told=lambda job, at: report and report(at.done, at.whole), sleeps=WORKER)
        drain.start()
        try:
            with _stopped_by_signals(working) as asking:
                _work(working, once, longest)
                _embed(banks, call, asking)
        finally:
            drain.close()
    tally = dict(sorted(working.tally.items()))
    call.reply(
        {"banks": banks.names, "jobs": tally}, show_tally(tally), [f"{state} {count}" for state, count in tally.items()]
    )


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
