"""`pieria jobs`: the queue of background jobs, and the finished ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.parser import Group
from pieria.doors.cli.values import WHOLE, OneOf
from pieria.record.job import STATES

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pieria.bank.jobs.queue import JobList
    from pieria.record.job import Job


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

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.jobs import listed

        yield from listed(found)

    call.reply(found.as_dict(), people, [job.id for job in found])
    _note_more(call, found)


@jobs.command()
@click.argument("id")
@click.pass_obj
def show(call: Call, /, id: str) -> None:
    """Show all details of a job: its progress, its attempts, and why it failed."""
    with call.opened(reading=True) as bank:
        found = bank.jobs.get(id)

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.jobs import told

        yield from told(found)

    call.reply(found.as_dict(), people, [found.id])


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
    call.reply({done: [job.as_dict() for job in jobs]}, lambda: _said(done, jobs), [job.id for job in jobs])


def _said(done: str, found: Iterable[Job]) -> Iterator[RenderableType]:
    from pieria.doors.cli.shown.console import line

    for job in found:
        yield line((f"{done} ", "green"), (job.id, "bold"), (f"  {job.kind}", "dim"))


def _note_more(call: Call, found: JobList) -> None:
    if found.truncated:
        call.note("there are more: raise --limit, or select a --state or --kind")
