"""Jobs and their workers: which jobs run, and that an effect exists once, together with its job."""

import copy
import errno
import logging
import os
import pickle
import random
import sqlite3
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.contract.store_helpers import START, HandClock
from tests.waiting import soon

from pieria import Bank, errors
from pieria.bank.jobs import run as running
from pieria.bank.jobs import worker as working
from pieria.bank.jobs.handlers import Effect, Handler
from pieria.bank.jobs.run import Work, WorkerTimes
from pieria.bank.jobs.worker import Worker
from pieria.record.changeset import Changeset
from pieria.record.draft import NewMemory, checked
from pieria.record.job import Job, Lease, Progress, new_job
from pieria.record.time import micros
from pieria.store.protocol import Reader, Writer
from pieria.store.rows import first_write

Opened = Callable[..., Bank]
QUICK = WorkerTimes(poll=0.01)
WRONG_KEY = errors.AdapterError("a", "chat", "wrong key")


@pytest.fixture(autouse=True)
def short_beat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "BEAT", 0.01)


@pytest.fixture
def again(opened: Opened) -> Bank:
    """Open the same bank through its own store, as another process does."""
    return opened(busy_seconds=21)


def keeping(work: Work, id: str = "kept") -> Changeset:
    """Return an effect that writes one memory."""
    write = first_write(checked(NewMemory("an effect")), id, work.bank.core.now(), "b/note")
    return Changeset("keep", writes=[write])


def keeps(work: Work) -> Effect:
    return keeping(work, work.payload.get("id", "kept"))


def fails(problem: BaseException) -> Handler:
    def run(work: Work) -> None:
        raise problem

    return Handler(run)


def do(bank: Bank, run: Callable[[Work], Effect] | Handler = keeps, kind: str = "keep") -> dict[str, int]:
    """Run all due jobs with this handler. Return the counts."""
    handler = run if isinstance(run, Handler) else Handler(run)
    return dict(bank.jobs.worker({kind: handler}, rules=QUICK).run(once=True))


def said(job: Job) -> str | None:
    return job.problem.code if job.problem else None


def sql(bank: Bank, *statement: Any) -> None:
    connection = sqlite3.connect(bank.core.store.path, isolation_level=None)  # type: ignore[attr-defined]
    connection.execute(*statement)
    connection.close()


def test_bad_job_is_not_queued(bank: Bank) -> None:
    wrong: list[dict[str, Any]] = [
        {"kind": "Embed it"}, {"kind": ""}, {"payload": ["a"]}, {"payload": {"a": {1, 2}}},
        {"payload": {"text": "a" * (65 << 10)}}, {"payload": {"a": 1}, "kind": "embed"}, {"key": " "}, {"about": "m"},
        {"priority": 5_000}, {"tries": 0}, {"due": "soon"},
    ]  # fmt: skip
    for values in wrong:
        with pytest.raises(errors.InputError) as caught:
            bank.jobs.add(**{"kind": "keep", **values})
        assert caught.value.parameter == next(iter(values))
    assert bank.jobs.list() == []


def test_jobs_are_looked_up_listed_and_counted(bank: Bank) -> None:
    first = bank.jobs.add("keep", {"id": "a"}, priority=2)
    second = bank.jobs.add("other", due=START + timedelta(hours=1))
    assert (bank.jobs.get(first.id), bank.jobs.list()) == (first, [second, first])
    assert bank.jobs.list(states="later") == bank.jobs.list(kinds="other") == [second]
    assert [bank.jobs.list(limit=limit).truncated for limit in (1, 2)] == [True, False]
    assert bank.jobs.counts() == bank.stats().jobs == {"waiting": 1, "later": 1}
    assert first.as_dict()["payload"] == {"id": "a"}
    assert pickle.loads(pickle.dumps(first)) == copy.deepcopy(first) == first  # noqa: S301
    with pytest.raises(errors.NotFoundError):
        bank.jobs.get("no")
    with pytest.raises(errors.InputError, match="Did you mean") as caught:
        bank.jobs.list(states="wating")
    assert caught.value.parameter == "states"


def test_journal_holds_effects_but_no_jobs(bank: Bank) -> None:
    bank.remember("a word")
    before = bank.changes()
    bank.jobs.cancel(bank.jobs.add("keep").id)
    bank.jobs.replay(bank.jobs.list()[0].id)
    assert do(bank, lambda work: Changeset("nothing", jobs=[new_job("later")])) == {"done": 1, "dead": 1}
    assert bank.jobs.list(kinds="later", states="dead")
    with bank.core.writing() as writer:
        bank.core.write_changes(writer, lambda _: Changeset("keep", jobs=[new_job("keep", key="k")]))
    assert ([job.key for job in bank.jobs.list(states="waiting")], bank.changes()) == (["k"], before)


def test_job_and_its_effect_are_done_once(bank: Bank) -> None:
    job = bank.jobs.add("keep", {"id": "kept"})
    assert (do(bank), do(bank)) == ({"done": 1}, {})
    assert bank.get("kept") is not None
    assert [change.what for change in bank.changes()] == ["keep"]
    done = bank.jobs.get(job.id)
    assert (done.state, done.attempts, done.ended_at, bool(done.worker)) == ("done", 1, START, True)


def test_effect_that_cannot_be_written_leaves_the_job_undone(bank: Bank, clock: HandClock) -> None:
    def plan(writer: Writer) -> Changeset:
        writer.apply(Changeset("half", records=[]))
        raise errors.ConflictError("there is something in the way")

    refused = bank.jobs.add("keep")
    assert do(bank, lambda work: plan) == {"dead": 1}
    assert (bank.changes(), said(bank.jobs.get(refused.id))) == ((), "conflict")
    # As on a full disk: the effect is missing, and another worker takes the job over.
    job = bank.jobs.add("keep")
    sql(bank, "CREATE TRIGGER full BEFORE UPDATE OF ended ON job BEGIN SELECT RAISE(ABORT, 'full'); END")
    assert do(bank) == {"lost": 1}
    sql(bank, "DROP TRIGGER full")
    assert bank.get("kept") is None
    assert do(bank) == {}
    clock.move(minutes=1)
    assert do(bank) == {"done": 1}
    assert bank.jobs.get(job.id).takeovers == 1


def test_worker_takes_priorities_kinds_and_banks_in_turn(bank: Bank, opened: Opened) -> None:
    done: list[str] = []
    run = Handler(lambda work: done.append(f"{work.bank.name} {work.job.key}"))
    other = opened("other")
    for key, priority in (("low", -1), ("first", 0), ("second", 0), ("high", 1)):
        bank.jobs.add("keep", key=key, priority=priority)
    other.jobs.add("keep", key="1")
    left = bank.jobs.add("left")
    worker = Worker(lambda: (bank, other), {"keep": run}, kinds=["keep"])
    assert dict(worker.run(once=True)) == {"done": 5}
    assert done == ["notes high", "other 1", "notes first", "notes second", "notes low"]
    assert bank.jobs.get(left.id).state == "waiting"


def test_bank_is_embedded_by_a_job(opened: Opened) -> None:
    bank = opened(embedder="hashing")
    with bank.core.embedding.aside():
        bank.remember("heron")
        bank.jobs.add("embed")
        assert dict(bank.jobs.worker().run(once=True)) == {"done": 1}
    assert bank.stats().pending == {"vectors": 0}
    assert bank.jobs.list()[0].progress == Progress(1, 1, "texts")
    other = opened(embedder="hashing:64")
    other.remember("stork")
    job = other.jobs.add("embed")
    assert dict(other.jobs.worker().run(once=True)) == {"dead": 1}
    assert said(other.jobs.get(job.id)) == "unavailable"


def test_job_about_changed_content_does_nothing(bank: Bank) -> None:
    changes: list[Callable[[str], object]] = [
        bank.remove, lambda id: bank.update(id, text="otherwise"), lambda id: bank.revise(id, text="otherwise"),
    ]  # fmt: skip
    for number, change in enumerate(changes * 2):
        is_before = number < len(changes)
        id = bank.remember("as it was").id
        job = bank.jobs.add("keep", about=f"{id}@1")
        ran: list[object] = []

        def run(work: Work, id: str = id, change: Callable[[str], object] = change, ran: list[object] = ran) -> Effect:
            ran.append(change(id))
            return keeping(work)

        if is_before:
            change(id)
        assert do(bank, run) == {"stale": 1}
        assert (len(ran), said(bank.jobs.get(job.id))) == (0 if is_before else 1, "changed")
    assert bank.get("kept") is None


def test_job_may_depend_on_other_input_by_its_digest(bank: Bank) -> None:
    def digest(reader: Reader, payload: Any) -> str:
        return f"of {sorted(reader.records('aliases'))}"

    handler = Handler(keeps, digest=digest)
    bank.jobs._handlers = {"keep": handler}
    first = bank.jobs.add("keep")
    bank.facts.alias("Em", "Maya")
    second = bank.jobs.add("keep")
    assert first.digest != second.digest
    # A change of a memory's standing is no change of its content.
    bank.remember("as it was", id="m")
    bank.jobs.add("keep", {"id": "m's"}, about="m@1")
    bank.update("m", importance=0.9)
    bank.pin("m")
    assert do(bank, handler) == {"stale": 1, "done": 2}
    assert [bank.jobs.get(job.id).state for job in (first, second)] == ["stale", "done"]


def test_purge_meanwhile_takes_the_job_and_its_effect_along(bank: Bank) -> None:
    bank.remember("as it was", id="m")
    bank.jobs.add("keep", about="m@1")
    assert do(bank, lambda work: keeping(work) if work.bank.purge("m") else None) == {"lost": 1}
    assert (bank.get("kept"), bank.jobs.list()) == (None, [])


def test_passing_failure_is_tried_again_after_growing_pauses(bank: Bank, clock: HandClock) -> None:
    away = errors.AdapterError("a", "chat", "away", retryable=True)
    for problem in (away, errors.BusyError("write"), RuntimeError("our secret plan")):
        job = bank.jobs.add("keep", tries=3)
        for attempt, longest in ((1, 5), (2, 10)):
            assert do(bank, fails(problem)) == {"later": 1}
            failed = bank.jobs.get(job.id)
            assert failed.attempts == attempt
            assert longest / 2 <= (failed.due_at - clock()).total_seconds() <= longest
            assert do(bank, fails(problem)) == {}
            clock.now = failed.due_at
        assert do(bank, fails(problem)) == {"dead": 1}
        dead = bank.jobs.get(job.id)
        assert (dead.state, dead.attempts, said(dead)) == ("dead", 3, getattr(problem, "code", "unknown_error"))
        assert "secret" not in str(dead.as_dict())
    chance = random.Random(1)
    pauses = {QUICK.pause(attempt, chance) for attempt in range(20, 60)}
    assert len(pauses) == 40
    assert max(pauses) <= QUICK.longest_pause <= 2 * min(pauses)


def test_lasting_failure_is_dead_at_once_and_can_be_replayed(bank: Bank) -> None:
    for problem in (errors.InputError("payload", "an id", None), errors.NotFoundError("memory", "m"), WRONG_KEY):
        job = bank.jobs.add("keep")
        assert do(bank, fails(problem)) == {"dead": 1}
        assert bank.jobs.get(job.id).attempts == 1
    [again] = bank.jobs.replay(job.id)
    assert (again.state, again.attempts, again.problem) == ("waiting", 0, None)
    assert do(bank) == {"done": 1}
    with pytest.raises(errors.ConflictError, match="this one is done"):
        bank.jobs.replay(job.id)


def test_poisoned_job_is_dead_and_holds_up_no_other(bank: Bank) -> None:
    def check(payload: Any) -> None:
        if "wrong" in payload:
            raise errors.InputError("payload", "something else", payload)

    unreadable: list[Any] = ['{"id": ', "[1]", "[" * 100_000, b"\xff\x00"]
    poisons = [("payload", value, "unreadable_payload") for value in unreadable]
    poisons += [("kind", "nobody's", "unknown_kind"), ("payload", '{"wrong": 1}', "invalid_input")]
    for number, (column, value, reason) in enumerate(poisons):
        poisoned = bank.jobs.add("keep", {"id": "poisoned"}, priority=9)
        bank.jobs.add("keep", {"id": f"sound {number}"})
        sql(bank, f"UPDATE job SET {column} = ? WHERE id = ?", (value, poisoned.id))
        assert do(bank, Handler(keeps, check)) == {"dead": 1, "done": 1}
        assert said(bank.jobs.get(poisoned.id)) == reason
        assert bank.get(f"sound {number}") is not None
    assert bank.get("poisoned") is None
    [finding] = [finding for finding in bank.doctor().findings if finding.check == "work"]
    assert (finding.detail, bool(finding.remedy)) == ("6 done, 6 dead", True)


def test_ended_jobs_are_forgotten_after_a_week_but_not_the_dead(bank: Bank, clock: HandClock) -> None:
    bank.jobs.add("nobodys")
    for id, pause in (("kept", 0), ("other", 7 * 86_400), ("third", 1)):
        clock.move(seconds=pause)
        bank.jobs.add("keep", {"id": id})
        do(bank)
        assert bank.jobs.counts() == {"done": 1 if id == "kept" else 2, "dead": 1}


def taken_over(work: Work, clock: HandClock) -> Effect:
    """Let the lease expire and another worker claim the job at once. Return an effect that comes too late."""
    with work.bank.core.store.writing() as writer:
        clock.move(minutes=5)
        assert writer.claim(Lease("another", "another", micros(clock() + timedelta(minutes=5)))) is not None
    return keeping(work)


def test_worker_that_lost_its_job_has_no_effect_on_it(bank: Bank, clock: HandClock) -> None:
    job = bank.jobs.add("keep")

    def run(work: Work) -> Effect:
        assert work.apply(keeping(work, "before")) is not None
        taken_over(work, clock)
        with pytest.raises(errors.JobError):
            work.apply(keeping(work, "after"))
        raise RuntimeError

    assert do(bank, run) == {"lost": 1}
    assert [bank.get(id) is None for id in ("before", "after")] == [False, True]
    held = bank.jobs.get(job.id)
    assert (held.state, held.worker, held.takeovers, held.problem) == ("running", "another", 1, None)
    clock.move(minutes=10)
    assert do(bank, lambda work: taken_over(work, clock)) == {"lost": 1}
    assert bank.get("kept") is None


def test_cancellation_and_progress_are_seen_on_the_other_side(bank: Bank, again: Bank) -> None:
    job = bank.jobs.add("keep")
    told: list[Progress] = []

    def run(work: Work) -> Effect:
        work.progress(3, 7, "texts")
        soon(lambda: again.jobs.get(job.id).progress == Progress(3, 7, "texts"))
        again.jobs.cancel(job.id)
        work.progress(4, 7, "texts")
        soon(lambda: work.lost)
        work.check()
        raise AssertionError("check raises")

    worker = Worker(lambda: (bank,), {"keep": Handler(run)}, told=lambda job, progress: told.append(progress))
    assert dict(worker.run(once=True)) == {"lost": 1}
    assert told[0] == Progress(3, 7, "texts")
    assert bank.jobs.get(job.id).state == "cancelled"


def test_lease_is_kept_up_while_the_handler_works(bank: Bank, again: Bank, clock: HandClock) -> None:
    job = bank.jobs.add("keep")

    def extended_by(moment: datetime) -> bool:
        with again.core.store.reading() as reader:
            due = reader.jobs_due()
        return due is not None and due >= micros(moment)

    def run(work: Work) -> Effect:
        for _ in range(2):
            clock.move(seconds=20)
            soon(lambda: extended_by(clock() + timedelta(seconds=30)))
            assert do(again, kind="keep") == {}
        return keeping(work)

    assert do(bank, run) == {"done": 1}
    assert bank.jobs.get(job.id).takeovers == 0


def test_used_up_budget_puts_a_job_off_to_the_next_day(opened: Opened, clock: HandClock) -> None:
    def run(work: Work) -> Effect:
        work.meter.allow("state", "test:model")
        work.meter.note("state", "test:model", {"input_tokens": 90, "output_tokens": 10}, 0.1)
        return keeping(work, work.job.key)

    def wrapped(work: Work) -> Effect:
        try:
            return run(work)
        except errors.BudgetError as problem:
            raise errors.PipelineError("extraction_failed", errors=[problem]) from problem

    bank = opened(budget_tokens_per_day=150)
    *_, third = [bank.jobs.add("keep", key=key, tries=1).id for key in "abc"]
    assert do(bank, run) == {"done": 2, "later": 1}
    late = bank.jobs.get(third)
    assert (late.attempts, said(late), late.due_at) == (0, "budget", datetime(2026, 3, 2, tzinfo=UTC))
    clock.now = datetime(2026, 3, 1, 23, 59, tzinfo=UTC)
    assert do(bank, wrapped) == {}
    clock.now = datetime(2026, 3, 2, tzinfo=UTC)
    bank.core.meter.note("state", "test:model", {"input_tokens": 150}, 0.1)
    assert do(bank, wrapped) == {"later": 1}
    clock.now = datetime(2026, 3, 3, tzinfo=UTC)
    assert bank.jobs.get(third).due_at == clock.now
    assert (do(bank, wrapped), bank.jobs.get(third).attempts) == ({"done": 1}, 1)


@pytest.mark.parametrize(("heeds", "what"), [(True, "worker"), (False, "bank")])
def test_long_job_is_given_back_when_its_worker_closes(bank: Bank, again: Bank, heeds: bool, what: str) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def run(work: Work) -> Effect:
        begun.set()
        while not go_on.wait(0.01):
            if heeds:
                work.check()
        return lambda writer: keeping(work)

    job = bank.jobs.add("keep")
    worker = bank.jobs.worker({"keep": Handler(run)}, rules=QUICK)
    worker.start()
    assert begun.wait(15)
    (worker if what == "worker" else bank).close()
    given_back = again.jobs.get(job.id)
    assert (given_back.state, given_back.attempts, given_back.problem) == ("waiting", 0, None)
    go_on.set()
    assert worker.wait(15)
    assert again.get("kept") is None
    assert again.jobs.get(job.id).state == "waiting"
    assert do(again) == {"done": 1}


def test_nearly_done_job_ends_before_the_bank_closes(bank: Bank, again: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(working, "LAST_CHANCE", 15)
    begun = threading.Event()

    def run(work: Work) -> Effect:
        begun.set()
        soon(lambda: work.stopping)
        return keeping(work)

    bank.jobs.add("keep")
    worker = bank.jobs.worker({"keep": Handler(run)}, rules=QUICK)
    worker.start()
    assert begun.wait(15)
    bank.close()
    assert again.jobs.counts() == {"done": 1}
    assert again.get("kept") is not None


def test_worker_begins_nothing_once_it_or_its_bank_is_closed(bank: Bank, caplog: pytest.LogCaptureFixture) -> None:
    job = bank.jobs.add("keep")
    with pytest.raises(KeyboardInterrupt):
        do(bank, fails(KeyboardInterrupt()))
    assert (bank.jobs.get(job.id).state, bank.jobs.get(job.id).attempts) == ("waiting", 0)
    worker = bank.jobs.worker({"keep": Handler(keeps)})
    worker.close()
    assert dict(worker.run()) == {}
    assert bank.jobs.get(job.id).state == "waiting"
    bank.close()
    with caplog.at_level(logging.WARNING, "pieria"):
        assert dict(Worker(lambda: (bank,), {}).run(once=True)) == {}
    assert caplog.records == []
    with pytest.raises(errors.ClosedError):
        bank.jobs.counts()


def test_worker_finds_later_jobs_and_ends_when_it_is_idle(bank: Bank, again: Bank) -> None:
    worker, idle = (bank.jobs.worker({"keep": Handler(keeps)}, rules=QUICK) for _ in range(2))
    worker.start()
    job = again.jobs.add("keep")
    soon(lambda: again.jobs.get(job.id).state == "done")
    worker.close()
    bank.jobs.add("keep", {"id": "other"})
    idle.start(idle=0.05)
    assert idle.wait(15)
    assert (dict(idle.tally), idle.problem) == ({"done": 1}, None)


@pytest.mark.parametrize("fault", ["damage", "an unforeseen error"])
def test_fault_in_one_bank_ends_no_worker_for_the_others(
    bank: Bank, opened: Opened, fault: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_seconds: float | None = None) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    other = opened("other")
    other.jobs.add("keep")
    with monkeypatch.context() as patched:
        if fault == "damage":
            sql(bank, "DROP TABLE job")
        else:
            patched.setattr(bank.core.store, "reading", fail)
        worker = Worker(lambda: (bank, other), {"keep": Handler(keeps)}, rules=QUICK)
        worker.start()
        soon(lambda: other.jobs.counts() == {"done": 1} and "the worker skips bank notes" in caplog.text)
        assert worker.problem is None
        worker.close()
        with pytest.raises(errors.CorruptError if fault == "damage" else OSError):
            Worker(lambda: (bank, other), {}).run(once=True)


def test_restart_of_a_server_ends_no_worker(
    bank: Bank, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(working, "AWAY", 0.01)
    away = [errors.UnreachableError("list", "it is started anew")]

    def banks() -> list[Bank]:
        if away:
            raise away.pop()
        return [bank]

    job = bank.jobs.add("keep")
    worker = Worker(banks, {"keep": Handler(keeps)}, rules=QUICK)
    worker.start()
    soon(lambda: bank.jobs.get(job.id).state == "done")
    worker.close()
    assert worker.problem is None
    assert "the worker looks for no jobs" in caplog.text
    away.append(errors.UnreachableError("list", "it is started anew"))
    with pytest.raises(errors.UnreachableError):
        Worker(banks, {}).run(once=True)
