"""Closing and committing in one call, with a time limit, and as a context manager."""

import threading

import pytest
from tests.sessions.scripted_sessions import DOWN, TIMEOUT, Life, TellingMind, bake, in_state, start

from pieria.errors import InputError, PipelineError, SessionError
from pieria.sessions import Crew, Session, SessionState
from pieria.sessions.wait import WhileAnswered


def begun(life: Life, *topics: str) -> Session:
    session = life.begin(crew=Crew())
    bake(session, *topics)
    return session


@pytest.mark.parametrize("auto", [True, False])
def test_close_and_commit_leaves_everything_in_the_graph(auto: bool) -> None:
    life = Life(auto_commit=auto)
    session = begun(life, "bread", "ships", "stars")
    session.append_async("tea 3", "tea goes on")
    session.close_and_commit()
    assert (session.state, len(life.facts())) == (SessionState.IDLE, 4)
    with begun(life, "wool", "salt") as session:
        pass
    assert (session.state, len(life.facts())) == (SessionState.IDLE, 6)


@pytest.mark.parametrize("auto", [True, False])
def test_close_and_commit_tries_again_only_so_often(auto: bool) -> None:
    life = Life(auto_commit=auto)
    session = begun(life, "bread")
    life.mind.fails("propositions", DOWN, DOWN)
    session.close_and_commit()
    assert (session.state, len(life.facts())) == (SessionState.IDLE, 1)
    for retries, tries in ((3, 4), (0, 1)):
        session.start_episode("Sail")
        bake(session, "ships")
        life.mind.fails("propositions", *[DOWN] * tries)
        with pytest.raises(PipelineError, match="at every attempt") as failed:
            session.close_and_commit(max_retries=retries)
        assert (failed.value.reason, failed.value.__cause__) == ("extraction_failed", DOWN)
        assert failed.value.errors == (DOWN,)
        assert life.mind.faults["propositions"] == []
        assert session.state is SessionState.FAILED
        session.discard()


@pytest.mark.parametrize(
    ("topics", "polls", "interval"), [(1, 0, 1_000), (1, 1, 1), (1, 1, 0), pytest.param(2, 1, 1, id="under way")]
)
def test_extraction_goes_on_after_the_time_limit(topics: int, polls: int, interval: int) -> None:
    life, go_on = Life(), threading.Event()
    life.mind.within["propositions"] = lambda: go_on.wait(20)
    session = begun(life, *("bread", "ships")[:topics])
    with pytest.raises(PipelineError) as late:
        session.close_and_commit(max_polls=polls, poll_interval=interval)
    # A close waits for the extraction of an earlier trajectory.
    state = SessionState.EXTRACTING if topics == 1 else SessionState.COLLECTING
    assert (late.value.reason, session.state) == ("extraction_timeout", state)
    go_on.set()
    with session:
        pass
    assert (session.state, len(life.facts())) == (SessionState.IDLE, topics)


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


def test_default_wait_lasts_while_the_mind_answers() -> None:
    now = [1_000.0]

    class Slow(TellingMind):
        seconds = 200

    for mind, allowed in ((TellingMind(), 180), (Slow(), 460)):
        life = Life(mind=mind)
        at, crew = life.surroundings(), life.crew
        crew.answered = now[0] - 60
        wait = WhileAnswered(at, lambda: now[0])
        assert wait.left() == allowed, "from the beginning of the wait"
        now[0] += allowed - 1
        crew.answered = now[0]
        now[0] += 2
        assert wait.left() == allowed - 2, "from the last answer"
        now[0] += allowed
        assert wait.left() < 0


def test_each_answer_of_the_mind_is_noted() -> None:
    life, session = start("bread")
    life.crew.answered = 0.0
    life.close(session)
    assert life.crew.answered > 0


def test_mind_that_does_not_answer_ends_the_default_wait() -> None:
    class Stuck(TellingMind):
        seconds = -30
        """No time is left for an answer."""

    life, go_on = Life(mind=Stuck()), threading.Event()
    life.mind.within["propositions"] = lambda: go_on.wait(20)
    with pytest.raises(PipelineError) as late, begun(life, "bread") as session:
        pass
    assert (late.value.reason, session.state) == ("extraction_timeout", SessionState.EXTRACTING)
    assert "does not answer" in str(late.value.hint)
    go_on.set()
    assert session.wait(20) is SessionState.IDLE


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
    with life.begin() as session:
        life.wait(TIMEOUT)
    assert session.is_over


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
