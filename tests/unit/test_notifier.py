"""Events match the list, a notifier gets them in order, and its failures disturb no other code."""

import logging
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from tests.unit.samples import samples

from pieria import Event, NoopNotifier, Notifier, notifier, safe_notify
from pieria.errors import InputError
from pieria.notifier import EVENTS, Courier

PAGE = Path(__file__).parents[2] / "docs" / "events.md"


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

    @property
    def ids(self) -> list[str]:
        return [event.payload["node_ids"][0] for _, event in self.heard]


def deleted(*ids: str) -> Event:
    return Event("nodes_deleted", {"node_ids": [*ids]})


def test_every_event_carries_its_payload_and_metadata() -> None:
    listed = samples("events")
    assert {name: [*shape.payload] for name, shape in EVENTS.items()} == listed
    for name, shape in EVENTS.items():
        event = Event(name, dict.fromkeys(shape.payload), dict.fromkeys(shape.metadata))
        assert (event.name, list(event.payload), type(event.metadata)) == (name, listed[name], dict)
        carried: dict[str, Any] = {"session_id": "s", "trace": None, "node_ids": []}
        assert Event(name, event.payload, carried).metadata == carried
    rows = [line.split("|") for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    listed = {re.findall(r"\w+", row[1])[0]: [re.findall(r"`(\w+)`", cell) for cell in row[2:4]] for row in rows}
    assert listed == {name: [[*shape.payload, *shape.optional], [*shape.metadata]] for name, shape in EVENTS.items()}
    payload: dict[str, Any] = {"node_ids": ["a"]}
    event = Event("nodes_deleted", payload)
    payload["node_ids"] = ["b"]
    assert event.payload == {"node_ids": ["a"]}


def test_wrong_events_and_notifiers_are_refused() -> None:
    for name, shape in EVENTS.items():
        whole = {"payload": dict.fromkeys(shape.payload), "metadata": dict.fromkeys(shape.metadata)}
        for part, keys in whole.items():
            for key in keys:
                with pytest.raises(InputError, match=f"{name}.{part}.{key}"):
                    Event(name, **whole | {part: {other: 1 for other in keys if other != key}})
            with pytest.raises(InputError, match=f"{name}.{part}: expected no keys but"):
                Event(name, **whole | {part: keys | {"colour": None}})
    with pytest.raises(InputError) as caught:
        Event("node_deleted", {"node_ids": []})
    assert caught.value.hint == "Did you mean nodes_deleted?"
    with pytest.raises(InputError, match="a mapping"):
        Event("nodes_deleted", ["a"])  # type: ignore[arg-type]
    for wrong in (object(), Listening, 3, lambda repo_id, event: None):
        with pytest.raises(InputError, match="notifier: expected an object with a method notify"):
            Courier(wrong)
    assert isinstance(NoopNotifier(), Notifier)
    Courier(NoopNotifier()).tell("notes", deleted("a"))


def test_errors_of_a_notifier_are_logged_and_interrupts_raised(caplog: pytest.LogCaptureFixture) -> None:
    for error in (LookupError("gone"), SystemExit(1)):
        safe_notify(listening := Listening(Mock(side_effect=error)), "notes", deleted("0"))
        courier = Courier(listening)
        for number in (1, 2):
            courier.tell("notes", deleted(str(number)))
        courier.close()
        assert listening.ids == ["0", "1", "2"]
    assert caplog.text.count("a notifier failed on nodes_deleted of notes") == 6
    with pytest.raises(KeyboardInterrupt):
        safe_notify(Listening(Mock(side_effect=KeyboardInterrupt())), "notes", deleted("a"))


def test_events_come_in_order_at_once_or_by_a_thread() -> None:
    at_once = Listening()
    safe_notify(at_once, "notes", deleted("a"))
    assert at_once.heard == [("notes", deleted("a"))]
    courier = Courier(listening := Listening())
    for number in range(500):
        courier.tell("notes", deleted(str(number)))
    courier.close()
    assert listening.ids == [str(number) for number in range(500)]
    assert listening.threads == {"pieria-notifier"}
    courier.tell("notes", deleted("later"))
    courier.close()
    assert listening.heard[-1] == ("notes", deleted("later"))
    couriers: list[Courier] = []
    couriers.append(Courier(listening := Listening(lambda: couriers[0].close(30))))
    couriers[0].tell("notes", deleted("a"))
    couriers[0].close(30)
    assert len(listening.heard) == 1


def test_a_slow_notifier_delays_nobody_and_losses_are_counted(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(notifier, "WAITING", 3)
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
    assert listening.ids == ["first", "0", "1", "2"]
    assert "a notifier is too slow: 2 events were left out" in caplog.text
