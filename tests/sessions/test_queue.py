"""Asynchronous calls: their queue, their order, and the arguments of callbacks."""

from typing import Any

import pytest
from tests.sessions.living import DOWN, Life, in_state, reason

from pieria.errors import AdapterError, SessionError
from pieria.sessions import SessionState

IDLE, COLLECTING, EXTRACTING, READY, FAILED = SessionState


def test_a_chain_is_done_in_its_order_when_what_it_waits_for_is_done() -> None:
    life, told = Life(auto_commit=False), list[Any]()
    session = in_state(life, EXTRACTING)
    session.commit_async(lambda outcome: told.append((outcome, session.state)))
    session.start_episode_async("Sail", lambda outcome: told.append((outcome, session.state)))
    life.run()
    assert told == [("committed", IDLE), ("started", COLLECTING)]
    assert session.get_context() == {"goal": "Sail", "recent_steps": []}


def test_an_automatic_session_goes_on_to_the_next_episode() -> None:
    life, told = Life(), list[Any]()
    session = in_state(life, EXTRACTING)
    session.start_episode_async("Sail", told.append)
    with pytest.raises(SessionError) as refused:
        session.commit_async(told.append)
    assert (refused.value.reason, refused.value.state) == ("invalid_queued_operation", COLLECTING)
    life.run()
    assert (told, session.state, life.facts()) == (["started"], COLLECTING, ["It was seen that bread 0."])


def test_what_follows_a_close_waits_until_knowledge_is_drawn() -> None:
    life, told = Life(auto_commit=False), list[Any]()
    session = life.begin()
    session.append_async("flour", "bread begins", told.append)
    session.close_async(told.append)
    session.commit_async(told.append)
    session.start_episode_async("Sail", told.append)
    session.close_async(told.append)
    session.discard_async(told.append)
    life.run()
    assert told == ["appended", "closed", "committed", "started", "closed", "discarded"]
    assert (session.state, life.facts()) == (IDLE, ["It was seen that flour."])


def test_no_step_comes_into_an_episode_that_is_to_be_closed() -> None:
    life, told = Life(), list[Any]()
    session = life.begin()
    session.append_async("flour", "bread begins", told.append)
    session.close_async(told.append)
    session.start_episode_async("Sail", told.append)
    session.append_async("wind", "ships begin", told.append)
    with pytest.raises(SessionError, match="extraction"):
        session.append("wind", "ships begin")
    life.run()
    refused, *done = told
    assert isinstance(refused, SessionError) and refused.reason == "extraction_in_progress"
    assert (done, session.state, session.steps) == (["appended", "closed", "started"], COLLECTING, ())


def test_no_more_than_five_wait() -> None:
    life, told = Life(auto_commit=False), list[Any]()
    session = in_state(life, EXTRACTING)
    for operation in ("commit", "start_episode", "close", "commit", "start_episode"):
        getattr(session, f"{operation}_async")(*(["Sail"] if operation == "start_episode" else []), told.append)
    with pytest.raises(SessionError) as full:
        session.close_async(told.append)
    assert full.value.reason == "pending_queue_full"
    life.run()
    assert told == ["committed", "started", "closed", "committed", "started"]


def test_an_operation_that_those_before_it_do_not_lead_to_is_refused_at_once() -> None:
    session = in_state(Life(auto_commit=False), EXTRACTING)
    session.commit_async()
    with pytest.raises(SessionError) as refused:
        session.commit_async()
    assert (refused.value.reason, refused.value.state) == ("invalid_queued_operation", IDLE)


def test_what_is_overtaken_is_refused_when_its_turn_comes_and_takes_the_rest_along() -> None:
    life, told = Life(auto_commit=False), list[Any]()
    session = in_state(life, EXTRACTING)
    session.commit_async(told.append)
    session.start_episode_async("Sail", told.append)
    session.close_async(told.append)
    life.extractions.run()
    assert session.state is READY
    session.discard()
    life.run()
    assert [reason(each) for each in told] == ["invalid_operation", "preceding_op_failed", "preceding_op_failed"]
    assert session.state is IDLE


def test_an_operation_that_fails_tells_why_and_takes_the_rest_along() -> None:
    life, told = Life(auto_commit=False), list[Any]()
    session = in_state(life, EXTRACTING)
    session.commit_async(told.append)
    session.start_episode_async("Sail", told.append)
    full = AdapterError("store", "write", "no space left")

    def refuse(*_: object) -> None:
        raise full

    life.log.commit = refuse
    life.run()
    assert told[0] is full
    assert reason(told[1]) == "preceding_op_failed"
    assert session.state is READY


@pytest.mark.parametrize("auto", [True, False])
def test_when_knowledge_cannot_be_drawn_all_that_waits_is_told_so(auto: bool) -> None:
    life, told = Life(auto_commit=auto), list[Any]()
    session = in_state(life, EXTRACTING)
    if not auto:
        session.commit_async(told.append)
    session.start_episode_async("Sail", told.append)
    session.close_async(told.append)
    life.mind.fails("propositions", DOWN)
    life.run()
    assert session.state is FAILED
    assert {reason(each) for each in told} == {"extraction_failed"}
    assert len(told) == (2 if auto else 3)


def test_what_waits_for_nobody_needs_no_callback() -> None:
    life = Life(auto_commit=False)
    session = in_state(life, EXTRACTING)
    session.commit_async()
    life.run()
    assert (session.state, life.facts()) == (IDLE, ["It was seen that bread 0."])


def test_a_callback_may_go_on_with_the_session() -> None:
    life, told = Life(auto_commit=False), list[Any]()
    session = in_state(life, EXTRACTING)

    def go_on(outcome: object) -> None:
        session.start_episode("Sail")
        session.close_async(told.append)

    session.commit_async(go_on)
    life.run()
    assert (session.state, told) == (READY, ["closed"])


def test_committing_an_idle_session_without_waiting_is_refused() -> None:
    session = in_state(Life(), IDLE)
    with pytest.raises(SessionError) as refused:
        session.commit_async()
    assert refused.value.reason == "invalid_operation"
