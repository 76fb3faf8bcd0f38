"""Jobs for people: a line each, one in full, and what a worker did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rich.console import RenderableType

from pieria.doors.cli.shown.console import line, pairs, row, table
from pieria.doors.cli.shown.words import age, counted, day_and_age
from pieria.record.job import Job
from pieria.record.time import system_clock

_STYLES = {"running": "cyan", "done": "green", "dead": "bold red", "later": "yellow"}


def listed(jobs: Iterable[Job]) -> Iterator[RenderableType]:
    """Yield a table of jobs, one a row, with their state."""
    now = system_clock()
    made = table("job", "state", "kind", "made", "tried", "about", wide=("about",), right=("tried",))
    for job in jobs:
        state = (job.state, _STYLES.get(job.state, ""))
        tried = f"{job.attempts}/{job.tries}"
        row(made, (job.id, "bold"), state, job.kind, age(job.made_at, now), tried, (_standing(job), "dim"))
    yield made if made.row_count else line("No jobs.")


def told(job: Job) -> Iterator[RenderableType]:
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


def worked(tally: Mapping[str, int]) -> Iterator[RenderableType]:
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
