"""Steps are appended in order, one at a time, and wholly or not at all."""

import threading
from functools import partial
from typing import Any

import pytest
from tests.sessions.living import DOWN, Life, bake, reason

from pieria.errors import AdapterError, InputError, SessionError
from pieria.sessions import Crew, Session


def test_a_step_is_kept_before_a_model_is_asked_and_again_when_it_is_judged() -> None:
    life, seen = Life(), list[Any]()
    session = life.begin()
    life.mind.within["state"] = lambda: seen.append(life.log.load(session.id)[1])
    session.append("flour", "bread begins")
    (raw,) = seen[0]
    (judged,) = life.log.load(session.id)[1]
    assert (raw.observation, raw.action, raw.trajectory_id, raw.subgoal) == ("flour", "bread begins", "", "")
    assert judged == session.steps[0]
    assert judged.subgoal == "bread"


def test_a_step_that_cannot_be_judged_is_refused_and_nothing_of_it_stays() -> None:
    life = Life()
    session = life.begin()
    bake(session, "bread")
    before = life.log.load(session.id)
    life.mind.fails("subgoal", DOWN)
    with pytest.raises(AdapterError) as refused:
        session.append("water", "bread again")
    assert refused.value is DOWN
    assert life.log.load(session.id) == before
    assert life.told("append_failed") == [{"session_id": session.id, "error": DOWN}]
    session.append("water", "bread again")
    assert [step.observation for step in session.steps] == ["bread 0", "water"]
    assert [step.index for step in session.steps] == [0, 1]


def test_a_mind_that_breaks_off_is_told_from_one_that_refuses() -> None:
    life = Life()
    session = life.begin()
    broken = ZeroDivisionError("by a mind")
    life.mind.fails("state", broken)
    with pytest.raises(SessionError) as refused:
        session.append("flour", "bread begins")
    assert (refused.value.reason, refused.value.__cause__) == ("append_crashed", broken)
    assert life.told("append_failed") == [{"session_id": session.id, "error": broken}]
    assert session.steps == ()


def test_who_interrupts_an_append_does_not_stop_the_session() -> None:
    life = Life()
    session = life.begin()
    life.mind.fails("state", KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        session.append("flour", "bread begins")
    session.append("water", "bread begins")
    assert [step.observation for step in session.steps] == ["water"]


def test_steps_that_are_not_waited_for_come_in_in_their_order() -> None:
    life, told = Life(), list[Any]()
    session = life.begin()
    for number in range(4):
        session.append_async(f"loaf {number}", "bread goes on", partial(_note, told, number))
    assert (session.steps, told) == ((), [])
    life.run()
    assert [step.observation for step in session.steps] == [f"loaf {number}" for number in range(4)]
    assert told == [(number, "appended") for number in range(4)]


def _note(told: list[Any], number: int, outcome: object) -> None:
    told.append((number, outcome))


def test_who_waits_stands_in_line_with_those_who_do_not() -> None:
    life = Life()
    session = Session.begin("Bake bread", life.surroundings(crew=Crew()))
    here, go_on = threading.Event(), threading.Event()

    def wait() -> None:
        here.set()
        go_on.wait(20)

    life.mind.within["state"] = wait
    first = threading.Thread(target=session.append, args=("loaf 0", "bread goes on"))
    first.start()
    assert here.wait(20)
    session.append_async("loaf 1", "bread goes on")
    last = threading.Thread(target=session.append, args=("loaf 2", "bread goes on"))
    last.start()
    go_on.set()
    first.join(20)
    last.join(20)
    assert [step.observation for step in session.steps] == ["loaf 0", "loaf 1", "loaf 2"]


def test_one_refused_step_does_not_hold_up_those_behind_it(caplog: pytest.LogCaptureFixture) -> None:
    life, told = Life(), list[Any]()
    session = life.begin()
    life.mind.fails("state", DOWN, ZeroDivisionError())
    for number in range(3):
        session.append_async(f"loaf {number}", "bread goes on", told.append)
    life.run()
    assert told[0] is DOWN
    assert reason(told[1]) == "append_crashed"
    assert told[2] == "appended"
    assert [(step.index, step.observation) for step in session.steps] == [(0, "loaf 2")]


def test_a_lost_step_that_nobody_waits_for_is_told_of_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    life = Life()
    session = life.begin()
    life.mind.fails("state", DOWN)
    session.append_async("flour", "bread begins")
    life.run()
    session.close()
    session.append_async("water", "bread begins")
    assert [record.message for record in caplog.records if "not taken in" in record.message] == [
        "a step was not taken in: adapter model.chat: it is down",
        "a step was not taken in: session: the session accepts no steps now",
    ]


def test_a_callback_that_raises_does_no_harm(caplog: pytest.LogCaptureFixture) -> None:
    life, told = Life(), list[Any]()
    session = life.begin()

    def wrong(outcome: object) -> None:
        told.append(outcome)
        raise ZeroDivisionError

    session.append_async("flour", "bread begins", wrong)
    session.append_async("water", "bread begins", told.append)
    life.run()
    session.close_async(wrong)
    assert told == ["appended", "appended", "closed"]
    assert "a callback of" in caplog.text


def test_a_step_that_says_nothing_is_refused() -> None:
    session = Life().begin()
    with pytest.raises(InputError, match="observation"):
        session.append(" ", " ")
    assert session.steps == ()


def test_a_log_that_cannot_be_written_refuses_the_step() -> None:
    life = Life()
    session = life.begin()
    full = AdapterError("log", "step", "no space left")

    def refuse(*_: object) -> None:
        raise full

    life.log.step = refuse
    with pytest.raises(AdapterError, match="no space left"):
        session.append("flour", "bread begins")
    assert life.mind.count("state") == 0
    del life.log.step
    session.append("flour", "bread begins")
    assert len(session.steps) == 1


def test_a_log_that_breaks_off_is_told_to_whoever_waits_for_word() -> None:
    life, told = Life(), list[Any]()
    session = life.begin()

    def refuse(*_: object) -> None:
        raise OSError("no space left")

    life.log.step = refuse
    session.append_async("flour", "bread begins", told.append)
    life.run()
    assert [reason(each) for each in told] == ["append_crashed"]
    assert len(life.told("append_failed")) == 1


def test_a_step_that_comes_while_the_session_closes_is_refused_and_not_lost() -> None:
    life, refused = Life(), list[Any]()
    session = life.begin()
    bake(session, "bread")
    machine = session._machine
    carry_out = machine.carry_out

    def late(do: Any, *arguments: Any) -> None:
        try:
            session.append("water", "bread goes on")
        except SessionError as problem:
            refused.append(problem.reason)
        carry_out(do, *arguments)

    machine.carry_out = late  # type: ignore[method-assign]
    session.close()
    life.run()
    assert refused == ["extraction_in_progress"]
    assert life.steps() == {"bread 0": 0.75}
