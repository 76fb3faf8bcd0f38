"""The events and spans of a session, each with all its fields."""

from collections.abc import Iterator

import pytest
from tests.learning.trajectories import Heard, telemetry_heard
from tests.sessions.scripted_sessions import DOWN, FLUSH, TIMEOUT, Life, bake, in_state, start

from pieria.learning.steps import EpisodeTrace, StructuringTrace
from pieria.notifier import EVENTS, Event
from pieria.sessions import SessionState


@pytest.fixture
def heard() -> Iterator[Heard]:
    with telemetry_heard() as told:
        yield told


def named(life: Life, name: str) -> list[Event]:
    return [event for event in life.events if event.name == name]


def test_transition_event_holds_what_was_committed() -> None:
    life = Life(auto_commit=False)
    session = in_state(life, SessionState.READY)
    session.commit()
    assert life.transitions() == [
        ("idle", "collecting"), ("collecting", "extracting"), ("extracting", "ready"), ("ready", "idle"),
    ]  # fmt: skip
    *before, last = named(life, "session_transition")
    assert {event.payload["session_id"] for event in (*before, last)} == {session.id}
    assert [event.metadata for event in before] == [{}, {}, {}]
    assert set(last.metadata["node_ids"]) == set(life.backend.graph.nodes)


def test_automatic_commit_is_an_event_of_its_own() -> None:
    life, session = start("bread", "ships")
    life.run()
    life.close(session)
    first, last = named(life, "trajectory_committed")
    rest = named(life, "session_transition")[-1]
    assert (rest.payload["old_state"], rest.payload["new_state"]) == ("extracting", "idle")
    assert rest.metadata == {"node_ids": last.payload["node_ids"]}
    for event, step in ((first, "bread 0"), (last, "ships 1")):
        assert event.payload["session_id"] == session.id
        assert event.payload["node_count"] == len(event.payload["node_ids"])
        written = [life.backend.get_node(id) for id in event.payload["node_ids"]]
        assert step in [getattr(node, "observation", None) for node in written]
        assert isinstance(event.metadata["trace"], StructuringTrace)
        assert event.metadata["trace"].trajectory_id == event.payload["trajectory_id"]


def test_step_event_holds_its_trace() -> None:
    life, session = start("bread", "ships")
    told = named(life, "step_appended")
    fields = ("session_id", "step_index", "trajectory_id", "boundary_detected")
    steps = [(session.id, step.index, step.trajectory_id, step.index == 1) for step in session.steps]
    assert [event.payload for event in told] == [dict(zip(fields, step, strict=True)) for step in steps]
    assert all(isinstance(event.metadata["trace"], EpisodeTrace) for event in told)


def test_flush_event_differs_from_a_commit() -> None:
    life, session = start("bread")
    life.wait(FLUSH)
    [flushed] = named(life, "trajectory_flushed")
    assert flushed.payload["trajectory_id"] == session.steps[0].trajectory_id
    assert flushed.payload["node_count"] == len(flushed.payload["node_ids"]) > 0
    assert isinstance(flushed.metadata["trace"], StructuringTrace)
    assert not life.told("trajectory_committed")


def test_failure_and_expiry_events_hold_their_reason() -> None:
    life, session = start()
    life.mind.fails("state", broken := ZeroDivisionError())
    session.append_async("flour", "bread begins")
    life.run()
    bake(session, "bread", "ships")
    life.mind.fails("propositions", DOWN)
    life.run()
    life.wait(TIMEOUT)
    life.wait(TIMEOUT)
    [failed] = life.told("trajectory_extraction_failed")
    assert life.told("append_failed") == [{"session_id": session.id, "error": broken}]
    assert failed["reason"] is DOWN
    assert failed["session_id"] == session.id
    assert life.told("session_expired") == [{"session_id": session.id}]
    assert {event.name for event in life.events} <= set(EVENTS)


def test_transitions_and_work_are_spans_of_their_session(heard: Heard) -> None:
    life, session = start("bread")
    begun, stop = [each for each in heard if each[0].startswith("session.transition")]
    of = {"session_id": session.id, "repo_id": "kitchen"}
    about = {**of, "from_state": "idle", "to_state": "collecting"}
    assert (begun[0], begun[2]) == ("session.transition.start", about)
    assert (stop[0], stop[2]) == ("session.transition.stop", about)
    assert set(stop[1]) == {"monotonic_time", "duration"}
    life.close(session)
    for name in ("episode.append", "structuring.extract", "structuring.extract_trajectory"):
        [ended] = [about for each, _, about in heard if each == f"{name}.stop"]
        assert of.items() <= ended.items()


def test_queued_operation_is_a_point_and_its_turn_a_span(heard: Heard) -> None:
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
    begun, stop = [each for each in heard if each[0].startswith("session.op_drain")]
    assert begun[2] == stop[2] == {"queue_depth": 2, **of}
    assert (stop[1]["ops_executed"], stop[1]["ops_failed"]) == (2, 0)
