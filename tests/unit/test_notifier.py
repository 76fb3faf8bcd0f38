"""Events match the list, a notifier gets them in order, and its failures disturb no other code."""

import logging
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pieria import Event, NoopNotifier, Notifier, safe_notify
from pieria import notifier as told
from pieria.errors import InputError
from pieria.notifier import EVENTS, Courier

PAGE = Path(__file__).parents[2] / "docs" / "events.md"
LISTED = {
    "changeset_applied": "changeset",
    "nodes_deleted": "node_ids",
    "decay_completed": "checked deleted deleted_ids",
    "consolidation_completed": "checked deleted deleted_ids",
    "validation_completed": "checked penalized orphaned",
    "repair_completed": "checked repaired_nodes dangling_refs orphans_deleted orphan_ids",
    "session_transition": "session_id old_state new_state",
    "recall_executed": "query results",
    "recall_failed": "query reason",
    "step_appended": "session_id step_index trajectory_id boundary_detected",
    "trajectory_committed": "session_id trajectory_id node_count node_ids",
    "trajectory_flushed": "session_id trajectory_id node_count node_ids",
    "session_expired": "session_id",
    "trajectory_extraction_failed": "session_id trajectory_id reason",
    "append_failed": "session_id error",
    "write_failed": "operation reason",
    "write_crashed": "operation reason",
}


class Listening:
    """A notifier that records its events and their threads, and then calls `then`."""

    def __init__(self, then: Callable[[], object] = lambda: None) -> None:
        self.heard: list[tuple[str, Event]] = []
        self.threads: set[str] = set()
        self.then = then

    def notify(self, repo_id: str, event: Event) -> None:
        self.heard.append((repo_id, event))
        self.threads.add(threading.current_thread().name)
        self.then()


def deleted(*ids: str) -> Event:
    return Event("nodes_deleted", {"node_ids": [*ids]})


def raising(error: BaseException) -> Callable[[], None]:
    def fails() -> None:
        raise error

    return fails


def made(name: str) -> Event:
    shape = EVENTS[name]
    return Event(name, dict.fromkeys(shape.payload), dict.fromkeys(shape.metadata))


# --- the form of an event


def test_the_events_are_those_that_users_are_promised_with_their_keys() -> None:
    assert {name: " ".join(shape.payload) for name, shape in EVENTS.items()} == LISTED


@pytest.mark.parametrize("name", EVENTS)
def test_every_event_carries_its_payload_and_metadata(name: str) -> None:
    event = made(name)
    assert (event.name, list(event.payload)) == (name, LISTED[name].split())
    assert isinstance(event.metadata, dict)
    carried: dict[str, Any] = {"session_id": "s", "trace": None, "node_ids": []}
    assert Event(name, event.payload, carried).metadata == carried


@pytest.mark.parametrize("name", EVENTS)
def test_an_event_that_lacks_a_key_or_has_one_too_many_is_refused(name: str) -> None:
    event = made(name)
    for key in event.payload:
        with pytest.raises(InputError, match=f"{name}.payload.{key}"):
            Event(name, {other: 1 for other in event.payload if other != key}, event.metadata)
    for key in event.metadata:
        with pytest.raises(InputError, match=f"{name}.metadata.{key}"):
            Event(name, event.payload, {other: 1 for other in event.metadata if other != key})
    with pytest.raises(InputError, match=f"{name}.payload: expected no keys but"):
        Event(name, event.payload | {"colour": 1}, event.metadata)
    with pytest.raises(InputError, match=f"{name}.metadata: expected no keys but"):
        Event(name, event.payload, event.metadata | {"colour": 1})


def test_an_event_that_is_not_listed_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(InputError) as caught:
        Event("node_deleted", {"node_ids": []})
    assert caught.value.hint == "Did you mean nodes_deleted?"
    with pytest.raises(InputError, match="a mapping"):
        Event("nodes_deleted", ["a"])  # type: ignore[arg-type]


def test_an_event_keeps_what_it_was_made_with() -> None:
    payload: dict[str, Any] = {"node_ids": ["a"]}
    event = Event("nodes_deleted", payload)
    payload["node_ids"] = ["b"]
    assert event.payload == {"node_ids": ["a"]}


def test_the_page_lists_every_event_with_its_keys() -> None:
    rows = [line.split("|") for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    listed = {re.findall(r"\w+", row[1])[0]: [re.findall(r"`(\w+)`", cell) for cell in row[2:4]] for row in rows}
    assert listed == {name: [[*shape.payload, *shape.optional], [*shape.metadata]] for name, shape in EVENTS.items()}


# --- delivery


def test_a_notifier_is_told_at_once() -> None:
    listening = Listening()
    safe_notify(listening, "notes", deleted("a"))
    assert listening.heard == [("notes", deleted("a"))]


@pytest.mark.parametrize("error", [LookupError("gone"), SystemExit(1)], ids=["error", "exit"])
def test_what_a_notifier_raises_is_logged_and_harms_nobody(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    safe_notify(Listening(raising(error)), "notes", deleted("a"))
    assert "a notifier failed on nodes_deleted of notes" in caplog.text
    courier = Courier(listening := Listening(raising(error)))
    for number in range(3):
        courier.tell("notes", deleted(str(number)))
    courier.close()
    assert [event for _, event in listening.heard] == [deleted(str(number)) for number in range(3)]


def test_an_interrupt_is_not_held_up_by_a_notifier() -> None:
    with pytest.raises(KeyboardInterrupt):
        safe_notify(Listening(raising(KeyboardInterrupt())), "notes", deleted("a"))


def test_events_come_in_their_order_in_a_thread_of_their_own() -> None:
    courier = Courier(listening := Listening())
    for number in range(500):
        courier.tell("notes", deleted(str(number)))
    courier.close()
    assert [event.payload["node_ids"] for _, event in listening.heard] == [[str(number)] for number in range(500)]
    assert listening.threads == {"pieria-notifier"}
    courier.tell("notes", deleted("later"))
    courier.close()
    assert listening.heard[-1] == ("notes", deleted("later"))


def test_whoever_tells_does_not_wait_for_a_slow_notifier_and_what_is_too_much_is_counted(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(told, "WAITING", 3)
    begun, go_on = threading.Event(), threading.Event()

    def stands() -> None:
        begun.set()
        assert go_on.wait(30)

    courier = Courier(listening := Listening(stands))
    courier.tell("notes", deleted("first"))
    assert begun.wait(30)
    for number in range(5):
        courier.tell("notes", deleted(str(number)))
    caplog.set_level(logging.WARNING)
    courier.close(patience=0)
    assert "a notifier was not done in time: 5 events are left" in caplog.text
    go_on.set()
    courier.close(30)
    assert [event.payload["node_ids"] for _, event in listening.heard] == [["first"], ["0"], ["1"], ["2"]]
    assert "a notifier is too slow: 2 events were left out" in caplog.text


def test_a_notifier_may_close_what_tells_it() -> None:
    couriers: list[Courier] = []
    couriers.append(Courier(listening := Listening(lambda: couriers[0].close(30))))
    couriers[0].tell("notes", deleted("a"))
    couriers[0].close(30)
    assert len(listening.heard) == 1


def test_what_cannot_be_told_anything_is_refused() -> None:
    for wrong in (object(), Listening, 3, lambda repo_id, event: None):
        with pytest.raises(InputError, match="notifier: expected an object with a method notify"):
            Courier(wrong)
    assert isinstance(NoopNotifier(), Notifier)
    Courier(NoopNotifier()).tell("notes", deleted("a"))
