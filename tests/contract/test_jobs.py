"""Jobs and the ledger in every store: one job per key, priorities and leases, with no journal entries."""

from dataclasses import replace
from typing import Any

import pytest
from tests.contract.conftest import Opens
from tests.contract.single_calls import read, write
from tests.contract.store_helpers import HOUR, NOW, HandClock, apply, everything, memory
from tests.contract.test_vectors import well

from pieria.errors import ConflictError, NotFoundError
from pieria.record.changeset import Changeset
from pieria.record.job import Job, JobQuery, Lease, NewJob, Outcome, Problem, Progress, Spent, new_job
from pieria.record.time import moment
from pieria.store.protocol import Store

MINUTE = HOUR // 60
DONE = Outcome("done")
PROBLEM = Problem("adapter", "adapter test: it failed")


def queue(store: Store, *jobs: NewJob) -> list[str]:
    return write(store).enqueue(jobs)


def claim(store: Store, lease: str = "t", until: int = NOW + MINUTE, kinds: list[str] | None = None) -> Job | None:
    return write(store).claim(Lease(lease, "worker", until), kinds)


def claimed(store: Store, lease: str = "t", until: int = NOW + MINUTE, kinds: list[str] | None = None) -> Job:
    found = claim(store, lease, until, kinds)
    assert found is not None
    return found


def settle(store: Store, outcome: Outcome = DONE, lease: str = "t") -> bool:
    return write(store).settle(lease, outcome)


def run(store: Store, outcome: Outcome = DONE) -> None:
    """Claim the next job and end it."""
    claim(store)
    assert settle(store, outcome)


def job(store: Store, id: str) -> Job:
    return read(store).jobs(JobQuery(ids=(id,)))[0]


def due(store: Store, kinds: list[str] | None = None) -> int | None:
    return read(store).jobs_due(kinds)


def listed(store: Store, **asked: Any) -> list[str]:
    return [job.id for job in read(store).jobs(JobQuery(**asked))]


def test_job_goes_from_waiting_through_running_to_done(store: Store, clock: HandClock) -> None:
    [id] = queue(store, new_job("embed", {"place": "a/b"}, key="k", about="m@2", digest="d", priority=3, tries=7))
    waiting = job(store, id)
    assert waiting == Job(
        id=id, kind="embed", key="k", payload={"place": "a/b"}, memory="m", version=2, digest="d", priority=3,
        state="waiting", due_at=clock(), attempts=0, tries=7, takeovers=0, worker=None, made_at=clock(), begun_at=None,
        ended_at=None, progress=None, problem=None,
    )  # fmt: skip
    clock.move(seconds=5)
    running = claimed(store)
    assert running == replace(waiting, state="running", attempts=1, worker="worker", begun_at=clock())
    assert claim(store, "other") is None
    clock.move(seconds=5)
    assert settle(store)
    assert job(store, id) == replace(running, state="done", ended_at=clock())
    assert not settle(store)


def test_most_urgent_due_job_of_the_kinds_is_claimed(store: Store, clock: HandClock) -> None:
    queue(store, *(new_job("k", key=key, priority=n) for key, n in (("a", 0), ("b", 5), ("c", 0), ("d", 5))))
    assert [claimed(store, lease).key for lease in "1234"] == ["b", "d", "a", "c"]
    [id] = queue(store, new_job("two", key="later", due=moment(NOW + MINUTE), priority=9))
    assert job(store, id).state == "later"
    assert (due(store, ["two"]), claim(store, kinds=["two"])) == (NOW + MINUTE, None)
    queue(store, new_job("one", key="a", priority=9), new_job("two", key="b"))
    assert (due(store, ["three"]), due(store, ["two"])) == (None, NOW)
    assert claim(store, kinds=["three"]) is None
    assert claimed(store, "5", NOW + HOUR, kinds=["two", "three"]).key == "b"
    clock.move(seconds=60)
    assert claimed(store, "6", NOW + 2 * HOUR, kinds=["two"]).id == id
    assert due(store, ["two"]) == NOW + HOUR


def test_same_work_is_queued_once_while_it_waits_or_runs(store: Store) -> None:
    [first] = queue(store, new_job("k", {"n": 1}))
    assert queue(store, new_job("k", {"n": 1}), new_job("k", {"n": 2}), new_job("other", {"n": 1})).count(first) == 1
    claim(store, kinds=["k"])
    assert queue(store, new_job("k", {"n": 1})) == [first]
    settle(store)
    assert queue(store, new_job("k", {"n": 1})) != [first]


def test_newer_content_replaces_the_queued_job_of_its_key(store: Store) -> None:
    [first] = queue(store, new_job("k", key="one", about="m@1", tries=2))
    run(store, Outcome("later", PROBLEM, NOW + HOUR))
    assert queue(store, new_job("k", key="one", about="m@1")) == [first]
    assert (job(store, first).state, job(store, first).attempts) == ("later", 1)
    assert queue(store, new_job("k", {"x": 1}, key="one", about="m@2", priority=4)) == [first]
    now = job(store, first)
    assert (now.state, now.attempts, now.problem) == ("waiting", 0, None)
    assert (now.version, now.payload, now.priority) == (2, {"x": 1}, 4)


def test_newer_content_waits_while_the_older_is_at_work(store: Store, clock: HandClock) -> None:
    for outcome in (Outcome("stale"), Outcome("later", PROBLEM, NOW + HOUR), Outcome("waiting", counts=False)):
        [first] = queue(store, new_job("k", key="one", about="m@1"))
        claim(store)
        [second] = queue(store, new_job("k", key="one", about="m@2"))
        assert second != first
        assert queue(store, new_job("k", key="one", about="m@2")) == [second]
        assert claim(store, "other") is None
        assert due(store) == NOW + MINUTE
        assert settle(store, outcome)
        # What failed is not queued beside newer content.
        ended = job(store, first)
        assert (ended.state, ended.ended_at) == ("stale", clock())
        assert (ended.problem and ended.problem.code) == (None if outcome.state == "stale" else "superseded")
        assert claimed(store, "other").id == second
        settle(store, lease="other")


def test_failed_job_is_tried_again_when_due_or_lies_dead(store: Store, clock: HandClock) -> None:
    [id] = queue(store, new_job("k"))
    run(store, Outcome("later", PROBLEM, NOW + MINUTE))
    failed = job(store, id)
    assert (failed.state, failed.attempts, failed.problem, failed.ended_at) == ("later", 1, PROBLEM, None)
    assert claim(store) is None
    clock.move(minutes=1)
    run(store, Outcome("later", PROBLEM, NOW + 2 * MINUTE, counts=False))
    assert job(store, id).attempts == 1
    clock.move(minutes=1)
    run(store, Outcome("dead", PROBLEM))
    dead = job(store, id)
    assert (dead.state, dead.attempts, dead.problem, dead.ended_at) == ("dead", 2, PROBLEM, clock())
    clock.move(days=400)
    assert claim(store) is None


def test_job_is_taken_over_when_its_lease_ends(store: Store, clock: HandClock) -> None:
    [id] = queue(store, new_job("k"))
    claim(store, "first")
    clock.move(seconds=59)
    assert claim(store, "second", NOW + HOUR) is None
    clock.move(seconds=1)
    found = claimed(store, "second", NOW + HOUR)
    assert (found.id, found.attempts, found.takeovers) == (id, 2, 1)
    assert not write(store).extend("first", NOW + HOUR)
    assert not settle(store, lease="first")
    assert job(store, id).state == "running"
    # A lease that has ended is good until somebody takes it.
    clock.move(days=1)
    assert settle(store, DONE, "second")
    assert job(store, id).takeovers == 1


def test_extended_lease_holds_and_notes_progress(store: Store, clock: HandClock) -> None:
    [id] = queue(store, new_job("k"))
    claim(store)
    assert write(store).extend("t", NOW + HOUR, Progress(2, 9, "texts"))
    assert write(store).extend("t", NOW + HOUR)
    clock.move(minutes=30)
    assert claim(store, "other") is None
    assert job(store, id).progress == Progress(2, 9, "texts")
    clock.move(minutes=30)
    assert claimed(store, "other", NOW + 2 * HOUR).progress is None


def test_lost_job_dies_after_its_tries_or_for_newer_content(store: Store, clock: HandClock) -> None:
    [id] = queue(store, new_job("k", tries=2))
    for n in (1, 2):
        claimed(store, str(n), NOW + n * MINUTE)
        clock.move(minutes=1)
    assert claim(store) is None
    dead = job(store, id)
    assert (dead.state, dead.attempts, dead.takeovers) == ("dead", 2, 2)
    assert dead.problem is not None
    assert dead.problem.code == "crashed"
    [first] = queue(store, new_job("k", key="one", about="m@1"))
    claim(store, "first", NOW + 3 * MINUTE)
    [second] = queue(store, new_job("k", key="one", about="m@2"))
    clock.move(minutes=1)
    assert claimed(store, "second", NOW + HOUR).id == second
    assert job(store, first).state == "stale"


def test_dead_and_cancelled_jobs_start_over(store: Store) -> None:
    dead, cancelled = queue(store, new_job("k", key="a"), new_job("k", key="b"))
    run(store, Outcome("dead", PROBLEM))
    claim(store)
    write(store).cancel([cancelled])
    assert not write(store).extend("t", NOW + HOUR)
    assert not settle(store)
    assert job(store, cancelled).state == "cancelled"
    assert claim(store, "other") is None
    write(store).replay([cancelled, dead])
    for again in (job(store, dead), job(store, cancelled)):
        assert (again.state, again.attempts, again.problem, again.ended_at) == ("waiting", 0, None, None)


def test_replay_or_cancel_is_refused_as_a_whole(store: Store) -> None:
    done, dead, other = queue(store, *(new_job("k", key=key) for key in "abc"))
    run(store)
    run(store, Outcome("dead", PROBLEM))
    for act, ids, problem in (
        (write(store).replay, [dead, done], ConflictError), (write(store).replay, [dead, other], ConflictError),
        (write(store).replay, [dead, "no"], NotFoundError), (write(store).cancel, [other, done], ConflictError),
        (write(store).cancel, [other, "no"], NotFoundError),
    ):  # fmt: skip
        with pytest.raises(problem):
            act(ids)
        assert (job(store, dead).state, job(store, other).state) == ("dead", "waiting")
    queue(store, new_job("k", key="b"))
    with pytest.raises(ConflictError, match="queued already"):
        write(store).replay([dead])


def test_jobs_are_listed_counted_and_pruned(store: Store, clock: HandClock) -> None:
    ids = queue(store, *(new_job("one" if key in "ac" else "two", key=key) for key in "abcde"))
    claim(store)
    assert listed(store) == ids[::-1]
    assert listed(store, limit=2) == [ids[4], ids[3]]
    assert listed(store, states=("waiting", "done")) == ids[:0:-1]
    assert listed(store, kinds=("one",), states=("running",)) == [ids[0]]
    assert listed(store, ids=(ids[0], "no", ids[1]), limit=1) == [ids[1], ids[0]]
    assert read(store).job_counts() == {("one", "running"): 1, ("one", "waiting"): 1, ("two", "waiting"): 3}
    settle(store)
    run(store, Outcome("stale"))
    run(store, Outcome("dead", PROBLEM))
    write(store).cancel([ids[3]])
    clock.move(days=1)
    assert write(store).prune_jobs(NOW, 10) == 0
    assert [write(store).prune_jobs(NOW + 1, 2) for _ in range(2)] == [2, 1]
    assert [(job.key, job.state) for job in read(store).jobs(JobQuery())] == [("e", "waiting"), ("c", "dead")]


def test_jobs_change_with_the_transaction_or_not_at_all(store: Store) -> None:
    wanted = new_job("k")
    with pytest.raises(RuntimeError), store.writing() as writer:
        writer.apply(Changeset("test", "tests", writes=[memory()], jobs=[wanted]))
        raise RuntimeError
    assert listed(store) == []
    assert apply(store, memory(), jobs=[wanted]).change.ids == ("m",)
    assert job(store, wanted.id).state == "waiting"
    claim(store)
    with pytest.raises(RuntimeError), store.writing() as writer:
        assert writer.settle("t", DONE)
        raise RuntimeError
    assert job(store, wanted.id).state == "running"


def test_jobs_and_ledger_survive_beside_the_journal(opens: Opens) -> None:
    store = opens()
    before = everything(store)
    [id] = queue(store, new_job("k"))
    claim(store)
    write(store).extend("t", NOW + HOUR)
    write(store).charge("2026-03-01", [Spent("state", "m", 1)])
    settle(store)
    assert everything(store) == before
    well(store)
    store.close()
    again = opens()
    assert job(again, id).state == "done"
    assert read(again).spent() == [Spent("state", "m", 1)]


def test_purge_removes_jobs_about_what_is_purged(store: Store) -> None:
    apply(store, memory("heron", "m"), memory("stork", "n"))
    about, other = queue(store, new_job("k", {"word": "heron"}, about="m@1"), new_job("k", about="n@1"))
    claim(store)
    apply(store, erase=["m"])
    assert not settle(store)
    assert listed(store, ids=(about, other)) == [other]


def test_ledger_adds_up_by_day_step_and_model(store: Store) -> None:
    with store.writing() as writer:
        writer.charge("2026-03-01", [Spent("state", "m", 1, 0, 10, 2, 0.5), Spent("state", "n", 1)])
        writer.charge("2026-03-01", [Spent("state", "m", 1, 1, 5, 0, 0.25)])
        writer.charge("2026-03-02", [Spent("state", "m", 2, 0, 100, 50, 1.0), Spent("plan", "m", 1)])
    spent, n = read(store).spent, Spent("state", "n", 1)
    assert spent("2026-03-01") == [Spent("state", "m", 2, 1, 15, 2, 0.75), n]
    assert spent("2026-03-03") == []
    assert spent() == [Spent("plan", "m", 1), Spent("state", "m", 4, 1, 115, 52, 1.75), n]
    assert spent()[1].tokens == 167
