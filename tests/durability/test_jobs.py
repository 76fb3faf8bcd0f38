"""Workers that are killed, hang or fail: every job is done once or is dead, and none is stuck."""

import os
import random
import threading
from collections import Counter
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
from tests.durability.processes import Worker, killed, ready_to_go, started_together, working

import pieria
from pieria.bank import Bank
from pieria.bank.jobs.handlers import Effect, Handler
from pieria.bank.jobs.run import Work, WorkerTimes
from pieria.errors import AdapterError, BudgetError
from pieria.record.changeset import Changeset
from pieria.record.draft import NewMemory, checked
from pieria.record.job import new_job
from pieria.record.time import Clock, system_clock
from pieria.store.rows import first_write

HASTY = WorkerTimes(lease=2.0, first_pause=0.02, longest_pause=0.2, poll=0.02)
"""Short leases and pauses, so that jobs of killed workers and failed jobs come back quickly."""
OPEN = {"waiting", "later", "running"}
KIND = "remember"
DAY = datetime(2026, 3, 1, 12, tzinfo=UTC)
WORKERS = 4
SHARE_THAT_FAILS = 0.2


def opened(folder: str, clock: Clock = system_clock, **settings: Any) -> Bank:
    return pieria.open("jobs", data=folder, who="worker", settings=settings, clock=clock)


def queued(bank: Bank, count: int) -> list[str]:
    ids = [f"e{number}" for number in range(count)]
    with bank.core.store.writing() as writer:
        writer.enqueue([new_job(KIND, {"id": id}) for id in ids])
    return ids


def remembering(share_that_fails: float) -> Handler:
    """Return a handler that remembers one thing under the id in its payload. A second run would be a conflict."""
    chance = random.Random()

    def run(work: Work) -> Effect:
        if chance.random() < share_that_fails:
            raise AdapterError("chance", "call", "it did not come off", retryable=True)
        id = work.payload["id"]
        write = first_write(checked(NewMemory(f"effect {id}")), id, work.bank.core.now(), "jobs/note")
        return Changeset("effect", writes=[write])

    return Handler(run)


def run_until_done(bank: Bank, share_that_fails: float) -> None:
    worker = bank.jobs.worker({KIND: remembering(share_that_fails)}, rules=HASTY)
    pause = threading.Event()
    while bank.jobs.counts().keys() & OPEN:
        if not worker.run(once=True):
            pause.wait(HASTY.poll)


def work_until_done(pipe: Connection, folder: str) -> None:
    with opened(folder) as bank:
        pipe.send("begun")
        run_until_done(bank, SHARE_THAT_FAILS)


@pytest.mark.slow
def test_jobs_are_done_once_though_workers_are_killed(tmp_path: Path) -> None:
    chance = random.Random("slow")
    with closing(opened(str(tmp_path))) as bank, ExitStack() as stack:
        ids = queued(bank, 5_000)

        def another() -> Worker:
            return stack.enter_context(working(work_until_done, str(tmp_path)))

        crowd = [another() for _ in range(WORKERS)]
        while bank.jobs.counts().keys() & OPEN:
            number = chance.randrange(WORKERS)
            crowd[number].process.join(chance.uniform(0.1, 1.0))
            crowd[number].kill()
            crowd[number] = another()
        jobs = {(job.payload or {})["id"]: job for job in bank.jobs.list(limit=10_000)}
        assert jobs.keys() == set(ids)
        assert {job.state for job in jobs.values()} <= {"done", "dead"}
        effects = Counter(id for change in bank.changes() if change.what == "effect" for id in change.ids)
        assert effects == Counter(id for id, job in jobs.items() if job.state == "done")
        assert all(job.attempts == job.tries for job in jobs.values() if job.state == "dead")
        assert bank.doctor().well
        assert bank.jobs.counts()["done"] > 4_750
        assert sum(job.takeovers for job in jobs.values())
        assert sum(job.attempts for job in jobs.values()) > 5_000


def hang(pipe: Connection, folder: str) -> None:
    """Claim a job and never finish it."""

    def run(work: Work) -> None:
        work.progress(1, 2, "steps")
        pipe.send(work.job.id)
        while True:
            work.check()

    with opened(folder) as bank:
        bank.jobs.worker({KIND: Handler(run)}, rules=HASTY).run()


def test_job_of_a_killed_worker_is_taken_over(tmp_path: Path) -> None:
    with closing(opened(str(tmp_path))) as bank:
        [id] = queued(bank, 1)
        [claimed] = killed(hang, str(tmp_path))
        assert bank.jobs.get(claimed).state == "running"
    # The lease of the killed worker has expired by then.
    with closing(opened(str(tmp_path), clock=lambda: system_clock() + timedelta(minutes=2))) as bank:
        run_until_done(bank, 0.0)
        job = bank.jobs.get(claimed)
        assert (job.state, job.takeovers, job.attempts) == ("done", 1, 2)
        assert bank.get(id) is not None


def spend(pipe: Connection, folder: str, budget: int) -> None:
    """Make calls until the day's budget is used up. Send the number."""
    with opened(folder, budget_calls_per_day=budget, clock=lambda: DAY) as bank:
        ready_to_go(pipe)
        calls = 0
        try:
            while True:
                bank.core.meter.allow("state", "test:model")
                calls += 1
                bank.core.meter.note("state", "test:model", {"input_tokens": 2, "output_tokens": 1}, 0.0)
        except BudgetError as problem:
            pipe.send((calls, problem.used))


@pytest.mark.slow
def test_several_processes_spend_one_budget(tmp_path: Path) -> None:
    with started_together(spend, *[(str(tmp_path), 100)] * 3) as workers:
        told = [told for worker in workers for told in worker.finish()]
    assert sum(calls for calls, _ in told) == 100
    assert {used for _, used in told} == {100}
    with closing(opened(str(tmp_path))) as bank:
        assert [(spent["calls"], spent["input_tokens"]) for spent in bank.stats().models["total"]] == [(100, 200)]


def close_as_a_child(pipe: Connection, folder: str) -> None:
    """Fork while a job runs. The child closes its bank, and the parent must keep its lease."""
    begun, go_on = threading.Event(), threading.Event()

    def run(work: Work) -> None:
        begun.set()
        go_on.wait()

    bank = opened(folder)
    bank.jobs.worker({KIND: Handler(run)}, rules=HASTY).start()
    begun.wait()
    child = os.fork()
    if not child:
        bank.close()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    pipe.send((status, [job.state for job in bank.jobs.list()]))
    go_on.set()
    pause = threading.Event()
    while bank.jobs.counts() != {"done": 1}:
        pause.wait(HASTY.poll)
    bank.close()


@pytest.mark.slow
def test_closing_in_a_child_leaves_the_parents_jobs(tmp_path: Path) -> None:
    with closing(opened(str(tmp_path))) as bank:
        queued(bank, 1)
    with working(close_as_a_child, str(tmp_path)) as worker:
        assert worker.finish() == [(0, ["running"])]
