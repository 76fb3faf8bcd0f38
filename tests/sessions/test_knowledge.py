"""The steps that knowledge is drawn from, when, and the fate of steps if that fails."""

import pytest
from tests.sessions.scripted_sessions import DOWN, FLUSH, Life, bake, in_state, raising, refusal, start

from pieria.errors import AdapterError, PipelineError
from pieria.sessions import SessionState
from pieria.sessions.extraction import TRIES

IDLE, COLLECTING, EXTRACTING, READY, FAILED = SessionState


def test_session_commits_by_itself_by_default() -> None:
    assert Life().surroundings().setting("auto_commit") is True
    life, session = start("bread", "ships")
    life.run()
    assert (session.state, life.learnt()) == (COLLECTING, ["bread 0"])


def test_manual_mode_writes_nothing_before_a_commit() -> None:
    life, session = start("bread", "ships", auto_commit=False)
    assert life.extractions.waiting == []
    session.close()
    assert session.state is EXTRACTING
    life.run()
    assert (session.state, life.learnt()) == (READY, [])
    session.commit()
    assert (session.state, session.steps, life.learnt()) == (IDLE, (), ["bread 0", "ships 1"])
    assert life.log.load(session.id)[1] == []
    found = life.backend.find_candidates(["episodic"], [1, 0, 0, 0, 0.1], [], None, {})
    assert found[0][0].observation == "bread 0"  # type: ignore[attr-defined]
    session = in_state(life, READY)
    session.discard()
    assert (session.state, session.steps, life.learnt()) == (IDLE, (), ["bread 0", "ships 1"])


def test_closing_an_empty_episode() -> None:
    life, session = start()
    session.close()
    assert session.state is IDLE
    assert life.transitions() == [("idle", "collecting"), ("collecting", "idle")]
    life, session = start(auto_commit=False)
    life.close(session)
    assert session.state is READY


def test_failed_trajectory_is_tried_again() -> None:
    for go_on, state in (
        (lambda life, session: bake(session, "stars"), COLLECTING),
        (lambda life, session: session.close(), IDLE),
        (lambda life, session: life.timers.wait(FLUSH), COLLECTING),
    ):
        life, session = start()
        life.mind.fails("propositions", DOWN)
        bake(session, "bread", "ships")
        life.run()
        assert life.learnt() == []
        go_on(life, session)
        life.run()
        assert (session.state, life.learnt()) == (state, ["bread 0", "ships 1"])


def test_repeated_failures_are_not_paid_at_every_boundary() -> None:
    life, session = start()
    life.mind.fails("propositions", DOWN, DOWN)
    for topic in ("bread", "ships") * 4:
        bake(session, topic)
        life.run()
    assert life.mind.asked[("propositions", "bread 0")] == TRIES
    every = [f"{topic} {number}" for number, topic in enumerate(("bread", "ships") * 4)]
    assert life.learnt() == sorted(every[1:-1])
    life.close(session)
    assert life.learnt() == sorted(every)


@pytest.mark.parametrize("auto", [True, False])
def test_retry_draws_only_from_uncommitted_steps(auto: bool) -> None:
    life, session = start("bread", "ships", auto_commit=auto)

    def fail_the_second() -> None:
        if life.mind.count("propositions") == 2:
            life.mind.fails("propositions", DOWN)

    life.mind.within["propositions"] = fail_the_second
    life.run()
    life.close(session)
    assert session.state is FAILED
    assert "commit to try again, or discard" in str(refusal(lambda: session.append("flour", "bread")))
    life.commit(session)
    if not auto:
        session.commit()
    assert (session.state, life.learnt()) == (IDLE, ["bread 0", "ships 1"])
    asked = life.mind.asked
    assert (asked[("propositions", "bread 0")], asked[("propositions", "ships 1")]) == (1, 2)


def test_episode_after_a_discarded_one_loses_no_steps() -> None:
    life, session = start("bread", "ships")
    life.run()
    life.mind.fails("propositions", DOWN)
    life.close(session)
    session.discard()
    assert session.state is IDLE
    session.start_episode("Sail")
    bake(session, "tea", "stars")
    session.close_async()
    life.run()
    assert life.learnt() == ["bread 0", "stars 1", "tea 0"]


def test_commit_that_cannot_be_written_can_be_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    life = Life(auto_commit=False)
    session = in_state(life, READY)
    with monkeypatch.context() as patched, pytest.raises(AdapterError, match="no space left"):
        patched.setattr(life.log, "commit", raising(AdapterError("store", "write", "no space left")))
        session.commit()
    assert session.state is READY
    session.commit()
    assert (session.state, life.learnt()) == (IDLE, ["bread 0"])


def test_automatic_commit_that_breaks_off_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    life, session = start("bread")
    with monkeypatch.context() as patched:
        patched.setattr(life.log, "commit", raising(ZeroDivisionError()))
        life.close(session)
    assert session.state is FAILED
    [told] = life.told("trajectory_extraction_failed")
    assert isinstance(told["reason"], PipelineError)
    assert (told["reason"].reason, type(told["reason"].__cause__)) == ("task_crashed", ZeroDivisionError)
    life.commit(session)
    assert life.learnt() == ["bread 0"]


def test_failure_that_cannot_be_logged_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    life = Life()
    session = in_state(life, EXTRACTING)
    with monkeypatch.context() as patched:
        patched.setattr(life.log, "keep", raising(DOWN))
        life.run()
    assert session.state is FAILED
    assert "could not be logged" in caplog.text
    life.commit(session)
    assert (session.state, life.learnt()) == (IDLE, ["bread 0"])


def test_steps_being_drawn_from_are_not_drawn_from_again() -> None:
    life, session = start("bread", "ships")
    under_way, life.extractions.waiting = life.extractions.waiting, []
    bake(session, "stars")
    life.run()
    life.extractions.waiting = under_way
    life.run()
    life.close(session)
    assert life.learnt() == ["bread 0", "ships 1", "stars 2"]
    assert life.mind.count("propositions") == 3


def test_closing_without_waiting_draws_from_nothing_twice() -> None:
    life, session = start("bread", "ships", "stars")
    session.close_async()
    life.run()
    assert (session.state, life.learnt()) == (IDLE, ["bread 0", "ships 1", "stars 2"])
    assert life.mind.count("propositions") == 3
    # Trajectories that end together share the tags that they bring.
    assert [node.text for node in life.nodes("tag")] == ["seen"]


def test_last_flushed_step_is_rewarded_with_the_next_or_a_close() -> None:
    life, session = start("bread", "bread")
    life.wait(FLUSH)
    assert life.steps() == {"bread 0": 0.75, "bread 1": None}
    bake(session, "bread")
    assert life.steps() == {"bread 0": 0.75, "bread 1": 0.75}
    life.wait(FLUSH)
    life.close(session)
    assert (session.state, life.steps()) == (IDLE, {f"bread {n}": 0.75 for n in range(3)})
    assert life.mind.count("propositions") == 2


def test_reward_during_a_flush_is_not_lost() -> None:
    life, session = start("bread")
    life.timers.wait(FLUSH)
    bake(session, "bread")
    life.run()
    assert life.steps() == {"bread 0": 0.75}
