"""Jobs and the ledger in every store: one job per key, priorities and leases, with no journal entries."""

from dataclasses import replace

import pytest
from tests.contract.conftest import Opens
from tests.contract.making import HOUR, NOW, HandClock, apply, everything, memory

from pieria.errors import ConflictError, NotFoundError
from pieria.record.changeset import Changeset
from pieria.record.job import Job, JobQuery, Lease, NewJob, Outcome, Problem, Progress, Spent, new_job
from pieria.record.time import moment
from pieria.store.protocol import Store

MINUTE = HOUR // 60
DONE = Outcome("done")
PROBLEM = Problem("adapter", "adapter test: it failed")


def queue(store: Store, *jobs: NewJob) -> list[str]:
    with store.writing() as writer:
        return writer.enqueue(jobs)


def claim(store: Store, lease: str = "t", until: int = NOW + MINUTE, kinds: list[str] | None = None) -> Job | None:
    with store.writing() as writer:
        return writer.claim(Lease(lease, "worker", until), kinds)


def settle(store: Store, outcome: Outcome = DONE, lease: str = "t") -> bool:
    with store.writing() as writer:
        return writer.settle(lease, outcome)


def job(store: Store, id: str) -> Job:
    with store.reading() as reader:
        return reader.jobs(JobQuery(ids=(id,)))[0]


def claimed(store: Store, lease: str) -> str:
    """Claim the next job and return its key."""
    found = claim(store, lease)
    assert found is not None
    return found.key


def test_a_job_goes_from_waiting_through_running_to_done(store: Store, clock: HandClock) -> None:
    [id] = queue(store, new_job("embed", {"place": "a/b"}, key="k", about="m@2", digest="d", priority=3, tries=7))
    waiting = job(store, id)
    assert waiting == Job(
        id=id, kind="embed", key="k", payload={"place": "a/b"}, memory="m", version=2, digest="d", priority=3,
        state="waiting", due_at=clock(), attempts=0, tries=7, takeovers=0, worker=None, made_at=clock(), begun_at=None,
        ended_at=None, progress=None, problem=None,
    )  # fmt: skip
    made = clock()
    clock.move(seconds=5)
    running = claim(store)
    assert running == replace(waiting, state="running", attempts=1, worker="worker", begun_at=clock())
    assert claim(store, "other") is None
    clock.move(seconds=5)
    assert settle(store)
    assert running is not None
    assert job(store, id) == replace(running, state="done", ended_at=clock(), made_at=made)
    assert not settle(store)


def test_the_highest_priority_is_claimed_first_and_then_the_oldest(store: Store) -> None:
    queue(store, *(new_job("k", key=key, priority=n) for key, n in (("a", 0), ("b", 5), ("c", 0), ("d", 5))))
    assert [claimed(store, lease) for lease in "1234"] == ["b", "d", "a", "c"]


def test_only_the_asked_kinds_are_claimed(store: Store) -> None:
    queue(store, new_job("one", key="a", priority=9), new_job("two", key="b"))
    with store.reading() as reader:
        assert reader.jobs_due(["three"]) is None
        assert reader.jobs_due(["two"]) == NOW
    assert claim(store, kinds=["three"]) is None
    found = claim(store, kinds=["two", "three"])
    assert found is not None
    assert found.key == "b"


def test_what_is_due_later_is_not_claimed_before(store: Store, clock: HandClock) -> None:
    [id] = queue(store, new_job("k", due=moment(NOW + MINUTE)))
    assert job(store, id).state == "later"
    with store.reading() as reader:
        assert reader.jobs_due() == NOW + MINUTE
    assert claim(store) is None
    clock.move(seconds=60)
    found = claim(store, until=NOW + HOUR)
    assert found is not None
    assert found.id == id
    with store.reading() as reader:
        assert reader.jobs_due() == NOW + HOUR


# --- one of a key


def test_the_same_work_is_queued_once_while_it_waits_or_runs(store: Store) -> None:
    [first] = queue(store, new_job("k", {"n": 1}))
    assert queue(store, new_job("k", {"n": 1}), new_job("k", {"n": 2}), new_job("other", {"n": 1})).count(first) == 1
    claim(store, kinds=["k"])
    assert queue(store, new_job("k", {"n": 1})) == [first]
    settle(store)
    assert queue(store, new_job("k", {"n": 1})) != [first]


def test_newer_content_under_the_same_key_takes_the_place_of_what_is_queued(store: Store) -> None:
    [first] = queue(store, new_job("k", key="one", about="m@1", tries=2))
    claim(store)
    settle(store, Outcome("later", PROBLEM, NOW + HOUR))
    assert queue(store, new_job("k", key="one", about="m@1")) == [first]
    assert (job(store, first).state, job(store, first).attempts) == ("later", 1)
    assert queue(store, new_job("k", {"x": 1}, key="one", about="m@2", priority=4)) == [first]
    now = job(store, first)
    assert (now.state, now.attempts, now.version, now.payload, now.priority, now.problem) == (
        "waiting", 0, 2, {"x": 1}, 4, None,
    )  # fmt: skip


def test_newer_content_waits_while_the_older_is_at_work(store: Store) -> None:
    [first] = queue(store, new_job("k", key="one", about="m@1"))
    claim(store)
    [second] = queue(store, new_job("k", key="one", about="m@2"))
    assert second != first
    assert queue(store, new_job("k", key="one", about="m@2")) == [second]
    assert claim(store, "other") is None
    with store.reading() as reader:
        assert reader.jobs_due() == NOW + MINUTE
    settle(store, Outcome("stale"))
    found = claim(store, "other")
    assert found is not None
    assert found.id == second


@pytest.mark.parametrize("outcome", [Outcome("later", PROBLEM, NOW + HOUR), Outcome("waiting", counts=False)])
def test_what_failed_is_not_queued_beside_newer_content(store: Store, outcome: Outcome) -> None:
    [first] = queue(store, new_job("k", key="one", about="m@1"))
    claim(store)
    queue(store, new_job("k", key="one", about="m@2"))
    assert settle(store, outcome)
    ended = job(store, first)
    assert (ended.state, ended.problem and ended.problem.code) == ("stale", "superseded")
    assert ended.ended_at is not None


# --- failures and lost workers


def test_a_failed_job_is_tried_again_when_it_is_due_or_lies_dead(store: Store, clock: HandClock) -> None:
    [id] = queue(store, new_job("k"))
    claim(store)
    assert settle(store, Outcome("later", PROBLEM, NOW + MINUTE))
    failed = job(store, id)
    assert (failed.state, failed.attempts, failed.problem, failed.ended_at) == ("later", 1, PROBLEM, None)
    assert claim(store) is None
    clock.move(minutes=1)
    claim(store, "u")
    assert settle(store, Outcome("dead", PROBLEM), "u")
    dead = job(store, id)
    assert (dead.state, dead.attempts, dead.problem, dead.ended_at) == ("dead", 2, PROBLEM, clock())
    clock.move(days=400)
    assert claim(store) is None


def test_an_attempt_may_be_given_back(store: Store) -> None:
    [id] = queue(store, new_job("k"))
    claim(store)
    settle(store, Outcome("later", Problem("budget", "used up"), NOW + HOUR, counts=False))
    assert job(store, id).attempts == 0


def test_a_job_is_taken_over_when_its_lease_is_over_and_the_former_worker_has_lost_it(
    store: Store, clock: HandClock
) -> None:
    [id] = queue(store, new_job("k"))
    claim(store, "first")
    clock.move(seconds=59)
    assert claim(store, "second", NOW + HOUR) is None
    clock.move(seconds=1)
    found = claim(store, "second", NOW + HOUR)
    assert found is not None
    assert (found.id, found.attempts, found.takeovers) == (id, 2, 1)
    with store.writing() as writer:
        assert not writer.extend("first", NOW + HOUR)
        assert not writer.settle("first", DONE)
    assert job(store, id).state == "running"
    assert settle(store, DONE, "second")


def test_a_lease_that_is_extended_holds_and_tells_how_far_the_job_is(store: Store, clock: HandClock) -> None:
    [id] = queue(store, new_job("k"))
    claim(store)
    with store.writing() as writer:
        assert writer.extend("t", NOW + HOUR, Progress(2, 9, "texts"))
        assert writer.extend("t", NOW + HOUR)
    clock.move(minutes=30)
    assert claim(store, "other") is None
    assert job(store, id).progress == Progress(2, 9, "texts")
    clock.move(minutes=30)
    assert claim(store, "other", NOW + 2 * HOUR) is not None
    assert job(store, id).progress is None


def test_a_lease_that_is_over_and_taken_by_nobody_is_still_good(store: Store, clock: HandClock) -> None:
    [id] = queue(store, new_job("k"))
    claim(store)
    clock.move(days=1)
    assert settle(store)
    assert job(store, id).takeovers == 0


def test_a_job_that_takes_every_worker_down_is_dead_after_its_tries(store: Store, clock: HandClock) -> None:
    [id] = queue(store, new_job("k", tries=2))
    for n in (1, 2):
        assert claim(store, str(n), NOW + n * MINUTE) is not None
        clock.move(minutes=1)
    assert claim(store) is None
    dead = job(store, id)
    assert (dead.state, dead.attempts, dead.takeovers) == ("dead", 2, 2)
    assert dead.problem is not None
    assert dead.problem.code == "crashed"


def test_a_lost_job_gives_way_to_newer_content(store: Store, clock: HandClock) -> None:
    [first] = queue(store, new_job("k", key="one", about="m@1"))
    claim(store, "first")
    [second] = queue(store, new_job("k", key="one", about="m@2"))
    clock.move(minutes=1)
    found = claim(store, "second", NOW + HOUR)
    assert found is not None
    assert found.id == second
    assert job(store, first).state == "stale"


# --- what people do


def test_dead_and_cancelled_jobs_are_queued_again_as_if_never_tried(store: Store) -> None:
    dead, cancelled = queue(store, new_job("k", key="a"), new_job("k", key="b"))
    claim(store)
    settle(store, Outcome("dead", PROBLEM))
    with store.writing() as writer:
        writer.cancel([cancelled])
    with store.writing() as writer:
        writer.replay([cancelled, dead])
    for id in (dead, cancelled):
        again = job(store, id)
        assert (again.state, again.attempts, again.problem, again.ended_at) == ("waiting", 0, None, None)


def test_what_cannot_be_replayed_or_cancelled_is_refused_and_nothing_of_it_done(store: Store) -> None:
    done, dead, other = queue(store, *(new_job("k", key=key) for key in "abc"))
    claim(store)
    settle(store)
    claim(store)
    settle(store, Outcome("dead", PROBLEM))
    for ids, problem in (([dead, done], ConflictError), ([dead, other], ConflictError), ([dead, "no"], NotFoundError)):
        with pytest.raises(problem), store.writing() as writer:
            writer.replay(ids)
        assert job(store, dead).state == "dead"
    for ids, problem in (([other, done], ConflictError), ([other, "no"], NotFoundError)):
        with pytest.raises(problem), store.writing() as writer:
            writer.cancel(ids)
        assert job(store, other).state == "waiting"
    queue(store, new_job("k", key="b"))
    with pytest.raises(ConflictError, match="queued already"), store.writing() as writer:
        writer.replay([dead])


def test_whoever_runs_a_cancelled_job_has_lost_it(store: Store) -> None:
    [id] = queue(store, new_job("k"))
    claim(store)
    with store.writing() as writer:
        writer.cancel([id])
        assert not writer.extend("t", NOW + HOUR)
        assert not writer.settle("t", DONE)
    assert job(store, id).state == "cancelled"
    assert claim(store, "other") is None


def test_jobs_that_are_over_are_pruned_and_dead_ones_never(store: Store, clock: HandClock) -> None:
    ids = queue(store, *(new_job("k", key=key) for key in "abcde"))
    for outcome in (DONE, Outcome("stale"), Outcome("dead", PROBLEM)):
        claim(store)
        settle(store, outcome)
    with store.writing() as writer:
        writer.cancel([ids[3]])
    clock.move(days=1)
    with store.writing() as writer:
        assert writer.prune_jobs(NOW, 10) == 0
        assert writer.prune_jobs(NOW + 1, 2) == 2
        assert writer.prune_jobs(NOW + 1, 2) == 1
    with store.reading() as reader:
        assert [(job.key, job.state) for job in reader.jobs(JobQuery())] == [("e", "waiting"), ("c", "dead")]


def test_jobs_are_listed_newest_first_and_counted(store: Store) -> None:
    ids = queue(store, new_job("one", key="a"), new_job("two", key="b"), new_job("one", key="c"))
    claim(store)
    with store.reading() as reader:
        assert [job.id for job in reader.jobs(JobQuery())] == ids[::-1]
        assert [job.id for job in reader.jobs(JobQuery(limit=2))] == [ids[2], ids[1]]
        assert [job.id for job in reader.jobs(JobQuery(states=("waiting", "done")))] == [ids[2], ids[1]]
        assert [job.id for job in reader.jobs(JobQuery(kinds=("one",), states=("running",)))] == [ids[0]]
        assert [job.id for job in reader.jobs(JobQuery(ids=(ids[0], "no", ids[1]), limit=1))] == [ids[1], ids[0]]
        assert reader.job_counts() == {("one", "running"): 1, ("one", "waiting"): 1, ("two", "waiting"): 1}


# --- beside the record


def test_a_changeset_queues_its_jobs_with_what_it_writes_or_not_at_all(store: Store) -> None:
    wanted = new_job("k")
    with pytest.raises(RuntimeError), store.writing() as writer:
        writer.apply(Changeset("test", "tests", writes=[memory()], jobs=[wanted]))
        raise RuntimeError
    with store.reading() as reader:
        assert reader.jobs(JobQuery()) == []
    change = apply(store, memory(), jobs=[wanted]).change
    assert change.ids == ("m",)
    assert job(store, wanted.id).state == "waiting"


def test_the_end_of_a_job_and_its_effect_are_one(store: Store) -> None:
    [id] = queue(store, new_job("k"))
    claim(store)
    before = everything(store)
    with pytest.raises(RuntimeError), store.writing() as writer:
        writer.apply(Changeset("test", "tests", writes=[memory()]))
        assert writer.settle("t", DONE)
        raise RuntimeError
    assert everything(store) == before
    assert job(store, id).state == "running"


def test_neither_jobs_nor_the_ledger_are_in_the_record_or_the_journal(store: Store) -> None:
    before = everything(store)
    queue(store, new_job("k"))
    claim(store)
    with store.writing() as writer:
        writer.extend("t", NOW + HOUR)
        writer.charge("2026-03-01", [Spent("state", "m", 1)])
    settle(store)
    assert everything(store) == before
    assert all(finding.well for finding in store.check())


def test_a_purge_takes_along_the_jobs_about_what_is_purged(store: Store) -> None:
    apply(store, memory("heron", "m"), memory("stork", "n"))
    about, other = queue(store, new_job("k", {"word": "heron"}, about="m@1"), new_job("k", about="n@1"))
    claim(store)
    apply(store, erase=["m"])
    assert not settle(store)
    with store.reading() as reader:
        assert [job.id for job in reader.jobs(JobQuery(ids=(about, other)))] == [other]


def test_jobs_and_the_ledger_are_there_for_whoever_opens_the_bank_next(opens: Opens) -> None:
    store = opens()
    [id] = queue(store, new_job("k"))
    with store.writing() as writer:
        writer.charge("2026-03-01", [Spent("state", "m", 1)])
    store.close()
    other = opens()
    assert job(other, id).state == "waiting"
    with other.reading() as reader:
        assert reader.spent() == [Spent("state", "m", 1)]


def test_the_ledger_adds_up_by_day_step_and_model(store: Store) -> None:
    with store.writing() as writer:
        writer.charge("2026-03-01", [Spent("state", "m", 1, 0, 10, 2, 0.5), Spent("state", "n", 1)])
        writer.charge("2026-03-01", [Spent("state", "m", 1, 1, 5, 0, 0.25)])
        writer.charge("2026-03-02", [Spent("state", "m", 2, 0, 100, 50, 1.0), Spent("plan", "m", 1)])
    with store.reading() as reader:
        assert reader.spent("2026-03-01") == [Spent("state", "m", 2, 1, 15, 2, 0.75), Spent("state", "n", 1)]
        assert reader.spent("2026-03-03") == []
        assert reader.spent() == [
            Spent("plan", "m", 1), Spent("state", "m", 4, 1, 115, 52, 1.75), Spent("state", "n", 1),
        ]  # fmt: skip
        assert reader.spent()[1].tokens == 167
