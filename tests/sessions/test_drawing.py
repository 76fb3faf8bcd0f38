"""What knowledge is drawn from, when, and what happens to steps of which that failed."""

from typing import Any

import pytest
from tests.sessions.living import DOWN, Life, bake, in_state, reason

from pieria.errors import AdapterError, PipelineError, SessionError
from pieria.sessions import SessionState
from pieria.sessions.extraction import TRIES

SEEN = "It was seen that {}."


def seen(*observations: str) -> list[str]:
    return sorted(SEEN.format(each) for each in observations)


def test_a_session_commits_by_itself_unless_it_is_told_otherwise() -> None:
    assert Life().surroundings().setting("auto_commit") is True
    life = Life()
    session = life.begin()
    bake(session, "bread", "ships")
    life.run()
    assert (session.state, life.facts()) == (SessionState.COLLECTING, seen("bread 0"))


def test_manual_mode_writes_nothing_before_it_is_told_to() -> None:
    life = Life(auto_commit=False)
    session = life.begin()
    bake(session, "bread", "ships")
    assert life.extractions.waiting == []
    session.close()
    assert session.state is SessionState.EXTRACTING
    life.run()
    assert (session.state, life.facts()) == (SessionState.READY, [])
    session.commit()
    assert (session.state, life.facts()) == (SessionState.IDLE, seen("bread 0", "ships 1"))
    assert session.steps == ()
    assert life.log.load(session.id)[1] == []


def test_what_is_discarded_is_not_written() -> None:
    life = Life(auto_commit=False)
    session = in_state(life, SessionState.READY)
    session.discard()
    assert (session.state, life.facts(), session.steps) == (SessionState.IDLE, [], ())


def test_an_episode_without_steps_leads_where_others_do() -> None:
    for auto, wanted in ((True, SessionState.IDLE), (False, SessionState.READY)):
        life = Life(auto_commit=auto)
        session = life.begin()
        session.close()
        life.run()
        assert session.state is wanted


def test_closing_draws_from_past_trajectories_that_failed_before() -> None:
    life = Life()
    session = life.begin()
    life.mind.fails("propositions", DOWN)
    bake(session, "bread", "ships")
    life.run()
    assert life.facts() == []
    session.close()
    life.run()
    assert (session.state, life.facts()) == (SessionState.IDLE, seen("bread 0", "ships 1"))


def test_the_next_boundary_tries_again_what_failed_at_the_last() -> None:
    life = Life()
    session = life.begin()
    life.mind.fails("propositions", DOWN)
    bake(session, "bread", "ships")
    life.run()
    bake(session, "stars")
    life.run()
    assert life.facts() == seen("bread 0", "ships 1")


def test_what_fails_again_and_again_is_not_paid_for_at_every_boundary_and_is_there_at_the_end() -> None:
    life = Life()
    session = life.begin()
    life.mind.fails("propositions", DOWN, DOWN)
    for topic in ("bread", "ships") * 4:
        bake(session, topic)
        life.run()
    assert life.mind.asked[("propositions", "bread 0")] == TRIES
    every = [f"{topic} {number}" for number, topic in enumerate(("bread", "ships") * 4)]
    assert life.facts() == seen(*every[1:-1])
    session.close()
    life.run()
    assert life.facts() == seen(*every)


def test_a_retry_draws_from_the_steps_that_were_not_committed_and_no_others() -> None:
    life = Life()
    session = life.begin()
    bake(session, "bread", "ships")
    life.run()
    life.mind.fails("propositions", DOWN)
    session.close()
    life.run()
    assert session.state is SessionState.FAILED
    session.commit()
    life.run()
    assert (session.state, life.facts()) == (SessionState.IDLE, seen("bread 0", "ships 1"))
    assert life.mind.asked[("propositions", "bread 0")] == 1
    assert life.mind.asked[("propositions", "ships 1")] == 2


def test_a_retry_by_hand_asks_nothing_of_the_trajectories_that_went_well() -> None:
    life = Life(auto_commit=False)
    session = life.begin()
    bake(session, "bread", "ships")

    def fail_the_second() -> None:
        if life.mind.count("propositions") == 2:
            life.mind.fails("propositions", DOWN)

    life.mind.within["propositions"] = fail_the_second
    session.close()
    life.run()
    with pytest.raises(SessionError, match="commit to try again"):
        session.close()
    session.commit()
    life.run()
    session.commit()
    assert life.facts() == seen("bread 0", "ships 1")
    assert life.mind.asked[("propositions", "bread 0")] == 1
    assert life.mind.asked[("propositions", "ships 1")] == 2


def test_steps_that_are_being_drawn_from_are_not_drawn_from_again() -> None:
    life = Life()
    session = life.begin()
    bake(session, "bread", "ships")
    under_way, life.extractions.waiting = life.extractions.waiting, []
    bake(session, "stars")
    life.run()
    life.extractions.waiting = under_way
    life.run()
    session.close()
    life.run()
    assert life.facts() == seen("bread 0", "ships 1", "stars 2")
    assert life.mind.count("propositions") == 3


def test_closing_without_waiting_draws_from_nothing_twice() -> None:
    life = Life()
    session = life.begin()
    bake(session, "bread", "ships", "stars")
    session.close_async()
    life.run()
    assert (session.state, life.facts()) == (SessionState.IDLE, seen("bread 0", "ships 1", "stars 2"))
    assert life.mind.count("propositions") == 3


def test_an_episode_after_a_discarded_one_loses_no_steps() -> None:
    life = Life()
    session = life.begin()
    bake(session, "bread", "ships")
    life.run()
    life.mind.fails("propositions", DOWN)
    session.close()
    life.run()
    session.discard()
    assert session.state is SessionState.IDLE
    session.start_episode("Sail")
    bake(session, "tea", "stars")
    session.close_async()
    life.run()
    assert life.facts() == seen("bread 0", "stars 1", "tea 0")


def test_a_commit_that_returns_can_be_recalled() -> None:
    life = Life(auto_commit=False)
    session = in_state(life, SessionState.READY)
    session.commit()
    found = life.backend.find_candidates(["episodic"], [1, 0, 0, 0, 0.1], [], None, {})
    assert [node.observation for node, _ in found] == ["bread 0"]  # type: ignore[attr-defined]


def test_a_commit_that_cannot_be_written_can_be_tried_again() -> None:
    life = Life(auto_commit=False)
    session = in_state(life, SessionState.READY)
    full = AdapterError("store", "write", "no space left")
    commit = life.log.commit

    def refuse(*_: object) -> None:
        raise full

    life.log.commit = refuse
    with pytest.raises(AdapterError, match="no space left"):
        session.commit()
    assert session.state is SessionState.READY
    life.log.commit = commit
    session.commit()
    assert (session.state, life.facts()) == (SessionState.IDLE, seen("bread 0"))


def test_knowledge_that_cannot_be_written_is_kept_for_another_try() -> None:
    life = Life()
    session = in_state(life, SessionState.COLLECTING)
    commit = life.log.commit

    def refuse(*_: object) -> None:
        raise ZeroDivisionError

    life.log.commit = refuse
    session.close()
    life.run()
    assert session.state is SessionState.FAILED
    (told,) = life.told("trajectory_extraction_failed")
    assert isinstance(told["reason"], PipelineError)
    assert told["reason"].reason == "task_crashed"
    assert isinstance(told["reason"].__cause__, ZeroDivisionError)
    life.log.commit = commit
    session.commit()
    life.run()
    assert life.facts() == seen("bread 0")


def test_a_failure_that_cannot_be_logged_is_a_failure_all_the_same(caplog: pytest.LogCaptureFixture) -> None:
    life = Life()
    session = in_state(life, SessionState.EXTRACTING)

    def refuse(*_: object) -> None:
        raise DOWN

    keep, life.log.keep = life.log.keep, refuse
    life.run()
    assert session.state is SessionState.FAILED
    assert "could not be logged" in caplog.text
    life.log.keep = keep
    session.commit()
    life.run()
    assert (session.state, life.facts()) == (SessionState.IDLE, seen("bread 0"))


def test_the_last_step_of_what_was_flushed_is_rewarded_when_the_next_one_comes() -> None:
    life = Life()
    session = life.begin()
    bake(session, "bread", "bread")
    life.timers.wait(120_000)
    life.run()
    assert life.steps() == {"bread 0": 0.75, "bread 1": None}
    bake(session, "bread")
    assert life.steps() == {"bread 0": 0.75, "bread 1": 0.75}


def test_a_reward_that_comes_while_its_step_is_being_flushed_is_not_lost() -> None:
    life = Life()
    session = life.begin()
    bake(session, "bread")
    life.timers.wait(120_000)
    bake(session, "bread")
    life.run()
    assert life.steps() == {"bread 0": 0.75}


def test_the_last_step_of_all_is_rewarded_when_the_episode_is_closed() -> None:
    life = Life()
    session = life.begin()
    bake(session, "bread")
    life.timers.wait(120_000)
    life.run()
    assert life.steps() == {"bread 0": None}
    session.close()
    life.run()
    assert (session.state, life.steps()) == (SessionState.IDLE, {"bread 0": 0.75})
    assert life.mind.count("propositions") == 1


def test_without_anything_left_to_be_done_closing_leads_to_idle_at_once() -> None:
    life = Life()
    session = life.begin()
    session.close()
    assert session.state is SessionState.IDLE
    assert life.transitions() == [("idle", "collecting"), ("collecting", "idle")]


def test_what_waits_is_dropped_when_knowledge_cannot_be_drawn() -> None:
    life, told = Life(), list[Any]()
    session = life.begin()
    bake(session, "bread", "ships")
    life.mind.fails("propositions", DOWN)
    session.close_async(told.append)
    session.start_episode_async("Sail", told.append)
    life.run()
    assert session.state is SessionState.COLLECTING
    assert [reason(each) for each in told] == ["extraction_failed", "extraction_failed"]


def test_trajectories_that_end_together_share_the_tags_that_they_bring() -> None:
    life = Life()
    session = life.begin()
    bake(session, "bread", "ships", "stars")
    session.close_async()
    life.run()
    assert [node.text for node in life.nodes("tag")] == ["seen"]


def test_what_is_committed_by_hand_finds_the_tags_that_are_there_by_then() -> None:
    life = Life(auto_commit=False)
    first, second = in_state(life, SessionState.READY), in_state(life, SessionState.READY)
    first.commit()
    second.commit()
    assert [node.text for node in life.nodes("tag")] == ["seen"]
    assert len(life.nodes("semantic")) == 2


def test_in_a_failed_session_only_what_the_table_has_is_allowed() -> None:
    session = in_state(Life(), SessionState.FAILED)
    with pytest.raises(SessionError, match="commit to try again, or discard"):
        session.append("flour", "bread")
