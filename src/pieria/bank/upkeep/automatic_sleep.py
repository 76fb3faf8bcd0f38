"""When a bank sleeps automatically, and for how long.

Such a sleep is a job: the end of a session, an idle server or `pieria worker` queues it, and a worker that exists
already runs it. Opening a bank starts nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pieria.bank.results.sleeps import SleepLog
from pieria.bank.upkeep.sleep_log import SECOND, last_run, read_runs, write_run
from pieria.errors import JobError
from pieria.record.decay import DAY
from pieria.record.job import OPEN, SESSION_END, JobQuery, Later, NewJob, new_job
from pieria.record.time import moment
from pieria.store.protocol import Reader

if TYPE_CHECKING:
    from pieria.bank.core import Core
    from pieria.bank.jobs.run import Idle, Work

JOB = KEY = "sleep"
"""The kind and the key of such a job: at most one waits."""
QUIET = 300 * SECOND
"""How long a server has no call, and its bank no change, before such a sleep begins."""
RUN = 60 * SECOND
"""The time of one run. It finishes its current group."""
AGAIN = 600 * SECOND
"""How long after its begin an unfinished sleep goes on."""


def held_back(core: Core) -> str | None:
    """Return why the bank does not sleep automatically, or None if it does."""
    if core.is_foreign:
        return "the project that holds this bank is not trusted"
    if core.sleep == "off":
        return "the setting sleep is off"
    models = _models(core)
    if not models:
        return None
    if core.sleep != "model":
        return f"{models} may cost money: the setting sleep = model, with a daily budget, allows it"
    if not core.meter.budgets:
        return f"{models} has no daily budget: set budget_calls_per_day or budget_tokens_per_day"
    return None


def _models(core: Core) -> str:
    """Return the names of models outside this process that a sleep would ask: for summaries, and for their vectors."""
    embedder = core.embedding.embedder
    asked = [] if core.llm is None else [core.llm.model]
    asked += [] if embedder is None or embedder.is_at_hand else [embedder.model]
    return " and ".join(asked)


def next_at(reader: Reader, now: int) -> int:
    """Return the earliest time of the next such sleep: a day after the last sleep, sooner if that was not finished."""
    last = last_run(reader, now)
    if last is None:
        return 0
    began, run = last
    return began + (AGAIN if run["goes_on"] else DAY)


def sleep_log(core: Core, limit: int) -> SleepLog:
    why = held_back(core)
    with core.reading() as reader:
        runs = tuple(read_runs(core, reader, limit))
        due = max(next_at(reader, core.now()), core.now())
    return SleepLog(runs, why, None if why else moment(due))


def later_sleep(core: Core, reader: Reader) -> list[NewJob]:
    """Return the job to queue at the end of a session: none if the bank does not sleep automatically, or one waits."""
    if held_back(core) or _is_queued(reader):
        return []
    due = max(next_at(reader, core.now()), core.now() + QUIET)
    return [new_job(JOB, {"by": SESSION_END}, key=KEY, due=moment(due))]


def queue_if_due(core: Core, by: str, idle: Idle | None) -> bool:
    """Queue a sleep if it is due, and no call is waiting for this process. Return whether it was queued."""
    if held_back(core):
        return False
    with core.reading() as reader:
        if next_at(reader, core.now()) > core.now() or _unquiet(core, reader, idle) or _is_queued(reader):
            return False
    with core.writing() as writer:
        writer.enqueue([new_job(JOB, {"by": by}, key=KEY)])
    return True


def sleep_automatically(work: Work, by: str) -> Later | None:
    """Run such a sleep for a limited time, or put it off while the server is in use."""
    core = work.bank.core
    began = core.now()
    if why := held_back(core):
        from pieria.bank.results.upkeep import Slept

        write_run(core, Slept(False, core.mind.name, 0, 0, reasons=(why,)), began, by)
        return None
    with core.reading() as reader:
        due = max(next_at(reader, began), began + _unquiet(core, reader, work.idle))
    if due > began:
        return Later(due)

    def told(done: int, whole: int) -> None:
        work.progress(done, whole, "groups")
        work.check()
        if core.now() >= began + RUN:
            raise JobError("time_is_up")
        if work.idle is not None and work.idle() * SECOND < QUIET:
            raise JobError("called")

    slept = work.bank.upkeep._sleep_as_job(told, by)
    work.check()
    return Later(began + AGAIN) if slept.goes_on else None


def _unquiet(core: Core, reader: Reader, idle: Idle | None) -> int:
    """Return how long to wait until a server is idle, and its bank at rest. A process without callers never waits."""
    if idle is None:
        return 0
    calm = min(int(idle() * SECOND), core.now() - reader.head().known)
    return max(0, QUIET - calm)


def _is_queued(reader: Reader) -> bool:
    waiting = reader.jobs(JobQuery(states=OPEN, kinds=(JOB,), limit=1_000))
    return any(job.key == KEY for job in waiting)
