"""Events of banks on PostgreSQL: its notifications wake them, and they resume after it was away."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from tests.doors.http.conftest import PATIENCE, Served, listening
from tests.doors.http.test_events import EVENTS, NOTES, remember, told
from tests.servers import Server, own_server

import pieria


@pytest.fixture
def own(durable: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Yield a PostgreSQL server that may be stopped, with the banks of this test on it."""
    with own_server({"fsync": "off"}) as server:
        monkeypatch.setenv("PIERIA_DATA", server.url)
        yield server


@pytest.fixture
def live(own: Server) -> Iterator[Served]:
    with listening() as (served, _):
        remember(served, "We chose JWT.")
        yield served


def test_what_any_process_writes_is_told_as_it_happens(live: Served) -> None:
    with live.client.stream("GET", EVENTS, params=NOTES) as stream:
        events = told(stream.iter_lines())
        next(events)
        remember(live, "through the server")
        assert next(events)["data"]["who"] == "http"
        with pieria.open("notes") as bank:
            bank.remember("past it", id="beside")
        assert next(events)["data"]["ids"] == ["beside"]


def test_a_listener_outlives_a_server_that_stops_and_misses_nothing(live: Served, own: Server) -> None:
    heard: list[dict[str, Any]] = []
    warned, back = threading.Event(), threading.Event()

    def listen() -> None:
        with live.client.stream("GET", EVENTS, params=NOTES) as stream:
            for event in told(stream.iter_lines()):
                heard.append(event)
                if event.get("event") == "error":
                    warned.set()
                if event.get("event") == "change" and event["data"]["ids"] == ["after"]:
                    back.set()
                    return

    listener = threading.Thread(target=listen)
    listener.start()
    while not live.service.hub.listeners:
        pass
    remember(live, "before")
    own.stop("immediate")
    assert warned.wait(PATIENCE)
    refused = live.client.post("/v1/banks/notes/memories", json={"text": "nowhere to go"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "unreachable")
    assert refused.headers["retry-after"]
    answers = [refused, live.client.post("/v1/banks/notes/tools/mnemosyne_remember", json={"content": "nowhere to go"})]
    answers.append(live.client.get("/banks/notes/memories"))
    for answer in answers:
        assert answer.status_code == 503
        assert "postgres" not in answer.text and str(own.folder) not in answer.text
    own.start()
    with pieria.open("notes") as bank:
        bank.remember("while the listener looked for the server")
        bank.remember("after", id="after")
    assert back.wait(PATIENCE)
    listener.join(PATIENCE)
    changes = [event["data"]["seq"] for event in heard if event.get("event") == "change"]
    assert changes == [2, 3, 4]
    errors = [event["data"]["error"] for event in heard if event.get("event") == "error"]
    assert {error["code"] for error in errors} == {"unreachable"}
    assert all(error["retryable"] and error["hint"] for error in errors)
    assert str(own.folder) not in str(errors)
