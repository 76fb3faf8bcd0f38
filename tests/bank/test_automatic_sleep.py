"""A bank that sleeps automatically: when, for how long, at what cost, and what its log says of that."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import pytest
from tests.bank.test_upkeep import Model, talk
from tests.contract.store_helpers import HandClock
from tests.learning.session_events import Session

import pieria
from pieria import Bank
from pieria.bank.jobs.handlers import HANDLERS
from pieria.bank.jobs.run import Idle
from pieria.bank.jobs.worker import Worker
from pieria.errors import InputError
from pieria.record.job import IDLE, SESSION_END, WORKER, Job
from pieria.runtime.calls import Calls
from pieria.toolsets import Banks, Host, Paths, called, registry

Opening = Callable[..., Bank]
QUIET, AGAIN, DAY = timedelta(minutes=5), timedelta(minutes=10), timedelta(days=1)


@pytest.fixture
def sleeping(tmp_path: Path, clock: HandClock) -> Iterator[Opening]:
    """Yield a function that opens the bank, which sleeps automatically unless the settings say otherwise."""
    with ExitStack() as stack:

        def opened(llm: object = None, embedder: object = None, session: str | None = None, **settings: Any) -> Bank:
            given = {"sleep": "idle", **settings}
            workspace = pieria.Workspace(tmp_path, given, clock=clock, llm=llm, embedder=embedder)
            return stack.enter_context(workspace).open("notes", session=session)

        yield opened


def worked(bank: Bank, by: str = WORKER, idle: Idle | None = None) -> dict[str, int]:
    """Let a worker do what there is to do now, as one of a server or of `pieria worker`."""
    return dict(Worker(lambda: (bank,), HANDLERS, sleeps=by, idle=idle).run(once=True))


def waiting(bank: Bank) -> list[tuple[Any, Any]]:
    """Return who queued each waiting sleep, and when it is due."""
    queued = bank.jobs.list(kinds="sleep", states=["waiting", "later"])
    return [((job.payload or {}).get("by"), job.due_at) for job in queued]


def told(bank: Bank, *fields: str) -> list[tuple[Any, ...]]:
    return [tuple(getattr(run, field) for field in fields) for run in bank.upkeep.sleep_log()]


def test_log_holds_what_each_sleep_did_and_no_text(sleeping: Opening, clock: HandClock) -> None:
    bank = sleeping()
    bank.remember_many([*talk(clock, "a", days=4), *talk(clock, "b", scope="session")])
    bank.upkeep.sleep(dry_run=True)
    assert bank.upkeep.sleep_log().runs == ()
    slept = sleeping(session="b").upkeep.sleep()
    [run] = bank.upkeep.sleep_log().as_dict()["runs"]
    public, private = (summary.id for summary in slept.summaries)
    assert run == {
        "at": clock.now.isoformat().replace("+00:00", "Z"), "by": "python", "seconds": 0.0, "mind": "rules",
        "examined": 12, "consolidated": 12, "made": 2, "summaries": [public], "settled": len(slept.settled),
        "repeated": 0, "shortened": 0, "failed": 0, "left": 0, "goes_on": False, "stopped": None,
        "reasons": list(slept.reasons),
    }  # fmt: skip
    assert told(sleeping(session="b"), "summaries") == [((public, private),)]
    for _ in range(60):
        clock.move(minutes=1)
        bank.upkeep.sleep()
    assert (len(bank.upkeep.sleep_log()), told(bank, "at")[0]) == (50, (clock.now,))
    assert [len(bank.upkeep.sleep_log(limit)) for limit in (1, 50)] == [1, 50]
    with pytest.raises(InputError, match="limit"):
        bank.upkeep.sleep_log(51)


class Remote:
    """An embedding on a server that may cost money."""

    def embed(self, text: str) -> Any:
        raise AssertionError("nothing is embedded here")

    embed_batch = embed


COSTS: dict[str, tuple[dict[str, Any], str | None]] = {
    "nothing is asked": ({}, None),
    "turned off": ({"sleep": "off"}, "the setting sleep is off"),
    "a language model": (
        {"llm": Model()},
        "custom:summaries may cost money: the setting sleep = model, with a daily budget, allows it",
    ),
    "an embedding server": (
        {"embedder": Remote()},
        "custom:Remote may cost money: the setting sleep = model, with a daily budget, allows it",
    ),
    "allowed without a budget": (
        {"llm": Model(), "sleep": "model"},
        "custom:summaries has no daily budget: set budget_calls_per_day or budget_tokens_per_day",
    ),
    "allowed within a budget": ({"llm": Model(), "sleep": "model", "budget_calls_per_day": 9}, None),
}


def test_bank_sleeps_by_itself_only_if_that_may_cost(sleeping: Opening, clock: HandClock) -> None:
    found = {}
    for case, (given, _) in COSTS.items():
        bank = sleeping(**given)
        log = bank.upkeep.sleep_log()
        assert (bank.upkeep.sleep_later() is None, log.next_at is None) == ((log.held_back is not None,) * 2)
        for id in [job.id for job in bank.jobs.list(states=["waiting", "later"])]:
            bank.jobs.cancel(id)
        found[case] = log.held_back
    assert found == {case: why for case, (_, why) in COSTS.items()}


def test_job_of_a_bank_that_may_not_sleep_says_why(sleeping: Opening, clock: HandClock) -> None:
    sleeping().upkeep.sleep_later()
    clock.move(minutes=6)
    model = Model()
    assert worked(sleeping(model)) == {"done": 1}
    [(examined, reasons)] = told(sleeping(), "examined", "reasons")
    assert (examined, model.calls) == (0, 0) and "may cost money" in reasons[0]


def test_end_of_a_session_queues_one_sleep_a_day(sleeping: Opening, clock: HandClock) -> None:
    bank = sleeping()
    bank.remember_many(talk(clock))
    for goal in ("one", "two"):
        with bank.session(goal=goal) as session:
            session.append(observation="The user wants Tokyo in March.", action="Asked about dates.")
    assert waiting(bank) == [(SESSION_END, clock.now + QUIET)]
    assert dict(bank.jobs.worker(kinds="sleep").run(once=True)) == {}
    clock.move(minutes=5)
    began = clock.now
    assert dict(bank.jobs.worker(kinds="sleep").run(once=True)) == {"done": 1}
    assert told(bank, "by", "made") == [(SESSION_END, 1)]
    captured = Session()
    bank.observe([captured.prompt("fix the cart"), captured.edited("cart.py"), captured.end()])
    bank.distil()
    assert waiting(bank) == [(SESSION_END, began + DAY)]
    with sleeping(sleep="off") as other:
        other.jobs.cancel(other.jobs.list(kinds="sleep", states="later")[0].id)
        captured = Session("s2")
        other.observe([captured.prompt("fix the cart"), captured.edited("cart.py"), captured.end()])
        other.distil()
        assert waiting(other) == []


def test_library_alone_never_begins_a_sleep(sleeping: Opening, clock: HandClock) -> None:
    bank = sleeping()
    bank.remember_many(talk(clock))
    assert (dict(bank.jobs.worker().run(once=True)), list(bank.jobs.list())) == ({}, [])


def test_idle_server_sleeps_once_a_day_and_stops_for_calls(sleeping: Opening, clock: HandClock) -> None:
    bank = sleeping()
    bank.remember_many([turn for n in range(6) for turn in talk(clock, f"b{n}", days=9 - n)])
    long_ago = QUIET.total_seconds()
    assert worked(bank, IDLE, lambda: long_ago) == {}, "the bank has just changed"
    clock.move(hours=1)
    assert worked(bank, IDLE, lambda: long_ago - 1) == {}, "a call has just ended"
    began = clock.now
    # The first look queues it, the second begins it, and a call comes after the first group.
    looks = chain([long_ago] * 3, repeat(0.0))
    assert worked(bank, IDLE, lambda: next(looks)) == {"later": 1}
    log = ("by", "made", "left", "goes_on", "stopped")
    assert told(bank, *log) == [(IDLE, 2, 24, True, "called")]
    assert waiting(bank) == [(IDLE, began + AGAIN)]
    clock.move(minutes=10)
    assert worked(bank, IDLE, lambda: 10.0) == {"later": 1}, "not during a call"
    assert waiting(bank) == [(IDLE, clock.now + QUIET - timedelta(seconds=10))]
    clock.move(minutes=5)
    assert worked(bank, IDLE, lambda: long_ago) == {"done": 1}
    assert told(bank, *log)[0] == (IDLE, 4, 0, False, None)
    clock.move(hours=23)
    assert worked(bank, IDLE, lambda: long_ago) == {}
    clock.move(hours=1)
    assert worked(bank, IDLE, lambda: long_ago) == {"done": 1}
    clock.move(days=-99)
    assert [worked(bank) for _ in range(2)] == [{"done": 1}, {}], "the clock was set back"


def test_worker_of_a_server_sleeps_between_its_calls(tmp_path: Path, clock: HandClock) -> None:
    seconds = [0.0]
    with pieria.Workspace(tmp_path, {"sleep": "idle"}, clock=clock) as workspace:
        banks = Banks(workspace, "test")
        banks.calls = Calls(lambda: seconds[0])
        host = Host(banks, "notes", None, Paths(tmp_path, (tmp_path,)))
        host.bank.remember_many(talk(clock))
        clock.move(days=1)
        seconds[0] += 400
        with banks.calls.one():
            assert dict(banks.worker().run(once=True)) == {}
        called(registry(), "recall", {"query": "heron"}, host)
        found = []
        for sleeps, pause in ((True, 299), (False, 1), (True, 0)):
            seconds[0] += pause
            found.append(dict(banks.worker(sleeps=sleeps).run(once=True)))
        assert found == [{}, {}, {"done": 1}]


class Slow(Model):
    """A model that takes forty seconds for an answer."""

    def __init__(self, clock: HandClock) -> None:
        super().__init__()
        self._clock = clock

    def chat(self, messages: Any, opts: Any = None) -> pieria.LLMResponse:
        self._clock.move(seconds=40)
        return super().chat(messages, opts)


def test_run_ends_in_time_and_goes_on_later(sleeping: Opening, clock: HandClock) -> None:
    bank = sleeping(Slow(clock), sleep="model", budget_calls_per_day=3)
    bank.remember_many([turn for n in range(6) for turn in talk(clock, f"b{n}", days=9 - n)])
    began = clock.now
    assert worked(bank) == {"later": 1}
    assert told(bank, "seconds", "made", "left", "stopped") == [(80.0, 2, 24, "time_is_up")]
    assert (waiting(bank), worked(bank)) == ([(WORKER, began + AGAIN)], {})
    clock.now = began + AGAIN
    worked(bank)
    assert told(bank, "made", "left", "stopped")[0] == (1, 18, "budget")
    [job] = bank.jobs.list(kinds="sleep")
    assert (job.state, job.attempts, job.due_at > clock.now + timedelta(hours=1)) == ("later", 0, True)


def test_sleep_asked_for_keeps_to_no_limit_of_its_own(sleeping: Opening, clock: HandClock) -> None:
    bank = sleeping(Slow(clock), sleep="off")
    bank.remember_many([turn for n in range(6) for turn in talk(clock, f"b{n}", days=9 - n)])
    job: Job = bank.jobs.add("sleep")
    assert (worked(bank), bank.jobs.get(job.id).state) == ({"done": 1}, "done")
    assert told(bank, "by", "made", "seconds") == [("job", 6, 240.0)]
    for payload in ({"by": "anyone"}, {"for": "ever"}):
        with pytest.raises(InputError, match="by"):
            bank.jobs.add("sleep", payload)


def test_calls_are_over_once_the_last_has_ended() -> None:
    seconds = iter(range(100))
    calls = Calls(lambda: float(next(seconds)))
    assert calls.idle_seconds() == 1
    with calls.one():
        with calls.one():
            assert calls.idle_seconds() == 0
        assert calls.idle_seconds() == 0
    assert [calls.idle_seconds() for _ in range(2)] == [1, 2]
