"""Steps are appended in order, one at a time, and wholly or not at all."""

import threading
from functools import partial
from typing import Any

import pytest
from tests.sessions.living import DOWN, Life, raising, reason, refusal, start

from pieria.errors import AdapterError
from pieria.sessions import Crew


def test_step_that_cannot_be_judged_is_refused_whole() -> None:
    life, session = start("bread")
    before = life.log.load(session.id)
    broken = ZeroDivisionError("by a mind")
    life.mind.fails("subgoal", DOWN, broken, KeyboardInterrupt())
    again = partial(session.append, "water", "bread again")
    with pytest.raises(AdapterError) as refused:
        again()
    assert refused.value is DOWN
    crashed = refusal(again)
    assert (crashed.reason, crashed.__cause__) == ("append_crashed", broken)
    assert life.log.load(session.id) == before
    assert life.told("append_failed") == [{"session_id": session.id, "error": error} for error in (DOWN, broken)]
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
    life.mind.fails("state", DOWN, ZeroDivisionError())
    for number in range(4):
        session.append_async(f"loaf {number}", "bread goes on", partial(lambda *said: told.append(said), number))
    assert (session.steps, told) == ((), [])
    life.run()
    assert [(step.index, step.observation) for step in session.steps] == [(0, "loaf 2"), (1, "loaf 3")]
    assert told[0] == (0, DOWN)
    assert (told[1][0], reason(told[1][1])) == (1, "append_crashed")
    assert told[2:] == [(2, "appended"), (3, "appended")]


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
    life.mind.fails("state", DOWN)
    session.append_async("flour", "bread begins")
    life.run()
    session.close()
    session.append_async("water", "bread begins")
    assert [record.message for record in caplog.records if "not taken in" in record.message] == [
        "a step was not taken in: adapter model.chat: it is down",
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
