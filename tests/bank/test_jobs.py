"""Jobs and their workers: which jobs run, and that an effect exists once, together with its job."""

import errno
import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.bank.test_using import soon
from tests.contract.making import START, HandClock

import pieria
from pieria import Bank
from pieria.bank.jobs import worker as working
from pieria.bank.jobs.handlers import Effect, Handler
from pieria.bank.jobs.run import Work, WorkerTimes
from pieria.bank.jobs.worker import LAST_CHANCE, Worker
from pieria.errors import (
    AdapterError,
    BusyError,
    ClosedError,
    ConflictError,
    InputError,
    JobError,
    NotFoundError,
    PieriaError,
    PipelineError,
    UnreachableError,
)
from pieria.record.changeset import Changeset
from pieria.record.draft import NewMemory, checked
from pieria.record.job import Job, JobQuery, Lease, Outcome, Progress, new_job
from pieria.record.time import micros
from pieria.store.protocol import Reader, Writer
from pieria.store.rows import first_write

QUICK = WorkerTimes(poll=0.01)
SETTINGS = {"durability": "off"}


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def bank(tmp_path: Path, clock: HandClock) -> Iterator[Bank]:
    with pieria.open("b", data=tmp_path, clock=clock, settings=SETTINGS) as bank:
        yield bank


@pytest.fixture
def again(tmp_path: Path, clock: HandClock) -> Iterator[Bank]:
    """Open the same bank through its own store, as another process does."""
    with pieria.open("b", data=tmp_path, clock=clock, settings={**SETTINGS, "busy_seconds": 21}) as bank:
        yield bank


def keeping(work: Work, id: str = "kept") -> Changeset:
    """Return an effect that writes one memory."""
    write = first_write(checked(NewMemory("an effect")), id, work.bank.core.now(), "b/note")
    return Changeset("keep", writes=[write])


def keeps(work: Work) -> Effect:
    return keeping(work, work.payload.get("id", "kept"))


def fails(problem: Exception) -> Handler:
    def run(work: Work) -> None:
        raise problem

    return Handler(run)


def do(bank: Bank, run: Callable[[Work], Effect] | Handler = keeps, kind: str = "keep") -> dict[str, int]:
    """Run all due jobs with this handler. Return the counts."""
    handler = run if isinstance(run, Handler) else Handler(run)
    return dict(bank.jobs.worker({kind: handler}, rules=QUICK).run(once=True))


def said(job: Job) -> str | None:
    return job.problem.code if job.problem else None


# --- queueing


@pytest.mark.parametrize(
    ("parameter", "values"),
    [
        ("kind", {"kind": "Embed it"}),
        ("kind", {"kind": ""}),
        ("payload", {"payload": ["a"]}),
        ("payload", {"payload": {"a": {1, 2}}}),
        ("payload", {"payload": {"text": "a" * (65 << 10)}}),
        ("payload", {"kind": "embed", "payload": {"a": 1}}),
        ("key", {"key": " "}),
        ("about", {"about": "m"}),
        ("priority", {"priority": 5_000}),
        ("tries", {"tries": 0}),
        ("due", {"due": "soon"}),
    ],
)
def test_what_cannot_be_a_job_is_not_queued(bank: Bank, parameter: str, values: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        bank.jobs.add(**{"kind": "keep", **values})
    assert caught.value.parameter == parameter
    assert bank.jobs.list() == []


def test_a_job_is_looked_up_listed_and_counted(bank: Bank) -> None:
    first = bank.jobs.add("keep", {"id": "a"}, priority=2)
    second = bank.jobs.add("other", due=START + timedelta(hours=1))
    assert bank.jobs.get(first.id) == first
    assert bank.jobs.list() == [second, first]
    assert bank.jobs.list(states="later") == bank.jobs.list(kinds="other") == [second]
    assert bank.jobs.list(limit=1).truncated
    assert not bank.jobs.list(limit=2).truncated
    assert bank.jobs.counts() == bank.stats().jobs == {"waiting": 1, "later": 1}
    assert first.as_dict()["payload"] == {"id": "a"}
    with pytest.raises(NotFoundError):
        bank.jobs.get("no")
    with pytest.raises(InputError, match="Did you mean") as caught:
        bank.jobs.list(states="wating")
    assert caught.value.parameter == "states"


def test_to_queue_look_at_and_do_nothing_leaves_the_journal_as_it_is(bank: Bank) -> None:
    bank.remember("a word")
    before = bank.changes()
    bank.jobs.cancel(bank.jobs.add("keep").id)
    bank.jobs.replay(bank.jobs.list()[0].id)
    assert do(bank, lambda work: Changeset("nothing", jobs=[new_job("later")])) == {"done": 1, "dead": 1}
    assert bank.changes() == before
    assert bank.jobs.list(kinds="later", states="dead")


# --- doing


def test_a_job_is_done_with_its_effect_and_no_second_time(bank: Bank) -> None:
    job = bank.jobs.add("keep", {"id": "kept"})
    assert do(bank) == {"done": 1}
    assert do(bank) == {}
    assert bank.get("kept") is not None
    assert [change.what for change in bank.changes()] == ["keep"]
    done = bank.jobs.get(job.id)
    assert (done.state, done.attempts, done.ended_at) == ("done", 1, START)
    assert done.worker is not None


def test_an_effect_may_be_planned_inside_the_write(bank: Bank) -> None:
    bank.jobs.add("keep")
    seen: list[int] = []

    def run(work: Work) -> Effect:
        def plan(writer: Writer) -> Changeset:
            seen.append(writer.head().seq)
            return keeping(work)

        work.bank.remember("something before")
        return plan

    assert do(bank, run) == {"done": 1}
    assert seen == [1]


def test_an_effect_that_cannot_be_written_leaves_the_job_undone(bank: Bank) -> None:
    def plan(writer: Writer) -> Changeset:
        writer.apply(Changeset("half", records=[]))
        raise ConflictError("there is something in the way")

    job = bank.jobs.add("keep")
    assert do(bank, lambda work: plan) == {"dead": 1}
    assert bank.changes() == ()
    assert said(bank.jobs.get(job.id)) == "conflict"


def test_higher_priorities_come_first_and_other_kinds_may_be_left(bank: Bank) -> None:
    done: list[str] = []

    def run(work: Work) -> None:
        done.append(work.job.key)

    for key, priority in (("low", -1), ("first", 0), ("second", 0), ("high", 1)):
        bank.jobs.add("keep", key=key, priority=priority)
    other = bank.jobs.add("other")
    worker = bank.jobs.worker({"keep": Handler(run)}, kinds=["keep"])
    assert dict(worker.run(once=True)) == {"done": 4}
    assert done == ["high", "first", "second", "low"]
    assert bank.jobs.get(other.id).state == "waiting"


def test_a_worker_serves_its_banks_in_turn(tmp_path: Path, bank: Bank) -> None:
    done: list[str] = []

    def run(work: Work) -> None:
        done.append(f"{work.bank.name} {work.job.key}")

    with pieria.open("c", data=tmp_path, settings=SETTINGS) as other:
        for key in "123":
            bank.jobs.add("keep", key=key)
        other.jobs.add("keep", key="1")
        Worker(lambda: (bank, other), {"keep": Handler(run)}).run(once=True)
    assert done == ["b 1", "c 1", "b 2", "b 3"]


def test_the_bank_is_embedded_by_a_job(tmp_path: Path) -> None:
    with pieria.open("e", data=tmp_path, settings={**SETTINGS, "embedder": "hashing"}) as bank:
        with bank.core.embedding.aside():
            bank.remember("heron")
            bank.jobs.add("embed")
            assert dict(bank.jobs.worker().run(once=True)) == {"done": 1}
        assert bank.stats().pending == {"vectors": 0}
        assert bank.jobs.list()[0].progress == Progress(1, 1, "texts")
    with pieria.open("e", data=tmp_path, settings={**SETTINGS, "embedder": "hashing:64"}) as bank:
        bank.remember("stork")
        job = bank.jobs.add("embed")
        assert dict(bank.jobs.worker().run(once=True)) == {"dead": 1}
        assert said(bank.jobs.get(job.id)) == "unavailable"


# --- content that changes


@pytest.mark.parametrize("change", ["update", "remove", "revise"])
@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_a_job_about_content_that_has_changed_does_nothing(bank: Bank, change: str, when: str) -> None:
    changed: dict[str, Callable[[], object]] = {
        "update": lambda: bank.update("m", text="otherwise"),
        "remove": lambda: bank.remove("m"),
        "revise": lambda: bank.revise("m", text="otherwise"),
    }
    bank.remember("as it was", id="m")
    job = bank.jobs.add("keep", about="m@1")
    ran: list[bool] = []

    def run(work: Work) -> Effect:
        ran.append(True)
        changed[change]()
        return keeping(work)

    if when == "before":
        changed[change]()
    assert do(bank, run) == {"stale": 1}
    assert ran == ([] if when == "before" else [True])
    assert bank.get("kept") is None
    assert said(bank.jobs.get(job.id)) == "changed"


def test_a_change_of_standing_alone_is_no_change_of_content(bank: Bank) -> None:
    bank.remember("as it was", id="m")
    bank.jobs.add("keep", about="m@1")
    bank.update("m", importance=0.9)
    bank.pin("m")
    assert do(bank) == {"done": 1}


def test_a_job_may_be_for_other_input_by_its_digest(bank: Bank) -> None:
    def digest(reader: Reader, payload: Any) -> str:
        return f"of {sorted(reader.records('aliases'))}"

    handler = Handler(keeps, digest=digest)
    bank.jobs._handlers = {"keep": handler}
    first = bank.jobs.add("keep")
    bank.facts.alias("Em", "Maya")
    second = bank.jobs.add("keep")
    assert first.digest != second.digest
    assert do(bank, handler) == {"stale": 1, "done": 1}
    assert (bank.jobs.get(first.id).state, bank.jobs.get(second.id).state) == ("stale", "done")


def test_a_job_about_what_is_purged_meanwhile_is_gone_and_without_effect(bank: Bank) -> None:
    bank.remember("as it was", id="m")
    bank.jobs.add("keep", about="m@1")

    def run(work: Work) -> Effect:
        work.bank.purge("m")
        return keeping(work)

    assert do(bank, run) == {"lost": 1}
    assert bank.get("kept") is None
    assert bank.jobs.list() == []


# --- failures


@pytest.mark.parametrize(
    "problem",
    [AdapterError("a", "chat", "away", retryable=True), BusyError("write"), RuntimeError("our secret plan")],
    ids=["retryable", "storage", "unforeseen"],
)
def test_what_may_pass_is_tried_again_after_growing_pauses_and_then_dead(
    bank: Bank, clock: HandClock, problem: Exception
) -> None:
    job = bank.jobs.add("keep", tries=3)
    for attempt, longest in ((1, 5), (2, 10)):
        assert do(bank, fails(problem)) == {"later": 1}
        failed = bank.jobs.get(job.id)
        assert failed.attempts == attempt
        assert clock() + timedelta(seconds=longest / 2) <= failed.due_at <= clock() + timedelta(seconds=longest)
        assert do(bank, fails(problem)) == {}
        clock.now = failed.due_at
    assert do(bank, fails(problem)) == {"dead": 1}
    dead = bank.jobs.get(job.id)
    assert (dead.state, dead.attempts) == ("dead", 3)
    assert dead.problem is not None
    assert dead.problem.code == getattr(problem, "code", "unknown_error")
    assert "secret" not in str(bank.jobs.get(job.id).as_dict())


def test_pauses_do_not_grow_beyond_their_bound_and_differ(bank: Bank) -> None:
    import random

    chance = random.Random(1)
    pauses = {QUICK.pause(attempt, chance) for attempt in range(20, 60)}
    assert len(pauses) == 40
    assert max(pauses) <= QUICK.longest_pause <= 2 * min(pauses)


@pytest.mark.parametrize(
    "problem",
    [AdapterError("a", "chat", "wrong key"), InputError("payload", "an id", None), NotFoundError("memory", "m")],
)
def test_what_cannot_pass_is_dead_at_once(bank: Bank, problem: Exception) -> None:
    job = bank.jobs.add("keep")
    assert do(bank, fails(problem)) == {"dead": 1}
    assert bank.jobs.get(job.id).attempts == 1


def poison(bank: Bank, id: str, column: str, value: Any) -> None:
    other = sqlite3.connect(bank.core.store.path, isolation_level=None)  # type: ignore[attr-defined]
    other.execute(f"UPDATE job SET {column} = ? WHERE id = ?", (value, id))
    other.close()


@pytest.mark.parametrize(
    ("column", "value", "reason"),
    [
        ("kind", "nobody's", "unknown_kind"),
        ("payload", '{"id": ', "unreadable_payload"),
        ("payload", "[1]", "unreadable_payload"),
        ("payload", "[" * 100_000, "unreadable_payload"),
        ("payload", b"\xff\x00", "unreadable_payload"),
        ("payload", '{"wrong": 1}', "invalid_input"),
    ],
)
def test_a_poisoned_job_goes_to_the_dead_and_holds_up_nobody(bank: Bank, column: str, value: Any, reason: str) -> None:
    def check(payload: Any) -> None:
        if "wrong" in payload:
            raise InputError("payload", "something else", payload)

    poisoned = bank.jobs.add("keep", {"id": "poisoned"}, priority=9)
    bank.jobs.add("keep", {"id": "sound"})
    poison(bank, poisoned.id, column, value)
    assert do(bank, Handler(keeps, check)) == {"dead": 1, "done": 1}
    dead = bank.jobs.list(states="dead")
    assert [(job.id, said(job)) for job in dead] == [(poisoned.id, reason)]
    assert bank.get("sound") is not None
    assert bank.get("poisoned") is None
    finding = next(finding for finding in bank.doctor().findings if finding.check == "work")
    assert finding.detail == "1 done, 1 dead"
    assert finding.remedy is not None


def test_the_dead_are_done_when_their_cause_is_gone_and_they_are_replayed(bank: Bank) -> None:
    job = bank.jobs.add("keep")
    do(bank, fails(AdapterError("a", "chat", "wrong key")))
    [again] = bank.jobs.replay(job.id)
    assert (again.state, again.attempts, again.problem) == ("waiting", 0, None)
    assert do(bank) == {"done": 1}
    with pytest.raises(ConflictError, match="this one is done"):
        bank.jobs.replay(job.id)


def test_what_is_over_is_forgotten_after_a_week_and_the_dead_never(bank: Bank, clock: HandClock) -> None:
    bank.jobs.add("keep")
    bank.jobs.add("nobodys")
    do(bank)
    clock.move(days=7)
    bank.jobs.add("keep", {"id": "other"})
    do(bank)
    assert bank.jobs.counts() == {"done": 2, "dead": 1}
    clock.move(seconds=1)
    bank.jobs.add("keep", {"id": "third"})
    do(bank)
    assert bank.jobs.counts() == {"done": 2, "dead": 1}


# --- leases


def taken_over(work: Work, clock: HandClock) -> None:
    """Let the lease expire and another worker claim the job at once."""
    with work.bank.core.store.writing() as writer:
        clock.move(minutes=5)
        assert writer.claim(Lease("another", "another", micros(clock() + timedelta(minutes=5)))) is not None


def test_a_worker_that_lost_its_job_has_no_effect(bank: Bank, clock: HandClock) -> None:
    job = bank.jobs.add("keep")

    def run(work: Work) -> Effect:
        taken_over(work, clock)
        return keeping(work)

    assert do(bank, run) == {"lost": 1}
    assert bank.get("kept") is None
    assert bank.changes() == ()
    held = bank.jobs.get(job.id)
    assert (held.state, held.worker, held.takeovers) == ("running", "another", 1)


def test_nor_does_it_apply_any_more_or_fail_the_job(bank: Bank, clock: HandClock) -> None:
    job = bank.jobs.add("keep")

    def run(work: Work) -> Effect:
        assert work.apply(keeping(work, "before")) is not None
        taken_over(work, clock)
        with pytest.raises(JobError):
            work.apply(keeping(work, "after"))
        raise RuntimeError

    assert do(bank, run) == {"lost": 1}
    assert bank.get("before") is not None
    assert bank.get("after") is None
    assert bank.jobs.get(job.id).problem is None


def test_a_handler_hears_that_its_job_was_cancelled(bank: Bank, again: Bank) -> None:
    job = bank.jobs.add("keep")

    def run(work: Work) -> Effect:
        again.jobs.cancel(job.id)
        work.progress(1, 2)
        soon(lambda: work.lost)
        work.check()
        raise AssertionError("check raises")

    assert do(bank, run) == {"lost": 1}
    assert bank.jobs.get(job.id).state == "cancelled"


def test_progress_is_read_by_others_while_the_job_runs(bank: Bank, again: Bank) -> None:
    job = bank.jobs.add("keep")
    told: list[Progress] = []

    def run(work: Work) -> None:
        work.progress(3, 7, "texts")
        soon(lambda: again.jobs.get(job.id).progress == Progress(3, 7, "texts"))

    worker = Worker(lambda: (bank,), {"keep": Handler(run)}, told=lambda job, progress: told.append(progress))
    assert dict(worker.run(once=True)) == {"done": 1}
    assert told == [Progress(3, 7, "texts")]


def test_a_lease_is_kept_up_as_long_as_the_handler_works(bank: Bank, again: Bank, clock: HandClock) -> None:
    job = bank.jobs.add("keep")

    def extended_by(moment: datetime) -> bool:
        with again.core.store.reading() as reader:
            due = reader.jobs_due()
        return due is not None and due >= micros(moment)

    def run(work: Work) -> Effect:
        for _ in range(5):
            clock.move(seconds=20)
            soon(lambda: extended_by(clock() + timedelta(seconds=30)))
            assert do(again, kind="keep") == {}
        return keeping(work)

    assert do(bank, run) == {"done": 1}
    assert bank.jobs.get(job.id).takeovers == 0


# --- budgets


def test_a_job_that_meets_the_budget_is_put_off_until_the_next_day_and_keeps_its_tries(
    tmp_path: Path, clock: HandClock
) -> None:
    def run(work: Work) -> Effect:
        work.meter.allow("state", "test:model")
        work.meter.note("state", "test:model", {"input_tokens": 90, "output_tokens": 10}, 0.1)
        return keeping(work, work.job.key)

    def wrapped(work: Work) -> Effect:
        try:
            return run(work)
        except pieria.errors.BudgetError as problem:
            raise PipelineError("extraction_failed", errors=[problem]) from problem

    settings = {**SETTINGS, "budget_tokens_per_day": 150}
    with pieria.open("b", data=tmp_path, clock=clock, settings=settings) as bank:
        jobs = [bank.jobs.add("keep", key=key, tries=1) for key in "abc"]
        assert do(bank, run) == {"done": 2, "later": 1}
        third = bank.jobs.get(jobs[2].id)
        assert (third.attempts, said(third), third.due_at) == (0, "budget", datetime(2026, 3, 2, tzinfo=UTC))
        clock.now = datetime(2026, 3, 1, 23, 59, tzinfo=UTC)
        assert do(bank, wrapped) == {}
        clock.now = datetime(2026, 3, 2, tzinfo=UTC)
        bank.core.meter.note("state", "test:model", {"input_tokens": 150}, 0.1)
        assert do(bank, wrapped) == {"later": 1}
        assert bank.jobs.get(jobs[2].id).due_at == datetime(2026, 3, 3, tzinfo=UTC)
        clock.now = datetime(2026, 3, 3, tzinfo=UTC)
        assert do(bank, wrapped) == {"done": 1}
        assert bank.jobs.get(jobs[2].id).attempts == 1


# --- ends


class Slow:
    """A handler that runs until the test ends it."""

    def __init__(self, *, heeds: bool) -> None:
        self.heeds = heeds
        self.begun, self.go_on, self.over = threading.Event(), threading.Event(), threading.Event()
        self.problem: Exception | None = None

    def __call__(self, work: Work) -> Effect:
        self.begun.set()
        try:
            while not self.go_on.wait(0.01):
                if self.heeds:
                    work.check()
            return lambda writer: self._planned(work)
        finally:
            self.over.set()

    def _planned(self, work: Work) -> Changeset:
        return keeping(work)


@pytest.mark.parametrize("heeds", [True, False])
@pytest.mark.parametrize("what", ["worker", "bank"])
def test_a_long_job_is_given_back_at_the_close_and_has_no_effect(
    bank: Bank, again: Bank, heeds: bool, what: str
) -> None:
    job = bank.jobs.add("keep")
    slow = Slow(heeds=heeds)
    worker = bank.jobs.worker({"keep": Handler(slow)}, rules=QUICK)
    worker.start()
    assert slow.begun.wait(15)
    (worker if what == "worker" else bank).close()
    given_back = again.jobs.get(job.id)
    assert (given_back.state, given_back.attempts, given_back.problem) == ("waiting", 0, None)
    slow.go_on.set()
    assert worker.wait(15)
    assert again.get("kept") is None
    assert again.jobs.get(job.id).state == "waiting"
    assert do(again) == {"done": 1}


def test_a_job_that_is_nearly_done_is_done_before_the_bank_closes(bank: Bank, again: Bank) -> None:
    bank.jobs.add("keep")
    slow = Slow(heeds=False)
    worker = bank.jobs.worker({"keep": Handler(slow)}, rules=QUICK)
    worker.start()
    assert slow.begun.wait(15)
    threading.Timer(LAST_CHANCE / 20, slow.go_on.set).start()
    bank.close()
    assert worker.wait(15)
    assert again.jobs.counts() in ({"done": 1}, {"waiting": 1})
    assert (again.get("kept") is not None) == (again.jobs.counts() == {"done": 1})


def test_a_worker_that_is_closed_begins_nothing(bank: Bank) -> None:
    job = bank.jobs.add("keep")
    worker = bank.jobs.worker({"keep": Handler(keeps)})
    worker.close()
    assert dict(worker.run()) == {}
    assert bank.jobs.get(job.id).state == "waiting"


def test_a_worker_ends_when_nothing_was_to_do_for_a_while(bank: Bank) -> None:
    bank.jobs.add("keep")
    worker = bank.jobs.worker({"keep": Handler(keeps)}, rules=QUICK)
    worker.start(idle=0.05)
    assert worker.wait(15)
    assert dict(worker.tally) == {"done": 1}
    assert worker.problem is None


def test_a_worker_finds_what_is_queued_later(bank: Bank, again: Bank) -> None:
    worker = bank.jobs.worker({"keep": Handler(keeps)}, rules=QUICK)
    worker.start()
    job = again.jobs.add("keep")
    soon(lambda: again.jobs.get(job.id).state == "done")
    worker.close()


def test_a_handler_that_is_interrupted_gives_its_job_back(bank: Bank) -> None:
    job = bank.jobs.add("keep")

    def run(work: Work) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        do(bank, run)
    assert (bank.jobs.get(job.id).state, bank.jobs.get(job.id).attempts) == ("waiting", 0)


def test_a_bank_that_cannot_be_worked_on_is_told_of_and_holds_up_no_other(
    tmp_path: Path, bank: Bank, caplog: pytest.LogCaptureFixture
) -> None:
    with pieria.open("c", data=tmp_path, settings=SETTINGS) as other:
        other.jobs.add("keep")
        bank.jobs.add("keep")
        sqlite3.connect(bank.core.store.path, isolation_level=None).execute("DROP TABLE job")  # type: ignore[attr-defined]
        worker = Worker(lambda: (bank, other), {"keep": Handler(keeps)}, rules=QUICK)
        worker.start()
        soon(lambda: other.jobs.counts() == {"done": 1})
        soon(lambda: "the worker skips bank b" in caplog.text)
        worker.close()
        with pytest.raises(pieria.errors.CorruptError):
            Worker(lambda: (bank, other), {}).run(once=True)


def test_a_fault_that_nobody_foresaw_in_one_bank_ends_no_worker_for_the_others(
    tmp_path: Path, bank: Bank, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_seconds: float | None = None) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with pieria.open("c", data=tmp_path, settings=SETTINGS) as other, monkeypatch.context() as patched:
        other.jobs.add("keep")
        patched.setattr(bank.core.store, "reading", fail)
        worker = Worker(lambda: (bank, other), {"keep": Handler(keeps)}, rules=QUICK)
        worker.start()
        soon(lambda: other.jobs.counts() == {"done": 1})
        soon(lambda: "the worker skips bank b" in caplog.text)
        assert worker.problem is None
        worker.close()
        with pytest.raises(OSError, match="Input/output error"):
            Worker(lambda: (bank, other), {}).run(once=True)


def test_a_server_that_is_started_anew_ends_no_worker(
    bank: Bank, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(working, "AWAY", 0.01)
    answers: Iterator[PieriaError | list[Bank]] = iter([UnreachableError("list", "it is started anew"), [bank]])

    def banks() -> list[Bank]:
        answer = next(answers, [bank])
        if isinstance(answer, PieriaError):
            raise answer
        return answer

    job = bank.jobs.add("keep")
    worker = Worker(banks, {"keep": Handler(keeps)}, rules=QUICK)
    worker.start()
    soon(lambda: bank.jobs.get(job.id).state == "done")
    worker.close()
    assert worker.problem is None
    assert "the worker looks for no jobs" in caplog.text
    answers = iter([UnreachableError("list", "it is started anew")])
    with pytest.raises(UnreachableError):
        Worker(banks, {}).run(once=True)


def test_a_worker_of_a_closed_bank_does_nothing(bank: Bank, caplog: pytest.LogCaptureFixture) -> None:
    bank.close()
    with caplog.at_level(logging.WARNING, "pieria"):
        assert dict(Worker(lambda: (bank,), {}).run(once=True)) == {}
    assert caplog.records == []
    with pytest.raises(ClosedError):
        bank.jobs.counts()


def test_a_job_that_cannot_be_settled_is_left_to_whoever_takes_it_over(bank: Bank, clock: HandClock) -> None:
    """As on a full disk: the effect is missing, and the job is kept."""
    job = bank.jobs.add("keep")
    in_the_way = sqlite3.connect(bank.core.store.path, isolation_level=None)  # type: ignore[attr-defined]
    in_the_way.execute("CREATE TRIGGER full BEFORE UPDATE OF ended ON job BEGIN SELECT RAISE(ABORT, 'full'); END")
    assert do(bank) == {"lost": 1}
    in_the_way.execute("DROP TRIGGER full")
    assert bank.get("kept") is None
    assert do(bank) == {}
    clock.move(minutes=1)
    assert do(bank) == {"done": 1}
    assert bank.jobs.get(job.id).takeovers == 1


def test_jobs_of_a_changeset_are_queued_by_the_verb_that_brings_them(bank: Bank) -> None:
    with bank.core.writing() as writer:
        bank.core.write_changes(writer, lambda _: Changeset("keep", jobs=[new_job("keep", key="k")]))
    assert [job.key for job in bank.jobs.list()] == ["k"]
    assert bank.changes() == ()


def test_answers_are_values(bank: Bank) -> None:
    import copy
    import pickle

    job = bank.jobs.add("keep", {"id": "a"})
    assert pickle.loads(pickle.dumps(job)) == copy.deepcopy(job) == job  # noqa: S301
    assert Outcome("done") == Outcome("done")
    assert JobQuery() == JobQuery()
