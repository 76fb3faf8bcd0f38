"""Random histories of the job queue, with a clock set by hand, compared with a plain list.

Jobs are queued, claimed, extended, settled, lost, cancelled and replayed, by workers that may return late. The store
must hold what the list holds. Of each kind and key, at most one job waits and one runs.
"""

import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.contract.making import HandClock

from pieria.errors import ConflictError
from pieria.record.job import ENDED, OPEN, QUEUED, JobQuery, Lease, Outcome, new_job
from pieria.record.time import micros, moment
from pieria.store.sqlite import SQLiteStore

pytestmark = pytest.mark.timeout(600)
"""Shrinking a failing history takes minutes."""

SECOND = 1_000_000
KINDS = ("k", "l")
TRIES = 3
WORKERS = st.integers(0, 2)


@dataclass
class Held:
    """A job in the model."""

    id: str
    kind: str
    key: str
    version: int
    priority: int
    due: int
    state: str
    attempts: int = 0
    takeovers: int = 0
    lease: str | None = None
    until: int = 0
    ended: int | None = None

    @property
    def name(self) -> tuple[str, str]:
        return self.kind, self.key


class Queue(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(prefix="pieria-queue-")
        self.clock = HandClock()
        self.held: list[Held] = []
        self.tokens = ["none", "none", "none"]
        self.claims = 0

    @initialize(kind=st.sampled_from(KINDS))
    def begin(self, kind: str) -> None:
        """Queue one job first, since a history may never draw the rule that queues one."""
        self.open()
        self.enqueue(kind, "a", 1, 0, 0)

    def open(self) -> None:
        self.store = SQLiteStore(Path(self.folder.name) / "bank.db", durability="off", clock=self.clock)

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()

    @property
    def now(self) -> int:
        return micros(self.clock())

    def of(self, name: tuple[str, str], *states: str) -> list[Held]:
        return [job for job in self.held if job.name == name and job.state in states]

    # --- what is done to the queue

    @rule(seconds=st.sampled_from([1, 5, 30]))
    def time_goes_by(self, seconds: int) -> None:
        self.clock.move(seconds=seconds)

    @rule(
        kind=st.sampled_from(KINDS),
        key=st.sampled_from("ab"),
        version=st.integers(1, 2),
        priority=st.integers(0, 1),
        delay=st.sampled_from([0, 0, 10]),
    )
    def enqueue(self, kind: str, key: str, version: int, priority: int, delay: int) -> None:
        due = self.now + delay * SECOND
        job = new_job(
            kind, key=key, about=f"m@{version}", priority=priority, due=moment(due) if delay else None, tries=TRIES
        )
        with self.store.writing() as writer:
            [id] = writer.enqueue([job])
        state = "later" if delay else "waiting"
        queued = self.of((kind, key), *QUEUED)
        running = [job for job in self.of((kind, key), "running") if job.version == version]
        if queued:
            alike = queued[0]
            if alike.version != version:
                alike.version, alike.priority, alike.due = version, max(alike.priority, priority), due
                alike.state, alike.attempts = state, 0
        elif running:
            alike = running[0]
        else:
            alike = Held(job.id, kind, key, version, priority, due, state)
            self.held.append(alike)
        assert id == alike.id

    @rule(worker=WORKERS, seconds=st.sampled_from([5, 20]), kinds=st.sampled_from([None, ["k"]]))
    def claim(self, worker: int, seconds: int, kinds: list[str] | None) -> None:
        self.claims += 1
        self.tokens[worker] = token = f"t{self.claims}"
        with self.store.writing() as writer:
            found = writer.claim(Lease(token, str(worker), self.now + seconds * SECOND), kinds)
        self.reclaim()
        wanted = [
            job
            for job in self.held
            if job.state == "waiting" and (kinds is None or job.kind in kinds) and not self.of(job.name, "running")
        ]
        if not wanted:
            assert found is None
            return
        best = max(wanted, key=lambda job: (job.priority, -self.held.index(job)))
        best.state, best.attempts, best.lease = "running", best.attempts + 1, token
        best.until = self.now + seconds * SECOND
        assert found is not None
        assert (found.id, found.attempts, found.version) == (best.id, best.attempts, best.version)

    def reclaim(self) -> None:
        for job in self.held:
            if job.state == "later" and job.due <= self.now:
                job.state = "waiting"
        for job in self.held:
            if job.state == "running" and job.until <= self.now:
                job.takeovers += 1
                if job.attempts >= TRIES:
                    self.end(job, "dead")
                elif self.of(job.name, *QUEUED):
                    self.end(job, "stale")
                else:
                    job.state, job.lease = "waiting", None

    def end(self, job: Held, state: str) -> None:
        job.state, job.lease = state, None
        job.ended = self.now if state in ENDED else None

    def of_worker(self, worker: int) -> Held | None:
        """Return the worker's job, or None if its lease was lost."""
        return next((job for job in self.held if job.lease == self.tokens[worker]), None)

    @rule(worker=WORKERS, seconds=st.sampled_from([5, 20]))
    def extend(self, worker: int, seconds: int) -> None:
        with self.store.writing() as writer:
            holds = writer.extend(self.tokens[worker], self.now + seconds * SECOND)
        job = self.of_worker(worker)
        assert holds == (job is not None)
        if job is not None:
            job.until = self.now + seconds * SECOND

    @rule(worker=WORKERS, state=st.sampled_from(["done", "later", "waiting", "stale", "dead"]), counts=st.booleans())
    def settle(self, worker: int, state: str, counts: bool) -> None:
        job = self.of_worker(worker)
        if job is not None and counts and state in QUEUED and job.attempts >= TRIES:
            state = "dead"  # Workers must check this: the store limits only lost attempts.
        due = self.now + 10 * SECOND if state == "later" else None
        with self.store.writing() as writer:
            holds = writer.settle(self.tokens[worker], Outcome(state, due=due, counts=counts))
        assert holds == (job is not None)
        if job is not None:
            superseded = state in QUEUED and bool(self.of(job.name, *QUEUED))
            job.attempts -= not counts
            job.due = due or job.due
            self.end(job, "stale" if superseded else state)

    @precondition(lambda self: self.held)
    @rule(data=st.data(), verb=st.sampled_from(["cancel", "replay"]))
    def somebody_steps_in(self, data: st.DataObject, verb: str) -> None:
        job = data.draw(st.sampled_from(self.held))
        allowed = job.state in ((*OPEN, "dead") if verb == "cancel" else ("dead", "cancelled"))
        if verb == "replay" and self.of(job.name, *QUEUED):
            allowed = False
        try:
            with self.store.writing() as writer:
                getattr(writer, verb)([job.id])
        except ConflictError:
            assert not allowed
            return
        assert allowed
        self.end(job, "cancelled" if verb == "cancel" else "waiting")
        if verb == "replay":
            job.attempts, job.due = 0, self.now

    @rule(limit=st.integers(1, 3))
    def prune(self, limit: int) -> None:
        with self.store.writing() as writer:
            pruned = writer.prune_jobs(self.now, limit)
        over = [job for job in self.held if job.ended is not None and job.ended < self.now and job.state != "dead"]
        assert pruned == min(limit, len(over))
        with self.store.reading() as reader:
            there = {job.id for job in reader.jobs(JobQuery(limit=1_000))}
        gone = [job for job in self.held if job.id not in there]
        assert len(gone) == pruned
        assert all(job in over for job in gone)
        assert gone == [] or max(job.ended or 0 for job in gone) <= min(
            (job.ended or 0 for job in over if job not in gone), default=self.now
        )
        self.held = [job for job in self.held if job.id in there]

    @rule()
    def the_store_is_opened_anew(self) -> None:
        self.store.close()
        self.open()

    # --- what must be true after every step

    @invariant()
    def the_store_holds_what_the_model_holds(self) -> None:
        with self.store.reading() as reader:
            found = reader.jobs(JobQuery(limit=1_000))
            counts, due = reader.job_counts(), reader.jobs_due()
        assert [
            (j.id, j.state, j.attempts, j.takeovers, j.version, j.priority, micros(j.due_at)) for j in found[::-1]
        ] == [(j.id, j.state, j.attempts, j.takeovers, j.version, j.priority, j.due) for j in self.held]
        assert counts == Counter((job.kind, job.state) for job in self.held)
        open_jobs = [job.due for job in self.held if job.state == "later"]
        open_jobs += [job.until for job in self.held if job.state == "running"]
        assert due is None or due <= min(open_jobs, default=due)
        claimable = any(job.state == "waiting" and not self.of(job.name, "running") for job in self.held)
        assert (due is not None) == bool(open_jobs or claimable)

    @invariant()
    def of_a_key_one_waits_and_one_runs_at_most(self) -> None:
        for states in (QUEUED, ("running",)):
            held = Counter(job.name for job in self.held if job.state in states)
            assert not held or max(held.values()) == 1

    @invariant()
    def nothing_is_tried_for_ever(self) -> None:
        assert all(job.attempts <= TRIES for job in self.held)


TestQueue = Queue.TestCase
TestQueue.settings = settings(stateful_step_count=40)
