"""Closing and committing in one call, with a time limit, and as a context manager."""

import threading

import pytest
from tests.sessions.living import DOWN, TIMEOUT, Life, bake, in_state

from pieria.errors import InputError, PipelineError, SessionError
from pieria.sessions import Crew, Session, SessionState


def begun(life: Life) -> Session:
    """Begin a session with real threads."""
    return Session.begin("Bake bread", life.surroundings(crew=Crew()))


@pytest.mark.parametrize("auto", [True, False])
def test_close_and_commit_leaves_everything_in_the_graph(auto: bool) -> None:
    life = Life(auto_commit=auto)
    session = begun(life)
    bake(session, "bread", "ships", "stars")
    session.append_async("tea 3", "tea goes on")
    session.close_and_commit()
    assert session.state is SessionState.IDLE
    assert len(life.facts()) == 4
    with begun(life) as session:
        bake(session, "bread", "ships")
    assert (session.state, len(life.facts())) == (SessionState.IDLE, 6)


@pytest.mark.parametrize("auto", [True, False])
def test_close_and_commit_tries_again_only_so_often(auto: bool) -> None:
    life = Life(auto_commit=auto)
    session = begun(life)
    bake(session, "bread")
    life.mind.fails("propositions", DOWN, DOWN)
    session.close_and_commit()
    assert (session.state, len(life.facts())) == (SessionState.IDLE, 1)
    session.start_episode("Sail")
    bake(session, "ships")
    life.mind.fails("propositions", DOWN, DOWN, DOWN, DOWN)
    with pytest.raises(PipelineError) as failed:
        session.close_and_commit(max_retries=3)
    assert (failed.value.reason, failed.value.__cause__) == ("extraction_failed", DOWN)
    assert failed.value.errors == (DOWN,)
    assert life.mind.faults["propositions"] == []
    assert session.state is SessionState.FAILED
    session.commit()


def test_close_and_commit_without_retries_fails_at_once() -> None:
    life = Life()
    session = begun(life)
    bake(session, "bread")
    life.mind.fails("propositions", DOWN, DOWN)
    with pytest.raises(PipelineError, match="at every attempt"):
        session.close_and_commit(max_retries=0)
    assert life.mind.faults["propositions"] == [DOWN]


def test_extraction_goes_on_after_the_time_limit() -> None:
    for polls, interval in ((0, 1_000), (1, 1), (1, 0)):
        life, go_on = Life(), threading.Event()
        session = begun(life)
        bake(session, "bread")
        life.mind.within["propositions"] = lambda go_on=go_on: go_on.wait(20)  # type: ignore[misc]
        with pytest.raises(PipelineError) as late:
            session.close_and_commit(max_polls=polls, poll_interval=interval)
        assert late.value.reason == "extraction_timeout"
        assert session.state is SessionState.EXTRACTING
        go_on.set()
        with session:
            pass
        assert (session.state, len(life.facts())) == (SessionState.IDLE, 1)


def test_close_waits_for_an_extraction_under_way() -> None:
    life, go_on = Life(), threading.Event()
    session = begun(life)
    life.mind.within["propositions"] = lambda: go_on.wait(20)
    bake(session, "bread", "ships")
    with pytest.raises(PipelineError) as late:
        session.close_and_commit(max_polls=1, poll_interval=1)
    assert (late.value.reason, session.state) == ("extraction_timeout", SessionState.COLLECTING)
    go_on.set()
    session.close_and_commit()
    assert len(life.facts()) == 2


def test_close_and_commit_refuses_other_states_and_numbers() -> None:
    for state in (SessionState.IDLE, SessionState.READY):
        session = in_state(Life(auto_commit=False), state)
        with pytest.raises(SessionError):
            session.close_and_commit()
        assert session.state is state
    wrongs: list[dict[str, object]] = [{"max_retries": -1}, {"max_polls": 1.5}, {"poll_interval": -1}]
    for wrong in wrongs:
        with pytest.raises(InputError, match=next(iter(wrong))):
            in_state(Life(), SessionState.COLLECTING).close_and_commit(**wrong)  # type: ignore[arg-type]


def test_with_block_that_raises_keeps_steps_uncommitted() -> None:
    life = Life()
    with pytest.raises(ZeroDivisionError), life.begin() as session:
        bake(session, "bread")
        raise ZeroDivisionError
    assert (session.state, len(session.steps), life.facts()) == (SessionState.COLLECTING, 1, [])
    life.wait(TIMEOUT)
    assert life.facts() == []
    bake(session, "bread")
    assert life.timers.names == {"flush", "session"}


def test_with_block_commits_what_was_closed_inside() -> None:
    for state in set(SessionState) - {SessionState.COLLECTING}:
        life = Life(auto_commit=False)
        with in_state(life, state) as session:
            if state is SessionState.EXTRACTING:
                life.run()
            elif state is SessionState.FAILED:
                life.commit(session)
        assert session.state is SessionState.IDLE
        assert len(life.facts()) == (state is not SessionState.IDLE)


def test_with_block_leaves_an_expired_session_alone() -> None:
    life = Life()
    with life.begin() as session:
        life.wait(TIMEOUT)
    assert session.is_over
