"""Timeouts: what a session does if no step comes for a while."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.sessions.living import DOWN, FLUSH, TIMEOUT, Life, bake, in_state, reason

from pieria.errors import NotFoundError, SessionError
from pieria.sessions import SessionState


def test_pause_commits_the_steps_and_the_episode_goes_on() -> None:
    life = Life()
    session = life.begin()
    bake(session, "bread")
    life.timers.wait(FLUSH - 1)
    assert life.extractions.waiting == []
    life.wait(1)
    assert (session.state, life.learnt()) == (SessionState.COLLECTING, ["bread 0"])
    bake(session, "bread")
    life.wait(FLUSH)
    assert life.learnt() == ["bread 0", "bread 1"]
    assert [event["trajectory_id"] for event in life.told("trajectory_flushed")] == [session.steps[0].trajectory_id] * 2


def test_every_step_begins_both_periods_anew() -> None:
    life = Life()
    session = life.begin()
    for _ in range(8):
        bake(session, "bread")
        life.timers.wait(FLUSH - 1)
    assert life.extractions.waiting == []
    assert session.state is SessionState.COLLECTING


def test_failed_flush_is_tried_again_after_the_same_time() -> None:
    life = Life()
    session = life.begin()
    bake(session, "bread")
    life.mind.fails("propositions", DOWN)
    life.wait(FLUSH)
    assert life.learnt() == []
    life.wait(FLUSH)
    assert life.learnt() == ["bread 0"]
    assert life.timers.names == {"session"}


def test_flush_tries_a_failed_past_trajectory_again() -> None:
    life = Life()
    session = life.begin()
    life.mind.fails("propositions", DOWN)
    bake(session, "bread", "ships")
    life.run()
    life.wait(FLUSH)
    assert life.learnt() == ["bread 0", "ships 1"]


def test_busy_session_is_flushed_later() -> None:
    life = Life()
    session = life.begin()
    bake(session, "bread", "ships")
    life.timers.wait(FLUSH)
    assert len(life.extractions.waiting) == 1
    life.run()
    life.wait(FLUSH)
    assert len(life.facts()) == 2
    assert session.state is SessionState.COLLECTING


def test_expiry_commits_the_steps_and_ends_the_session() -> None:
    life = Life(flush=None)
    session = life.begin()
    bake(session, "bread", "bread")
    life.wait(TIMEOUT)
    assert life.learnt() == ["bread 0", "bread 1"]
    assert life.steps() == {"bread 0": 0.75, "bread 1": 0.75}
    assert life.told("session_expired") == [{"session_id": session.id}]
    assert session.is_over
    assert life.log.kept() == []
    assert life.timers.armed == {}


def test_expired_session_is_not_found() -> None:
    life = Life()
    session = life.begin()
    life.wait(TIMEOUT)
    assert session.is_over
    asked: list[Callable[[], Any]] = [
        lambda: session.state,
        lambda: session.append("flour", "bread"),
        lambda: session.append_async("flour", "bread"),
        lambda: session.start_episode("Sail"),
        lambda: session.start_episode_async("Sail"),
        session.close, session.commit, session.discard_async, session.close_and_commit,
    ]  # fmt: skip
    for ask in asked:
        with pytest.raises(NotFoundError):
            ask()
    assert session.get_context() is None
    assert life.told("session_expired") == [{"session_id": session.id}]


def test_busy_session_expires_when_it_is_done() -> None:
    life = Life(flush=None)
    session = life.begin()
    bake(session, "bread", "ships")
    life.timers.wait(TIMEOUT)
    life.errands.run()
    assert not life.told("session_expired")
    assert session.state is SessionState.COLLECTING
    session.append_async("ships 2", "ships go on")
    life.run()
    life.wait(TIMEOUT)
    assert session.is_over
    assert len(life.facts()) == 3


def test_expiring_session_accepts_nothing() -> None:
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


def test_expiry_without_a_model_keeps_the_steps() -> None:
    life = Life(flush=None)
    session = life.begin()
    bake(session, "bread")
    life.mind.fails("propositions", DOWN)
    life.wait(TIMEOUT)
    assert life.told("session_expired") == [{"session_id": session.id}]
    assert session.state is SessionState.FAILED
    life.commit(session)
    assert (session.state, life.learnt()) == (SessionState.IDLE, ["bread 0"])
    assert not session.is_over


def test_nothing_is_timed_by_hand_or_outside_an_episode() -> None:
    for life in (Life(auto_commit=False), Life(flush=None, timeout=None)):
        bake(life.begin(), "bread")
        assert life.timers.armed == {}
    for auto in (True, False):
        for state in set(SessionState) - {SessionState.COLLECTING} - ({SessionState.READY} if auto else set()):
            life = Life(auto_commit=auto)
            in_state(life, state)
            assert life.timers.armed == {}
