"""The events and spans of a session, each with all its fields."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from tests.sessions.living import DOWN, Life, bake, in_state

from pieria import telemetry
from pieria.learning.steps import EpisodeTrace, StructuringTrace
from pieria.notifier import EVENTS, Event
from pieria.sessions import SessionState

Heard = tuple[str, dict[str, Any], dict[str, Any]]


@pytest.fixture
def heard() -> Iterator[list[Heard]]:
    told: list[Heard] = []

    def hear(event: telemetry.Event, measured: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        told.append((".".join(event[1:]), dict(measured), dict(about)))

    detach = telemetry.attach(hear)
    yield told
    detach()


def only(life: Life, name: str) -> Event:
    (event,) = [event for event in life.events if event.name == name]
    return event


def test_every_transition_is_told_with_what_it_committed() -> None:
    life = Life(auto_commit=False)
    session = in_state(life, SessionState.READY)
    session.commit()
    told = [event for event in life.events if event.name == "session_transition"]
    assert [(event.payload["old_state"], event.payload["new_state"]) for event in told] == [
        ("idle", "collecting"),
        ("collecting", "extracting"),
        ("extracting", "ready"),
        ("ready", "idle"),
    ]
    assert {event.payload["session_id"] for event in told} == {session.id}
    assert [event.metadata for event in told[:-1]] == [{}, {}, {}]
    assert set(told[-1].metadata["node_ids"]) == set(life.backend.graph.nodes)


def test_what_commits_by_itself_tells_of_it_when_it_comes_to_rest() -> None:
    life = Life()
    session = life.begin()
    bake(session, "bread", "ships")
    life.run()
    session.close()
    life.run()
    first, last = [event for event in life.events if event.name == "trajectory_committed"]
    rest = [event for event in life.events if event.name == "session_transition"][-1]
    assert (rest.payload["old_state"], rest.payload["new_state"]) == ("extracting", "idle")
    assert rest.metadata == {"node_ids": last.payload["node_ids"]}
    for event, step in ((first, "bread 0"), (last, "ships 1")):
        assert event.payload["session_id"] == session.id
        assert event.payload["node_count"] == len(event.payload["node_ids"])
        written = [life.backend.get_node(id) for id in event.payload["node_ids"]]
        assert step in [getattr(node, "observation", None) for node in written]
        assert isinstance(event.metadata["trace"], StructuringTrace)
        assert event.metadata["trace"].trajectory_id == event.payload["trajectory_id"]


def test_every_step_is_told_with_its_trace() -> None:
    life = Life()
    session = life.begin()
    bake(session, "bread", "ships")
    told = [event for event in life.events if event.name == "step_appended"]
    assert [event.payload for event in told] == [
        {
            "session_id": session.id,
            "step_index": step.index,
            "trajectory_id": step.trajectory_id,
            "boundary_detected": step.index == 1,
        }
        for step in session.steps
    ]
    assert all(isinstance(event.metadata["trace"], EpisodeTrace) for event in told)


def test_a_flush_is_told_from_a_trajectory_that_is_over() -> None:
    life = Life()
    session = life.begin()
    bake(session, "bread")
    life.timers.wait(120_000)
    life.run()
    flushed = only(life, "trajectory_flushed")
    assert flushed.payload["trajectory_id"] == session.steps[0].trajectory_id
    assert flushed.payload["node_count"] == len(flushed.payload["node_ids"]) > 0
    assert isinstance(flushed.metadata["trace"], StructuringTrace)
    assert not life.told("trajectory_committed")


def test_failures_and_the_end_are_told_with_their_reason() -> None:
    life = Life()
    session = life.begin()
    life.mind.fails("state", DOWN)
    session.append_async("flour", "bread begins")
    life.run()
    bake(session, "bread", "ships")
    life.mind.fails("propositions", DOWN)
    life.run()
    life.timers.wait(600_000)
    life.run()
    life.timers.wait(600_000)
    life.run()
    failed = only(life, "trajectory_extraction_failed")
    assert only(life, "append_failed").payload == {"session_id": session.id, "error": DOWN}
    assert failed.payload["reason"] is DOWN
    assert failed.payload["session_id"] == session.id
    assert only(life, "session_expired").payload == {"session_id": session.id}
    told = {event.name for event in life.events}
    assert told <= set(EVENTS)


def test_a_transition_is_a_span(heard: list[Heard]) -> None:
    session = in_state(Life(), SessionState.COLLECTING)
    (start, stop) = [each for each in heard if each[0].startswith("session.transition")]
    about = {"session_id": session.id, "repo_id": "kitchen", "from_state": "idle", "to_state": "collecting"}
    assert (start[0], start[2]) == ("session.transition.start", about)
    assert (stop[0], stop[2]) == ("session.transition.stop", about)
    assert set(stop[1]) == {"monotonic_time", "duration"}


def test_what_is_queued_is_a_point_and_its_turn_a_span(heard: list[Heard]) -> None:
    life = Life(auto_commit=False)
    session = in_state(life, SessionState.EXTRACTING)
    session.commit_async()
    session.start_episode_async("Sail")
    queued = [each for each in heard if each[0] == "session.op_enqueue"]
    of = {"session_id": session.id, "repo_id": "kitchen"}
    assert [about for _, _, about in queued] == [
        {"op": "commit", "queue_depth": 1, "projected_state": "idle", **of},
        {"op": "start_episode", "queue_depth": 2, "projected_state": "collecting", **of},
    ]
    assert all(set(measured) == {"system_time"} for _, measured, _ in queued)
    life.run()
    start, stop = [each for each in heard if each[0].startswith("session.op_drain")]
    assert start[2] == stop[2] == {"queue_depth": 2, **of}
    assert (stop[1]["ops_executed"], stop[1]["ops_failed"]) == (2, 0)


def test_what_is_drawn_and_appended_names_its_session_and_its_repository(heard: list[Heard]) -> None:
    life = Life()
    session = in_state(life, SessionState.EXTRACTING)
    life.run()
    for name in ("episode.append", "structuring.extract_trajectory"):
        (stop,) = [about for each, _, about in heard if each == f"{name}.stop"]
        assert (stop["session_id"], stop["repo_id"]) == (session.id, "kitchen")
