"""Timeouts: what a session does if no step comes for a while."""

from typing import Any

import pytest
from tests.sessions.living import DOWN, Life, bake, in_state, reason

from pieria.errors import NotFoundError, SessionError
from pieria.sessions import SessionState

FLUSH, TIMEOUT = 120_000, 600_000


def test_what_is_there_is_committed_when_no_step_comes_and_the_episode_goes_on() -> None:
    life = Life()
    session = life.begin()
    bake(session, "bread")
    life.timers.wait(FLUSH - 1)
    assert life.extractions.waiting == []
    life.timers.wait(1)
    life.run()
    assert (session.state, life.facts()) == (SessionState.COLLECTING, ["It was seen that bread 0."])
    bake(session, "bread")
    life.timers.wait(FLUSH)
    life.run()
    assert life.facts() == ["It was seen that bread 0.", "It was seen that bread 1."]
    assert [event["trajectory_id"] for event in life.told("trajectory_flushed")] == [session.steps[0].trajectory_id] * 2


def test_every_step_begins_both_periods_anew() -> None:
    life = Life()
    session = life.begin()
    for _ in range(8):
        bake(session, "bread")
        life.timers.wait(FLUSH - 1)
    assert life.extractions.waiting == []
    assert session.state is SessionState.COLLECTING


def test_what_cannot_be_drawn_is_tried_again_after_the_same_time() -> None:
    life = Life()
    session = life.begin()
    bake(session, "bread")
    life.mind.fails("propositions", DOWN)
    life.timers.wait(FLUSH)
    life.run()
    assert life.facts() == []
    life.timers.wait(FLUSH)
    life.run()
    assert life.facts() == ["It was seen that bread 0."]
    assert life.timers.names == {"session"}


def test_a_failed_trajectory_of_the_past_is_tried_again_with_the_flush() -> None:
    life = Life()
    session = life.begin()
    life.mind.fails("propositions", DOWN)
    bake(session, "bread", "ships")
    life.run()
    life.timers.wait(FLUSH)
    life.run()
    assert life.facts() == ["It was seen that bread 0.", "It was seen that ships 1."]


def test_a_session_that_is_busy_is_flushed_later() -> None:
    life = Life()
    session = life.begin()
    bake(session, "bread", "ships")
    life.timers.wait(FLUSH)
    assert len(life.extractions.waiting) == 1
    life.run()
    life.timers.wait(FLUSH)
    life.run()
    assert len(life.facts()) == 2
    assert session.state is SessionState.COLLECTING


def test_a_session_without_steps_for_long_commits_what_it_has_and_is_over() -> None:
    life = Life(flush=None)
    session = life.begin()
    bake(session, "bread", "bread")
    life.timers.wait(TIMEOUT)
    life.run()
    assert life.facts() == ["It was seen that bread 0.", "It was seen that bread 1."]
    assert life.steps() == {"bread 0": 0.75, "bread 1": 0.75}
    assert life.told("session_expired") == [{"session_id": session.id}]
    assert session.is_over
    assert life.log.kept() == []
    assert life.timers.armed == {}


@pytest.mark.parametrize(
    "ask",
    [
        lambda session: session.state,
        lambda session: session.append("flour", "bread"),
        lambda session: session.append_async("flour", "bread"),
        lambda session: session.start_episode("Sail"),
        lambda session: session.start_episode_async("Sail"),
        lambda session: session.close(),
        lambda session: session.commit(),
        lambda session: session.discard_async(),
        lambda session: session.close_and_commit(),
    ],
)
def test_a_session_that_is_over_is_not_there_any_more(ask: Any) -> None:
    life = Life()
    session = life.begin()
    life.timers.wait(TIMEOUT)
    life.run()
    assert session.is_over
    with pytest.raises(NotFoundError):
        ask(session)
    assert session.get_context() is None
    assert life.told("session_expired") == [{"session_id": session.id}]


def test_a_session_that_is_busy_expires_when_it_is_done() -> None:
    life = Life(flush=None)
    session = life.begin()
    bake(session, "bread", "ships")
    life.timers.wait(TIMEOUT)
    life.errands.run()
    assert not life.told("session_expired")
    assert session.state is SessionState.COLLECTING
    session.append_async("ships 2", "ships go on")
    life.run()
    life.timers.wait(TIMEOUT)
    life.run()
    assert session.is_over
    assert len(life.facts()) == 3


def test_while_it_expires_nothing_else_is_accepted_and_so_nothing_is_lost() -> None:
    life, told = Life(flush=None), list[Any]()
    session = life.begin()
    bake(session, "bread")
    life.timers.wait(TIMEOUT)
    life.errands.run()
    assert session.state is SessionState.EXTRACTING
    for ask in (session.close, session.commit_async, session.discard, lambda: session.append("flour", "bread")):
        with pytest.raises(SessionError) as refused:
            ask()
        assert refused.value.reason == "session_stopping"
    session.append_async("flour", "bread", told.append)
    assert [reason(each) for each in told] == ["session_stopping"]
    life.run()
    assert session.is_over


def test_a_session_that_expires_without_its_model_keeps_its_steps_for_another_try() -> None:
    life = Life(flush=None)
    session = life.begin()
    bake(session, "bread")
    life.mind.fails("propositions", DOWN)
    life.timers.wait(TIMEOUT)
    life.run()
    assert life.told("session_expired") == [{"session_id": session.id}]
    assert session.state is SessionState.FAILED
    session.commit()
    life.run()
    assert (session.state, life.facts()) == (SessionState.IDLE, ["It was seen that bread 0."])
    assert not session.is_over


def test_nothing_is_timed_in_manual_mode_or_where_no_time_is_set() -> None:
    manual = Life(auto_commit=False)
    bake(manual.begin(), "bread")
    endless = Life(flush=None, timeout=None)
    bake(endless.begin(), "bread")
    assert manual.timers.armed == endless.timers.armed == {}


@pytest.mark.parametrize("state", [state for state in SessionState if state is not SessionState.COLLECTING])
def test_nothing_is_timed_in_a_session_that_does_not_collect(state: SessionState) -> None:
    for auto in (True, False):
        if auto and state is SessionState.READY:
            continue
        life = Life(auto_commit=auto)
        in_state(life, state)
        assert life.timers.armed == {}
