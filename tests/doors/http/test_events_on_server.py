"""Events of banks on PostgreSQL: its notifications wake them, and they resume after it was away."""

import threading
from typing import Any

import pytest
from tests.doors.http.conftest import PATIENCE, listening
from tests.doors.http.test_events import EVENTS, NOTES, remember, told
from tests.servers import own_server
from tests.waiting import soon

import pieria


def test_a_listener_outlives_a_server_that_stops(durable: None, monkeypatch: pytest.MonkeyPatch) -> None:
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

    with own_server({"fsync": "off"}) as own:
        monkeypatch.setenv("PIERIA_DATA", own.url)
        with listening() as (live, _):
            remember(live, "We chose JWT.")
            listener = threading.Thread(target=listen)
            listener.start()
            soon(lambda: live.service.hub.listeners == 1)
            remember(live, "before")
            own.stop("immediate")
            assert warned.wait(PATIENCE)
            refused = live.client.post("/v1/banks/notes/memories", json={"text": "nowhere to go"})
            assert (refused.json()["error"]["code"], refused.headers["retry-after"] != "") == ("unreachable", True)
            tool = live.client.post("/v1/banks/notes/tools/mnemosyne_remember", json={"content": "nowhere to go"})
            for answer in (refused, tool, live.client.get("/banks/notes/memories")):
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
