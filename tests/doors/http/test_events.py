"""Events arrive as they happen, resume after the last one, and each client reads at its own pace."""

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import islice
from typing import Any

import anyio
import pytest
from tests.doors.http.conftest import PATIENCE, READS, Served, asked, calling, listening
from tests.servers import own_server
from tests.waiting import soon

import pieria
from pieria.doors.http import events as streaming

EVENTS = "/v1/events"
NOTES = {"bank": "notes"}


@pytest.fixture
def live() -> Iterator[Served]:
    with pieria.open("notes") as bank:
        bank.remember("We chose JWT.", id="jwt")
    with listening() as (served, _):
        yield served


def told(lines: Iterator[str]) -> Iterator[dict[str, Any]]:
    event: dict[str, Any] = {}
    for line in lines:
        name, _, value = line.partition(": ")  # a keep-alive line has no name
        if not line and event:
            yield event
            event = {}
        elif name == "data":
            event[name] = json.loads(value)
        elif name:
            event[name] = value


def remember(served: Served, text: str) -> None:
    assert served.client.post("/v1/banks/notes/memories", json={"text": text}).status_code == 201


def listened(served: Served, **asked: Any) -> list[dict[str, Any]]:
    headers = asked.pop("headers", {})
    answer = served.client.get(EVENTS, params={**NOTES, "seconds": 1, **asked}, headers=headers)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/event-stream")
    return list(told(iter(answer.text.split("\n"))))


def test_an_unforeseen_fault_ends_no_stream(live: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    real, failed = streaming._grown, threading.Event()

    def grown(bank: pieria.Bank, seen: int) -> int:
        if not failed.is_set():
            failed.set()
            raise RuntimeError("can't start new thread")
        return real(bank, seen)

    monkeypatch.setattr(streaming, "AGAIN", 0.01)
    monkeypatch.setattr(streaming, "_grown", grown)
    with live.client.stream("GET", EVENTS, params=NOTES) as stream:
        events = told(stream.iter_lines())
        assert next(events) == {"retry": "2000"} and failed.wait(PATIENCE)
        remember(live, "after the fault")
        assert next(events)["event"] == "change"


def test_a_listener_whose_loop_has_ended_fails_nobody(bank: pieria.Bank) -> None:
    hub = streaming.Hub()
    loop = asyncio.new_event_loop()
    loop.close()
    hub._into_loop = loop.call_soon_threadsafe
    with hub._listening(streaming.Listener(bank, 0, "ada")):
        hub.publish("recall", "notes", {})


def test_changes_recalls_and_progress_are_told_as_they_happen(live: Served) -> None:
    with live.client.stream("GET", EVENTS, params=NOTES) as stream, pieria.open("notes") as bank:
        events = told(stream.iter_lines())
        assert next(events) == {"retry": "2000"}
        remember(live, "through the server")
        first = next(events)
        assert (first["event"], first["id"]) == ("change", str(first["data"]["seq"]))
        assert (first["data"]["who"], first["data"]["what"]) == ("http", "remember")
        bank.remember("past it", id="beside")
        second = next(events)
        assert (second["data"]["who"], second["data"]["ids"]) == ("python", ["beside"])
        assert int(second["id"]) == int(first["id"]) + 1
        live.client.post("/v1/banks/other/memories", json={"text": "elsewhere"})
        live.client.post("/v1/banks/other/recall", json={"query": "elsewhere"})
        for path in ("recall", f"tools/{READS}"):
            live.client.post(f"/v1/banks/notes/{path}", json={"query": "JWT"})
            passed = next(events)
            assert (passed["event"], passed["data"]["ids"], passed["data"]["hits"]) == ("recall", ["jwt"], 1)
            assert "id" not in passed
        for number in range(8):
            bank.remember(f"The billing queue was emptied by hand, for the {number}th time.", at="2020-01-01")
        job = bank.jobs.add("sleep")
        progress = (event["data"] for event in events if event.get("event") == "progress")
        passed = next(progress)
        assert (passed["job"], passed["kind"], passed["what"]) == (job.id, "sleep", "groups")
        exported = asked(live, "/mcp/all?bank=notes", calling("mnemosyne_export", output_path="notes.json"))
        assert not exported.is_error, exported.content
        passed = next(each for each in progress if "job" not in each)
        assert passed["whole"] >= passed["done"] > 0


def test_a_listener_resumes_after_its_last_event(live: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "PAGE", 3)
    for number in range(7):
        remember(live, f"number {number}")
    every = [event["data"]["seq"] for event in listened(live, since=0) if event.get("event") == "change"]
    assert every == [1, 2, 3, 4, 5, 6, 7, 8], "more than a page comes whole"
    rest = listened(live, headers={"Last-Event-ID": "6"}, since=0)
    assert [event["id"] for event in rest if "id" in event] == ["7", "8"]
    [_, reset] = listened(live, headers={"Last-Event-ID": "1000"})
    assert reset == {"event": "reset", "data": {"seq": 8}}, "the bank was replaced by an older one"


def test_silence_is_broken_by_keep_alive_lines(live: Served) -> None:
    live.service.hub.keep_alive = 0.2
    answer = live.client.get(EVENTS, params={**NOTES, "seconds": 1})
    lines = [line for line in answer.text.split("\n") if line]
    assert lines[:2] == ["retry: 2000", ": still here"] and len(lines) <= 7


@pytest.mark.parametrize("ends", ["revoked and told nothing more", "revoked", "damaged"])
def test_a_stream_ends_when_its_token_is_no_longer_valid(live: Served, ends: str) -> None:
    if ends != "revoked and told nothing more":
        live.service.hub.keep_alive = 0.2
    token, secret = live.tokens.create("page", "read", ["notes"])
    headers = {"Authorization": f"Bearer {secret}"}
    with live.client.stream("GET", EVENTS, params=NOTES, headers=headers) as stream:
        lines = stream.iter_lines()
        assert next(lines) == "retry: 2000"
        if ends == "damaged":
            live.tokens.path.write_text("damaged")
        else:
            live.tokens.revoke(token.id)
        if ends == "revoked and told nothing more":
            with pieria.open("notes") as bank:
                bank.remember("not for them")
        assert [line for line in lines if line and not line.startswith(":")] == []


def test_a_page_of_events_ends_where_access_ends(bank: pieria.Bank) -> None:
    for number in range(6):
        bank.remember(f"number {number}")
    asked: list[bool] = []

    def welcome() -> bool:
        asked.append(len(asked) < 3)
        return asked[-1]

    async def heard() -> list[str]:
        return [event async for event in streaming.Hub().stream(bank, 0, None, welcome, "ada") if "id: " in event]

    assert len(anyio.run(heard)) == 3


def test_one_caller_leaves_room_for_other_listeners(live: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "EACH", 3)
    heard: list[Iterator[str]] = []
    with ExitStack() as stack:
        for _ in range(3):
            # Keep the iterators: a garbage-collected one ends its stream.
            heard.append(stack.enter_context(live.client.stream("GET", "/v1/events?bank=notes")).iter_lines())
            assert next(heard[-1]) == "retry: 2000"
        for path, accept in (("/v1/events?bank=notes", "*/*"), ("/banks/notes/events", "text/html")):
            refused = live.client.get(path, headers={"accept": accept})
            assert refused.status_code == 429 and "3 for each caller" in refused.text
        live.service.hub.check_room("another")


@pytest.mark.slow
def test_a_slow_listener_misses_events_and_holds_up_nobody(live: Served) -> None:
    """The slow client reads nothing while twenty others listen and call: it costs the server a bounded amount."""
    host, port = live.client.base_url.host, live.client.base_url.port
    slow = socket.socket()
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    slow.settimeout(PATIENCE)
    slow.connect((host, port))
    slow.sendall(f"GET {EVENTS}?bank=notes HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())

    def listen(_: int) -> list[str]:
        with live.client.stream("GET", EVENTS, params=NOTES) as stream:
            coming = (event["id"] for event in told(stream.iter_lines()) if event.get("event") == "change")
            return list(islice(coming, 2))

    with ThreadPoolExecutor(20) as threads:
        heard = threads.map(listen, range(20))
        soon(lambda: live.service.hub.listeners == 21)
        for _ in range(3_000):
            live.service.hub.publish("recall", "notes", {"ids": ["x" * 100] * 100})
        for text in ("for those who listen", "and once more"):
            remember(live, text)
    assert list(heard) == [["2", "3"]] * 20
    received = b""
    while b"event: missed" not in received:
        received += (part := slow.recv(1 << 20))
        assert part
    assert received.count(b"event: recall") < 3_000
    slow.close()
    soon(lambda: live.service.hub.listeners == 0)


def test_impossible_requests_for_events_are_refused(live: Served) -> None:
    wrong = {"": 422, "?bank=nowhere&seconds=1": 404, "?bank=notes&seconds=0": 422, "?bank=notes&second=1": 422}
    assert {query: live.client.get(f"{EVENTS}{query}").status_code for query in wrong} == wrong
    for last in ("x", "9" * 30):
        refused = live.client.get(EVENTS, params={**NOTES, "seconds": 1}, headers={"Last-Event-ID": last})
        assert refused.status_code == 422, last
    for path in ("/banks/notes/events", "/v1/events?bank=notes"):
        answer = live.client.head(path)
        assert answer.headers["content-type"].startswith("text/event-stream")
    assert live.service.hub.listeners == 0


def test_a_listener_outlives_a_server_that_stops(durable: None, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[dict[str, Any]] = []
    warned, back = threading.Event(), threading.Event()

    def listen() -> None:
        with served.client.stream("GET", EVENTS, params=NOTES) as stream:
            for event in told(stream.iter_lines()):
                heard.append(event)
                if event.get("event") == "error":
                    warned.set()
                if event.get("event") == "change" and event["data"]["ids"] == ["after"]:
                    back.set()
                    return

    with own_server({"fsync": "off"}) as own:
        monkeypatch.setenv("PIERIA_DATA", own.url)
        with listening() as (served, _):
            remember(served, "We chose JWT.")
            listener = threading.Thread(target=listen)
            listener.start()
            soon(lambda: served.service.hub.listeners == 1)
            remember(served, "before")
            own.stop("immediate")
            assert warned.wait(PATIENCE)
            refused = served.client.post("/v1/banks/notes/memories", json={"text": "nowhere to go"})
            assert refused.json()["error"]["code"] == "unreachable" and refused.headers["retry-after"]
            tool = served.client.post("/v1/banks/notes/tools/mnemosyne_remember", json={"content": "nowhere to go"})
            for answer in (refused, tool, served.client.get("/banks/notes/memories")):
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
    assert all(error["retryable"] and error["hint"] for error in errors) and str(own.folder) not in str(errors)
