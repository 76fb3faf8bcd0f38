"""Timeouts: what a session does if no step comes for a while."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.sessions.scripted_sessions import DOWN, FLUSH, TIMEOUT, Life, bake, in_state, reason, refusal, start

from pieria.errors import NotFoundError
from pieria.sessions import SessionState


def test_pause_commits_the_steps_and_the_episode_goes_on() -> None:
    life, session = start("bread")
    life.timers.wait(FLUSH - 1)
    assert life.extractions.waiting == []
    life.wait(1)
    assert (session.state, life.learnt()) == (SessionState.COLLECTING, ["bread 0"])
    bake(session, "bread")
    life.wait(FLUSH)
    assert life.learnt() == ["bread 0", "bread 1"]
    assert [event["trajectory_id"] for event in life.told("trajectory_flushed")] == [session.steps[0].trajectory_id] * 2


def test_every_step_begins_both_periods_anew() -> None:
    life, session = start()
    for _ in range(8):
        bake(session, "bread")
        life.timers.wait(FLUSH - 1)
    assert life.extractions.waiting == []
    assert session.state is SessionState.COLLECTING


def test_failed_flush_is_tried_again_after_the_same_time() -> None:
    life, _ = start("bread")
    life.mind.fails("propositions", DOWN)
    life.wait(FLUSH)
    assert life.learnt() == []
    life.wait(FLUSH)
    assert life.learnt() == ["bread 0"]
    assert life.timers.names == {"session"}


def test_busy_session_is_flushed_later() -> None:
    life, session = start("bread", "ships")
    life.timers.wait(FLUSH)
    assert len(life.extractions.waiting) == 1
    life.run()
    life.wait(FLUSH)
    assert (session.state, len(life.facts())) == (SessionState.COLLECTING, 2)


def test_expired_session_is_committed_and_not_found() -> None:
    life, session = start("bread", "bread", flush=None)
    life.wait(TIMEOUT)
    assert life.learnt() == ["bread 0", "bread 1"]
    assert life.steps() == {"bread 0": 0.75, "bread 1": 0.75}
    assert session.is_over
    assert life.log.kept() == []
    assert life.timers.armed == {}
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
    life, session = start("bread", "ships", flush=None)
    life.timers.wait(TIMEOUT)
    life.errands.run()
    assert not life.told("session_expired")
    assert session.state is SessionState.COLLECTING
    session.append_async("ships 2", "ships go on")
    life.run()
    life.wait(TIMEOUT)
    assert (session.is_over, len(life.facts())) == (True, 3)


def test_expiring_session_accepts_nothing() -> None:
    (life, session), told = start("bread", flush=None), list[Any]()
    life.timers.wait(TIMEOUT)
    life.errands.run()
    assert session.state is SessionState.EXTRACTING
    for ask in (session.close, session.commit_async, session.discard, lambda: session.append("flour", "bread")):
        assert refusal(ask).reason == "session_stopping"
    session.append_async("flour", "bread", told.append)
    assert [reason(each) for each in told] == ["session_stopping"]
    life.run()
    assert session.is_over


def test_expiry_without_a_model_keeps_the_steps() -> None:
    life, session = start("bread", flush=None)
    life.mind.fails("propositions", DOWN)
    life.wait(TIMEOUT)
    assert life.told("session_expired") == [{"session_id": session.id}]
    assert session.state is SessionState.FAILED
    life.commit(session)
    assert (session.state, life.learnt()) == (SessionState.IDLE, ["bread 0"])
    assert not session.is_over


def test_nothing_is_timed_by_hand_or_outside_an_episode() -> None:
    for life, _ in (start("bread", auto_commit=False), start("bread", flush=None, timeout=None)):
        assert life.timers.armed == {}
    for auto in (True, False):
        for state in set(SessionState) - {SessionState.COLLECTING} - ({SessionState.READY} if auto else set()):
            life = Life(auto_commit=auto)
            in_state(life, state)
            assert life.timers.armed == {}
