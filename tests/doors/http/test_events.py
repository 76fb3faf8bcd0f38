"""Events arrive as they happen, resume after the last one, and each client reads at its own pace."""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from typing import Any

import anyio
import pytest
from tests.doors.http.conftest import PATIENCE, READS, Served, asked, calling, listening

import pieria
from pieria.doors.http import events as streaming

EVENTS = "/v1/events"
NOTES = {"bank": "notes"}


@pytest.fixture
def live() -> Iterator[Served]:
    with listening() as (served, _):
        served.client.post("/v1/banks/notes/memories", json={"text": "We chose JWT.", "id": "jwt"})
        yield served


def told(lines: Iterator[str]) -> Iterator[dict[str, Any]]:
    """Yield each event."""
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


def test_a_fault_that_nobody_foresaw_in_a_watch_ends_neither_it_nor_the_server(
    live: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
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
        assert next(events) == {"retry": "2000"}
        assert failed.wait(PATIENCE)
        remember(live, "after the fault")
        assert next(events)["event"] == "change"


def test_a_loop_that_has_ended_is_told_nothing_and_fails_nobody(live: Served) -> None:
    hub = streaming.Hub()
    loop = asyncio.new_event_loop()
    loop.close()
    hub._into_loop = loop.call_soon_threadsafe
    with pieria.open("notes") as bank, hub._listening(streaming.Listener(bank, 0, "ada")):
        hub.publish("recall", "notes", {})


def test_what_is_written_is_told_as_it_happens_whoever_writes_it(live: Served) -> None:
    with live.client.stream("GET", EVENTS, params=NOTES) as stream:
        events = told(stream.iter_lines())
        assert next(events) == {"retry": "2000"}
        remember(live, "through the server")
        first = next(events)
        assert first["event"] == "change"
        assert first["id"] == str(first["data"]["seq"])
        assert (first["data"]["who"], first["data"]["what"]) == ("http", "remember")
        with pieria.open("notes") as bank:
            bank.remember("past it", id="beside")
        second = next(events)
        assert (second["data"]["who"], second["data"]["ids"]) == ("python", ["beside"])
        assert int(second["id"]) == int(first["id"]) + 1


def test_whoever_comes_back_gets_the_rest_and_nothing_twice(live: Served) -> None:
    for number in range(5):
        remember(live, f"number {number}")
    every = [event for event in listened(live, since=0) if event.get("event") == "change"]
    assert [event["data"]["seq"] for event in every] == [1, 2, 3, 4, 5, 6]
    rest = listened(live, headers={"Last-Event-ID": "4"}, since=0)
    assert [event["id"] for event in rest if "id" in event] == ["5", "6"]
    assert [event for event in listened(live) if "id" in event] == []


def test_more_than_a_page_comes_whole(live: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "PAGE", 3)
    for number in range(9):
        remember(live, f"number {number}")
    assert [event["id"] for event in listened(live, since=0) if "id" in event] == [str(n + 1) for n in range(10)]


def test_a_bank_that_knows_less_than_the_client_begins_anew(live: Served) -> None:
    [_, reset] = listened(live, headers={"Last-Event-ID": "1000"})
    assert reset == {"event": "reset", "data": {"seq": 1}}


@pytest.mark.parametrize("path", ["recall", f"tools/{READS}"])
def test_recalls_pass_by_without_a_number(live: Served, path: str) -> None:
    with live.client.stream("GET", EVENTS, params=NOTES) as stream:
        events = told(stream.iter_lines())
        next(events)
        live.client.post("/v1/banks/other/memories", json={"text": "elsewhere"})
        live.client.post("/v1/banks/other/recall", json={"query": "elsewhere"})
        live.client.post(f"/v1/banks/notes/{path}", json={"query": "JWT"})
        passed = next(events)
        assert passed["event"] == "recall"
        assert (passed["data"]["ids"], passed["data"]["hits"]) == (["jwt"], 1)
        assert "id" not in passed


def test_progress_of_jobs_passes_by(live: Served) -> None:
    with pieria.open("notes") as bank:
        for number in range(8):
            bank.remember(f"The billing queue was emptied by hand, for the {number}th time.", at="2020-01-01")
        with live.client.stream("GET", EVENTS, params=NOTES) as stream:
            events = told(stream.iter_lines())
            next(events)
            job = bank.jobs.add("sleep")
            passed = next(event for event in events if event.get("event") == "progress")
            assert (passed["data"]["job"], passed["data"]["kind"], passed["data"]["what"]) == (
                job.id,
                "sleep",
                "groups",
            )


def test_silence_is_broken_now_and_then(live: Served) -> None:
    live.service.hub.keep_alive = 0.2
    with live.client.stream("GET", EVENTS, params=NOTES) as stream:
        lines = (line for line in stream.iter_lines() if line)
        assert [next(lines) for _ in range(3)] == ["retry: 2000", ": still here", ": still here"]
    answer = live.client.get(EVENTS, params={**NOTES, "seconds": 1})
    assert answer.text.count(": still here") <= 6


def test_a_listener_is_sent_away_when_their_token_is_revoked(live: Served) -> None:
    live.service.hub.keep_alive = 0.2
    token, secret = live.tokens.create("page", "read", ["notes"])
    headers = {"Authorization": f"Bearer {secret}"}
    with live.client.stream("GET", EVENTS, params=NOTES, headers=headers) as stream:
        lines = stream.iter_lines()
        assert next(lines) == "retry: 2000"
        live.tokens.revoke(token.id)
        assert [line for line in lines if line and not line.startswith(":")] == []


def test_what_happens_after_a_token_is_revoked_is_not_told_with_it(live: Served) -> None:
    token, secret = live.tokens.create("page", "read", ["notes"])
    headers = {"Authorization": f"Bearer {secret}"}
    with live.client.stream("GET", EVENTS, params=NOTES, headers=headers) as stream:
        lines = stream.iter_lines()
        assert next(lines) == "retry: 2000"
        live.tokens.revoke(token.id)
        with pieria.open("notes") as bank:
            bank.remember("not for them")
        assert [line for line in lines if line and not line.startswith(":")] == []


def test_a_page_of_events_ends_where_its_listener_is_no_longer_welcome(live: Served) -> None:
    for number in range(5):
        remember(live, f"number {number}")
    asked: list[bool] = []

    def welcome() -> bool:
        asked.append(len(asked) < 3)
        return asked[-1]

    async def heard() -> list[str]:
        with pieria.open("notes") as bank:
            return [event async for event in streaming.Hub().stream(bank, 0, None, welcome, "ada") if "id: " in event]

    assert len(anyio.run(heard)) == 3


def test_one_caller_leaves_room_for_others_to_listen(live: Served, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_file_of_tokens_that_cannot_be_read_ends_the_streams(live: Served) -> None:
    """The stream ends in order: listeners see an end and not a broken connection."""
    live.service.hub.keep_alive = 0.2
    headers = live.token("read", "notes")
    with live.client.stream("GET", EVENTS, params=NOTES, headers=headers) as stream:
        lines = stream.iter_lines()
        assert next(lines) == "retry: 2000"
        live.tokens.path.write_text("damaged")
        assert [line for line in lines if line and not line.startswith(":")] == []


def test_progress_of_calls_through_mcp_passes_by_as_well(live: Served) -> None:
    for number in range(8):
        remember(live, f"The billing queue was emptied by hand, for the {number}th time.")
    with live.client.stream("GET", EVENTS, params=NOTES) as stream:
        events = told(stream.iter_lines())
        next(events)
        exported = asked(live, "/mcp/all?bank=notes", calling("mnemosyne_export", output_path="notes.json"))
        assert not exported.is_error, exported.content
        passed = next(event for event in events if event.get("event") == "progress")
        assert passed["data"]["whole"] >= passed["data"]["done"] > 0


def changes(served: Served, number: int) -> list[dict[str, Any]]:
    """Return that many changes, then stop listening."""
    with served.client.stream("GET", EVENTS, params=NOTES) as stream:
        coming = (event for event in told(stream.iter_lines()) if event.get("event") == "change")
        return list(islice(coming, number))


@pytest.mark.slow
def test_a_slow_client_holds_up_nobody_and_is_told_what_it_missed(
    live: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The slow client reads nothing while others listen and call: it costs the server a bounded amount."""
    host, port = live.client.base_url.host, live.client.base_url.port
    assert port is not None
    slow = socket.socket()
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    slow.connect((host, port))
    slow.sendall(f"GET {EVENTS}?bank=notes HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    deadline = time.monotonic() + PATIENCE
    while live.service.hub.listeners < 1:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    heard: list[dict[str, Any]] = []
    quick = threading.Thread(target=lambda: heard.extend(changes(live, 1)))
    quick.start()
    while live.service.hub.listeners < 2:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    large = {"ids": ["x" * 100] * 100}
    for _ in range(3_000):
        live.service.hub.publish("recall", "notes", large)
    began = time.monotonic()
    remember(live, "for those who listen")
    assert time.monotonic() - began < 20
    quick.join(PATIENCE)
    assert [event["data"]["what"] for event in heard] == ["remember"]
    received = b""
    slow.settimeout(PATIENCE)
    while b"event: missed" not in received:
        part = slow.recv(1 << 20)
        assert part
        received += part
    assert received.count(b"event: recall") < 3_000
    slow.close()


@pytest.mark.slow
def test_many_listen_at_once(live: Served) -> None:
    heard: list[list[dict[str, Any]]] = []
    listeners = [threading.Thread(target=lambda: heard.append(changes(live, 2))) for _ in range(20)]
    for listener in listeners:
        listener.start()
    deadline = time.monotonic() + PATIENCE
    while live.service.hub.listeners < 20:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    for text in ("for all of them", "and once more"):
        remember(live, text)
    for listener in listeners:
        listener.join(PATIENCE)
    assert len(heard) == 20
    assert all([event["id"] for event in events] == ["2", "3"] for events in heard)
    while live.service.hub.listeners:
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("params", "headers", "status"),
    [
        ({}, {}, 422),
        ({"bank": "nowhere", "seconds": 1}, {}, 404),
        ({"bank": "notes", "seconds": 0}, {}, 422),
        ({"bank": "notes", "second": 1}, {}, 422),
        ({"bank": "notes", "seconds": 1}, {"Last-Event-ID": "x"}, 422),
        ({"bank": "notes", "seconds": 1}, {"Last-Event-ID": "9" * 30}, 422),
    ],
)
def test_what_cannot_be_listened_to_is_refused(
    live: Served, params: dict[str, Any], headers: dict[str, str], status: int
) -> None:
    assert live.client.get(EVENTS, params=params, headers=headers).status_code == status
