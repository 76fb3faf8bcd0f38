"""The steps that knowledge is drawn from, when, and the fate of steps if that fails."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.sessions.living import DOWN, FLUSH, Life, bake, in_state, reason

from pieria.errors import AdapterError, PipelineError, SessionError
from pieria.sessions import SessionState
from pieria.sessions.extraction import TRIES

IDLE, COLLECTING, EXTRACTING, READY, FAILED = SessionState


def raising(problem: Exception) -> Callable[..., None]:
    def refuse(*_: object) -> None:
        raise problem

    return refuse


# --- automatic and by hand


def test_session_commits_by_itself_by_default() -> None:
    assert Life().surroundings().setting("auto_commit") is True
    life = Life()
    session = life.begin()
    bake(session, "bread", "ships")
    life.run()
    assert (session.state, life.learnt()) == (COLLECTING, ["bread 0"])


def test_manual_mode_writes_nothing_before_a_commit() -> None:
    life = Life(auto_commit=False)
    session = life.begin()
    bake(session, "bread", "ships")
    assert life.extractions.waiting == []
    session.close()
    assert session.state is EXTRACTING
    life.run()
    assert (session.state, life.learnt()) == (READY, [])
    session.commit()
    assert (session.state, life.learnt()) == (IDLE, ["bread 0", "ships 1"])
    assert session.steps == ()
    assert life.log.load(session.id)[1] == []
    found = life.backend.find_candidates(["episodic"], [1, 0, 0, 0, 0.1], [], None, {})
    assert found[0][0].observation == "bread 0"  # type: ignore[attr-defined]


def test_discarded_episode_is_not_written() -> None:
    life = Life(auto_commit=False)
    session = in_state(life, READY)
    session.discard()
    assert (session.state, life.learnt(), session.steps) == (IDLE, [], ())


def test_closing_an_empty_episode() -> None:
    life = Life()
    session = life.begin()
    session.close()
    assert session.state is IDLE
    assert life.transitions() == [("idle", "collecting"), ("collecting", "idle")]
    by_hand = Life(auto_commit=False)
    session = by_hand.begin()
    by_hand.close(session)
    assert session.state is READY


# --- failures and second tries


def test_failed_trajectory_is_tried_again_at_the_next_boundary() -> None:
    life = Life()
    session = life.begin()
    life.mind.fails("propositions", DOWN)
    bake(session, "bread", "ships")
    life.run()
    assert life.learnt() == []
    bake(session, "stars")
    life.run()
    assert life.learnt() == ["bread 0", "ships 1"]


def test_failed_trajectory_is_tried_again_at_the_close() -> None:
    life = Life()
    session = life.begin()
    life.mind.fails("propositions", DOWN)
    bake(session, "bread", "ships")
    life.run()
    life.close(session)
    assert (session.state, life.learnt()) == (IDLE, ["bread 0", "ships 1"])


def test_repeated_failures_are_not_paid_at_every_boundary() -> None:
    life = Life()
    session = life.begin()
    life.mind.fails("propositions", DOWN, DOWN)
    for topic in ("bread", "ships") * 4:
        bake(session, topic)
        life.run()
    assert life.mind.asked[("propositions", "bread 0")] == TRIES
    every = [f"{topic} {number}" for number, topic in enumerate(("bread", "ships") * 4)]
    assert life.learnt() == sorted(every[1:-1])
    life.close(session)
    assert life.learnt() == sorted(every)


def test_retry_draws_only_from_uncommitted_steps() -> None:
    life = Life()
    session = life.begin()
    bake(session, "bread", "ships")
    life.run()
    life.mind.fails("propositions", DOWN)
    life.close(session)
    assert session.state is FAILED
    with pytest.raises(SessionError, match="commit to try again, or discard"):
        session.append("flour", "bread")
    life.commit(session)
    assert (session.state, life.learnt()) == (IDLE, ["bread 0", "ships 1"])
    asked = life.mind.asked
    assert (asked[("propositions", "bread 0")], asked[("propositions", "ships 1")]) == (1, 2)


def test_retry_by_hand_asks_nothing_about_finished_parts() -> None:
    life = Life(auto_commit=False)
    session = life.begin()
    bake(session, "bread", "ships")

    def fail_the_second() -> None:
        if life.mind.count("propositions") == 2:
            life.mind.fails("propositions", DOWN)

    life.mind.within["propositions"] = fail_the_second
    life.close(session)
    life.commit(session)
    session.commit()
    assert life.learnt() == ["bread 0", "ships 1"]
    asked = life.mind.asked
    assert (asked[("propositions", "bread 0")], asked[("propositions", "ships 1")]) == (1, 2)


def test_failed_extraction_drops_queued_operations() -> None:
    life, told = Life(), list[Any]()
    session = life.begin()
    bake(session, "bread", "ships")
    life.mind.fails("propositions", DOWN)
    session.close_async(told.append)
    session.start_episode_async("Sail", told.append)
    life.run()
    assert session.state is COLLECTING
    assert [reason(each) for each in told] == ["extraction_failed", "extraction_failed"]


def test_episode_after_a_discarded_one_loses_no_steps() -> None:
    life = Life()
    session = life.begin()
    bake(session, "bread", "ships")
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
    life = Life()
    session = in_state(life, COLLECTING)
    with monkeypatch.context() as patched:
        patched.setattr(life.log, "commit", raising(ZeroDivisionError()))
        life.close(session)
    assert session.state is FAILED
    (told,) = life.told("trajectory_extraction_failed")
    assert isinstance(told["reason"], PipelineError)
    assert told["reason"].reason == "task_crashed"
    assert isinstance(told["reason"].__cause__, ZeroDivisionError)
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


# --- nothing twice


def test_steps_being_drawn_from_are_not_drawn_from_again() -> None:
    life = Life()
    session = life.begin()
    bake(session, "bread", "ships")
    under_way, life.extractions.waiting = life.extractions.waiting, []
    bake(session, "stars")
    life.run()
    life.extractions.waiting = under_way
    life.run()
    life.close(session)
    assert life.learnt() == ["bread 0", "ships 1", "stars 2"]
    assert life.mind.count("propositions") == 3


def test_closing_without_waiting_draws_from_nothing_twice() -> None:
    life = Life()
    session = life.begin()
    bake(session, "bread", "ships", "stars")
    session.close_async()
    life.run()
    assert (session.state, life.learnt()) == (IDLE, ["bread 0", "ships 1", "stars 2"])
    assert life.mind.count("propositions") == 3
    # Trajectories that end together share the tags that they bring.
    assert [node.text for node in life.nodes("tag")] == ["seen"]


def test_manual_commit_finds_tags_committed_before_it() -> None:
    life = Life(auto_commit=False)
    first, second = in_state(life, READY), in_state(life, READY)
    first.commit()
    second.commit()
    assert [node.text for node in life.nodes("tag")] == ["seen"]
    assert len(life.nodes("semantic")) == 2


# --- rewards of the last step


def test_last_flushed_step_is_rewarded_with_the_next_one() -> None:
    life = Life()
    session = life.begin()
    bake(session, "bread", "bread")
    life.wait(FLUSH)
    assert life.steps() == {"bread 0": 0.75, "bread 1": None}
    bake(session, "bread")
    assert life.steps() == {"bread 0": 0.75, "bread 1": 0.75}


def test_reward_during_a_flush_is_not_lost() -> None:
    life = Life()
    session = life.begin()
    bake(session, "bread")
    life.timers.wait(FLUSH)
    bake(session, "bread")
    life.run()
    assert life.steps() == {"bread 0": 0.75}


def test_last_step_is_rewarded_when_the_episode_is_closed() -> None:
    life = Life()
    session = life.begin()
    bake(session, "bread")
    life.wait(FLUSH)
    assert life.steps() == {"bread 0": None}
    life.close(session)
    assert (session.state, life.steps()) == (IDLE, {"bread 0": 0.75})
    assert life.mind.count("propositions") == 1
