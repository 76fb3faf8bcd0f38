"""Workers that are killed, hang or fail: every job is done once or is dead, and none is stuck."""

import logging
import random
import time
from collections import Counter
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from tests.durability.processes import PATIENCE, Worker, working
from tests.durability.working import HASTY, KIND, close_as_a_child, hang, opened, remembering, spend, work_until_done

from pieria.bank import Bank
from pieria.record.job import new_job

log = logging.getLogger(__name__)

WORKERS = 4
SHARE_THAT_FAILS = 0.2
SHORTEST_LIFE, LONGEST_LIFE = 0.05, 1.0
"""Seconds between two kills in the short test. The long test uses one second."""


def queued(bank: Bank, count: int) -> list[str]:
    ids = [f"e{number}" for number in range(count)]
    with bank.core.store.writing() as writer:
        writer.enqueue([new_job(KIND, {"id": id}) for id in ids])
    return ids


def survive(folder: Path, count: int, lives: tuple[float, float], seed: str) -> Counter[str]:
    """Kill and replace workers at random until all jobs are done. Return the counts."""
    chance = random.Random(seed)
    begun = time.monotonic()
    kills = 0
    with closing(opened(str(folder))) as bank:
        ids = queued(bank, count)
        with ExitStack() as stack:

            def another() -> Worker:
                return stack.enter_context(working(work_until_done, str(folder), SHARE_THAT_FAILS))

            crowd = [another() for _ in range(WORKERS)]
            for worker in crowd:
                assert worker.receive() == "begun"
            while bank.jobs.counts().keys() & {"waiting", "later", "running"}:
                assert time.monotonic() - begun < count + PATIENCE, bank.jobs.counts()
                time.sleep(chance.uniform(*lives))
                number = chance.randrange(WORKERS)
                if crowd[number].process.is_alive():
                    crowd[number].process.kill()
                    crowd[number].process.join()
                    kills += 1
                    crowd[number] = another()
        check(bank, ids)
        jobs = bank.jobs.list(limit=10_000)
        return Counter(
            {
                "kills": kills,
                "seconds": round(time.monotonic() - begun),
                "takeovers": sum(job.takeovers for job in jobs),
                "tries": sum(job.attempts for job in jobs),
                **bank.jobs.counts(),
            }
        )


def check(bank: Bank, ids: list[str]) -> None:
    jobs = {(job.payload or {})["id"]: job for job in bank.jobs.list(limit=10_000)}
    assert jobs.keys() == set(ids)
    assert {job.state for job in jobs.values()} <= {"done", "dead"}
    effects = Counter(id for change in bank.changes() if change.what == "effect" for id in change.ids)
    assert effects == Counter(id for id, job in jobs.items() if job.state == "done")
    assert all(job.attempts == job.tries for job in jobs.values() if job.state == "dead")
    assert bank.doctor().well


def test_jobs_are_done_once_whoever_is_killed(tmp_path: Path) -> None:
    figures = survive(tmp_path, 250, (SHORTEST_LIFE, 4 * SHORTEST_LIFE), "quick")
    assert figures["kills"]
    assert figures["tries"] > 250


@pytest.mark.slow
def test_10_000_jobs_are_done_once_whoever_is_killed(tmp_path: Path) -> None:
    figures = survive(tmp_path, 10_000, (LONGEST_LIFE, LONGEST_LIFE), "slow")
    log.info("%s", dict(figures))
    assert figures["takeovers"]
    assert figures["done"] > 9_900


def test_the_job_of_a_worker_that_is_killed_is_taken_over(tmp_path: Path) -> None:
    with closing(opened(str(tmp_path))) as bank:
        [id] = queued(bank, 1)
        with working(hang, str(tmp_path)) as worker:
            claimed = worker.receive()
            worker.process.kill()
            worker.process.join()
        assert bank.jobs.get(claimed).state == "running"
        ours = bank.jobs.worker({KIND: remembering(0.0)}, rules=HASTY)
        while not ours.run(once=True):
            time.sleep(HASTY.poll)
        job = bank.jobs.get(claimed)
        assert (job.state, job.takeovers, job.attempts) == ("done", 1, 2)
        assert bank.get(id) is not None


def test_several_processes_spend_one_budget(tmp_path: Path) -> None:
    with ExitStack() as stack:
        crowd = [stack.enter_context(working(spend, str(tmp_path), 100)) for _ in range(3)]
        for worker in crowd:
            assert worker.receive() == "ready"
        for worker in crowd:
            worker.pipe.send("go")
        told = [worker.receive() for worker in crowd]
        for worker in crowd:
            worker.finish()
    assert sum(calls for calls, _ in told) == 100
    assert {used for _, used in told} == {100}
    with closing(opened(str(tmp_path))) as bank:
        assert [(spent["calls"], spent["input_tokens"]) for spent in bank.stats().models["total"]] == [(100, 200)]


def test_a_child_that_closes_its_bank_leaves_the_jobs_of_its_parent(tmp_path: Path) -> None:
    with closing(opened(str(tmp_path))) as bank:
        queued(bank, 1)
    with working(close_as_a_child, str(tmp_path)) as worker:
        assert worker.receive() == (0, ["running"])
        worker.finish()
