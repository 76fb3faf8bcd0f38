"""Closing and committing in one call, with a time limit, and as a context manager."""

import threading

import pytest
from tests.sessions.living import DOWN, Life, bake, in_state

from pieria.errors import InputError, PipelineError, SessionError
from pieria.sessions import Crew, Session, SessionState


def begun(life: Life) -> Session:
    """Begin a session with real threads."""
    return Session.begin("Bake bread", life.surroundings(crew=Crew()))


@pytest.mark.parametrize("auto", [True, False])
def test_closing_and_committing_leaves_everything_in_the_graph(auto: bool) -> None:
    life = Life(auto_commit=auto)
    session = begun(life)
    bake(session, "bread", "ships", "stars")
    session.append_async("tea 3", "tea goes on")
    session.close_and_commit()
    assert session.state is SessionState.IDLE
    assert len(life.facts()) == 4


@pytest.mark.parametrize("auto", [True, False])
def test_what_fails_is_tried_again_so_often_and_no_more(auto: bool) -> None:
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


def test_without_retries_the_first_failure_is_the_last() -> None:
    life = Life()
    session = begun(life)
    bake(session, "bread")
    life.mind.fails("propositions", DOWN, DOWN)
    with pytest.raises(PipelineError, match="at every attempt"):
        session.close_and_commit(max_retries=0)
    assert life.mind.faults["propositions"] == [DOWN]


@pytest.mark.parametrize(("polls", "interval"), [(0, 1_000), (1, 1), (1, 0)])
def test_what_takes_longer_than_it_is_waited_for_goes_on_all_the_same(polls: int, interval: int) -> None:
    life, go_on = Life(), threading.Event()
    session = begun(life)
    bake(session, "bread")
    life.mind.within["propositions"] = lambda: go_on.wait(20)
    with pytest.raises(PipelineError) as late:
        session.close_and_commit(max_polls=polls, poll_interval=interval)
    assert late.value.reason == "extraction_timeout"
    assert session.state is SessionState.EXTRACTING
    go_on.set()
    with session:
        pass
    assert (session.state, len(life.facts())) == (SessionState.IDLE, 1)


def test_it_waits_for_what_is_being_drawn_before_it_closes() -> None:
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


def test_only_a_session_that_collects_is_closed() -> None:
    for state in (SessionState.IDLE, SessionState.READY):
        session = in_state(Life(auto_commit=False), state)
        with pytest.raises(SessionError):
            session.close_and_commit()
        assert session.state is state


@pytest.mark.parametrize("wrong", [{"max_retries": -1}, {"max_polls": 1.5}, {"poll_interval": -1}])
def test_what_cannot_be_counted_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        in_state(Life(), SessionState.COLLECTING).close_and_commit(**wrong)


@pytest.mark.parametrize("auto", [True, False])
def test_the_end_of_a_with_block_closes_and_commits(auto: bool) -> None:
    life = Life(auto_commit=auto)
    with begun(life) as session:
        bake(session, "bread", "ships")
    assert (session.state, len(life.facts())) == (SessionState.IDLE, 2)


def test_a_with_block_that_breaks_off_keeps_the_steps_uncommitted() -> None:
    life = Life()
    with pytest.raises(ZeroDivisionError), life.begin() as session:
        bake(session, "bread")
        raise ZeroDivisionError
    assert (session.state, len(session.steps), life.facts()) == (SessionState.COLLECTING, 1, [])
    life.timers.wait(600_000)
    life.run()
    assert life.facts() == []
    bake(session, "bread")
    assert life.timers.names == {"flush", "session"}


@pytest.mark.parametrize("state", [state for state in SessionState if state is not SessionState.COLLECTING])
def test_what_was_closed_within_the_block_is_committed_at_its_end(state: SessionState) -> None:
    life = Life(auto_commit=False)
    with in_state(life, state) as session:
        if state is SessionState.EXTRACTING:
            life.run()
        elif state is SessionState.FAILED:
            session.commit()
            life.run()
    assert session.state is SessionState.IDLE
    assert len(life.facts()) == (state is not SessionState.IDLE)


def test_a_session_that_expired_within_the_block_is_left_alone() -> None:
    life = Life()
    with life.begin() as session:
        life.timers.wait(600_000)
        life.run()
    assert session.is_over
