"""Processes with a worker. Each function is one whole process that runs jobs until it is stopped or killed."""

import os
import random
import threading
import time
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from typing import Any

import pieria
from pieria.bank import Bank
from pieria.bank.jobs.handlers import Effect, Handler
from pieria.bank.jobs.run import Work, WorkerTimes
from pieria.errors import AdapterError, BudgetError
from pieria.record.changeset import Changeset
from pieria.record.draft import NewMemory, checked
from pieria.store.rows import first_write

HASTY = WorkerTimes(lease=2.0, first_pause=0.02, longest_pause=0.2, poll=0.02)
"""Short leases and pauses, so that jobs of killed workers and failed jobs come back quickly."""
QUICK = {"durability": "off"}
"""Data survives the death of a process, and writes do not wait for the disk."""
KIND = "remember"
DAY = datetime(2026, 3, 1, 12, tzinfo=UTC)


def opened(folder: str, **settings: Any) -> Bank:
    return pieria.open("jobs", data=folder, who="worker", settings={**QUICK, **settings})


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


def work_until_done(pipe: Connection, folder: str, share_that_fails: float) -> None:
    """Run jobs until no worker has any left."""
    with opened(folder) as bank:
        pipe.send("begun")
        worker = bank.jobs.worker({KIND: remembering(share_that_fails)}, rules=HASTY)
        while True:
            worker.run(once=True)
            counts = bank.jobs.counts()
            if not counts.keys() & {"waiting", "later", "running"}:
                break
            time.sleep(HASTY.poll)
    pipe.send(dict(worker.tally))


def hang(pipe: Connection, folder: str) -> None:
    """Claim a job and never finish it."""

    def run(work: Work) -> None:
        work.progress(1, 2, "steps")
        pipe.send(work.job.id)
        while True:
            work.check()

    with opened(folder) as bank:
        bank.jobs.worker({KIND: Handler(run)}, rules=HASTY).run()


def spend(pipe: Connection, folder: str, budget: int) -> None:
    """Make calls until the day's budget is used up, after the test's signal. Send the number."""
    settings = {**QUICK, "budget_calls_per_day": budget}
    with pieria.open("jobs", data=folder, settings=settings, clock=lambda: DAY) as bank:
        pipe.send("ready")
        assert pipe.recv() == "go"
        calls = 0
        try:
            while True:
                bank.core.meter.allow("state", "test:model")
                calls += 1
                bank.core.meter.note("state", "test:model", {"input_tokens": 2, "output_tokens": 1}, 0.0)
        except BudgetError as problem:
            pipe.send((calls, problem.used))


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
    while bank.jobs.counts() != {"done": 1}:
        time.sleep(HASTY.poll)
    bank.close()
