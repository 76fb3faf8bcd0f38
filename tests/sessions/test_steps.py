"""Steps are appended in order, one at a time, and wholly or not at all. A model that fails refuses none."""

import threading
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from tests.sessions.scripted_sessions import DOWN, Life, TellingMind, bake, raising, reason, refusal, start

from pieria.errors import AdapterError, PromptError
from pieria.learning.models import embedder_of
from pieria.sessions import Crew, Session


def test_rules_judge_a_step_whose_mind_fails() -> None:
    life, session = start("bread")
    for kind, problem in (("state", DOWN), ("subgoal", PromptError("get_subgoal", "empty_response"))):
        life.mind.fails(kind, problem)
        session.append(f"{kind} fails: 1 error", "bread goes on")
    session.append("all 3 passed", "bread goes on")
    judged = [("telling", 0.05), ("rules", 0.05), ("rules", 0.75), ("telling", None)]
    assert [(step.judged_by, step.reward) for step in session.steps] == judged
    traces = [event.metadata["trace"] for event in life.events if event.name == "step_appended"]
    assert [trace.judged_by for trace in traces] == ["telling", "rules", "rules", "telling"]
    assert life.told("append_failed") == []


def test_step_whose_embedding_fails_is_kept_without_one() -> None:
    def broken(texts: object) -> Any:
        raise OSError("gone")

    life = Life()
    session = Session.begin("Bake", replace(life.surroundings(), embedder=embedder_of(broken)))
    bake(session, "bread", "ships")
    assert [(step.judged_by, step.embedding) for step in session.steps] == [("rules", None)] * 2
    life.close(session)
    assert life.learnt() == ["bread 0", "ships 1"]


class Slow:
    """A mind that answers nothing before `go_on`."""

    def __init__(self) -> None:
        self.go_on = threading.Event()

    def __getattr__(self, name: str) -> Any:
        def ask(*given: Any, **named: Any) -> Any:
            self.go_on.wait(20)
            return getattr(TellingMind(), name)(*given, **named)

        return ask


def test_step_of_a_slow_mind_is_judged_by_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pieria.learning.judgement.LIMIT", 0.05)
    life, mind = Life(), Slow()
    mindful: Any = mind
    session = Session.begin("Bake", replace(life.surroundings(), mind=mindful))
    bake(session, "bread")
    mind.go_on.set()
    assert [(step.observation, step.judged_by) for step in session.steps] == [("bread 0", "rules")]


def test_append_does_not_wait_for_ever_in_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pieria.sessions.line.LIMIT", 0.05)
    life, here, go_on = Life(), threading.Event(), threading.Event()

    def wait() -> None:
        here.set()
        go_on.wait(20)

    life.mind.within["state"] = wait
    session = life.begin(crew=Crew())
    first = threading.Thread(target=session.append, args=("flour", "bread goes on"))
    first.start()
    assert here.wait(20)
    late = refusal(lambda: session.append("water", "bread goes on"))
    assert (late.reason, "nothing of it was kept" in str(late.hint)) == ("append_in_progress", True)
    go_on.set()
    first.join(20)
    assert [step.observation for step in session.steps] == ["flour"]


def test_step_whose_mind_crashes_is_refused_whole() -> None:
    life, session = start("bread")
    before = life.log.load(session.id)
    broken = ZeroDivisionError("by a mind")
    life.mind.fails("subgoal", broken, KeyboardInterrupt())
    again = partial(session.append, "water", "bread again")
    crashed = refusal(again)
    assert (crashed.reason, crashed.__cause__) == ("append_crashed", broken)
    assert life.log.load(session.id) == before
    assert life.told("append_failed") == [{"session_id": session.id, "error": broken}]
    with pytest.raises(KeyboardInterrupt):
        again()
    again()
    assert [(step.index, step.observation) for step in session.steps] == [(0, "bread 0"), (1, "water")]


def test_step_that_cannot_be_logged_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    (life, session), told = start(), list[Any]()
    with monkeypatch.context() as patched, pytest.raises(AdapterError, match="no space left"):
        patched.setattr(life.log, "step", raising(AdapterError("log", "step", "no space left")))
        session.append("flour", "bread begins")
    assert life.mind.count("state") == 0
    with monkeypatch.context() as patched:
        patched.setattr(life.log, "step", raising(OSError("no space left")))
        session.append_async("flour", "bread begins", told.append)
        life.run()
    assert [reason(each) for each in told] == ["append_crashed"]
    assert len(life.told("append_failed")) == 2
    session.append("flour", "bread begins")
    assert len(session.steps) == 1


def test_unwaited_steps_come_in_order_past_refused_ones() -> None:
    (life, session), told = start(), list[Any]()
    life.mind.fails("state", broken := ZeroDivisionError())
    for number in range(4):
        session.append_async(f"loaf {number}", "bread goes on", partial(lambda *said: told.append(said), number))
    assert (session.steps, told) == ((), [])
    life.run()
    assert [(step.index, step.observation) for step in session.steps] == [(0, "loaf 1"), (1, "loaf 2"), (2, "loaf 3")]
    assert (told[0][0], reason(told[0][1]), told[0][1].__cause__) == (0, "append_crashed", broken)
    assert told[1:] == [(1, "appended"), (2, "appended"), (3, "appended")]


def test_waited_and_unwaited_steps_stand_in_one_line() -> None:
    life = Life()
    session = life.begin(crew=Crew())
    here, go_on = threading.Event(), threading.Event()

    def wait() -> None:
        here.set()
        go_on.wait(20)

    life.mind.within["state"] = wait
    waited = [threading.Thread(target=session.append, args=(f"loaf {n}", "bread goes on")) for n in (0, 2)]
    waited[0].start()
    assert here.wait(20)
    session.append_async("loaf 1", "bread goes on")
    waited[1].start()
    go_on.set()
    for thread in waited:
        thread.join(20)
    assert [step.observation for step in session.steps] == ["loaf 0", "loaf 1", "loaf 2"]


def test_lost_step_without_a_callback_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    life, session = start()
    life.mind.fails("state", ZeroDivisionError())
    session.append_async("flour", "bread begins")
    life.run()
    session.close()
    session.append_async("water", "bread begins")
    assert [record.message for record in caplog.records if "not taken in" in record.message] == [
        "a step was not taken in: session: appending the step failed",
        "a step was not taken in: session: the session accepts no steps now",
    ]


def test_callback_that_raises_does_no_harm(caplog: pytest.LogCaptureFixture) -> None:
    (life, session), told = start(), list[Any]()

    def wrong(outcome: object) -> None:
        told.append(outcome)
        raise ZeroDivisionError

    session.append_async("flour", "bread begins", wrong)
    session.append_async("water", "bread begins", told.append)
    life.run()
    session.close_async(wrong)
    assert told == ["appended", "appended", "closed"]
    assert "a callback of" in caplog.text


def test_step_that_comes_during_a_close_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    (life, session), refused = start("bread"), list[Any]()
    carry_out = session._machine.carry_out

    def late(do: Any, *arguments: Any) -> None:
        refused.append(refusal(lambda: session.append("water", "bread goes on")).reason)
        carry_out(do, *arguments)

    monkeypatch.setattr(session._machine, "carry_out", late)
    life.close(session)
    assert (refused, life.steps()) == (["extraction_in_progress"], {"bread 0": 0.75})
