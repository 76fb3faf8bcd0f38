"""Spans and points reach their listeners in order and whole, and never affect the measured work."""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest.mock import Mock

import pytest

from pieria import telemetry
from pieria.telemetry import DefaultHandler, attach, during, events, point, span

Heard = list[tuple[tuple[str, ...], Mapping[str, Any], Mapping[str, Any]]]


def listening(heard: Heard) -> Callable[[], None]:
    """Attach for this thread only, as other tests may leave running threads, and return the function that detaches."""
    here = threading.get_ident()
    return attach(lambda *event: heard.append(event) if threading.get_ident() == here else None)


@pytest.fixture
def heard() -> Iterator[Heard]:
    events: Heard = []
    detach = listening(events)
    yield events
    detach()


def test_a_span_reports_its_start_stop_and_result(heard: Heard) -> None:
    with during("graph.apply_changeset", repo_id="notes") as measured:
        measured["nodes_added"] = 3
    (start, began, before), (stop, ended, after) = heard
    assert start == ("pieria", "graph", "apply_changeset", "start")
    assert stop == ("pieria", "graph", "apply_changeset", "stop")
    assert set(began) == {"monotonic_time", "system_time"}
    assert set(ended) == {"monotonic_time", "duration", "nodes_added"}
    assert ended["nodes_added"] == 3
    assert ended["duration"] == ended["monotonic_time"] - began["monotonic_time"] >= 0
    assert before == after == {"repo_id": "notes"}
    assert span("episode.append", {"repo_id": "notes", "session_id": "s"}, lambda: (7, {"step_count": 2})) == 7
    assert heard[-1][1]["step_count"] == 2
    assert heard[-1][2] == {"repo_id": "notes", "session_id": "s"}
    with during("structuring.extract"), during("llm.chat", model="m"):
        pass
    nested = [("extract", "start"), ("chat", "start"), ("chat", "stop"), ("extract", "stop")]
    assert [event[-2:] for event, _, _ in heard[-4:]] == nested


def test_a_span_that_breaks_off_reports_why_and_raises(heard: Heard) -> None:
    for error in (LookupError("gone"), KeyboardInterrupt()):
        with pytest.raises(type(error)) as caught, during("repo.open", repo_id="notes"):
            raise error
        assert caught.value is error
        event, measurements, metadata = heard[-1]
        assert event == ("pieria", "repo", "open", "exception")
        assert set(measurements) == {"monotonic_time", "duration"}
        assert (metadata["repo_id"], metadata["kind"], metadata["reason"]) == ("notes", type(error).__name__, error)
        assert __file__ in metadata["stacktrace"]
    assert len(heard) == 4


def test_every_span_and_point_is_listed_and_sent_by_its_name(heard: Heard) -> None:
    point("memory_store.queue", {"write_active": 1}, {"repo_id": "notes", "event": "dispatch"})
    point("session.op_enqueue", {"system_time": 1})
    assert heard == [
        (("pieria", "memory_store", "queue"), {"write_active": 1}, {"repo_id": "notes", "event": "dispatch"}),
        (("pieria", "session", "op_enqueue"), {"system_time": 1}, {}),
    ]
    listed = events()
    assert len(set(listed)) == len(listed) == 3 * len(telemetry.SPANS) + len(telemetry.POINTS)
    assert {event[0] for event in listed} == {"pieria"}
    assert {("pieria", "graph", "apply_changeset", "exception"), ("pieria", "memory_store", "queue")} <= set(listed)
    for name in telemetry.SPANS:
        with during(name):
            pass
        with pytest.raises(LookupError), during(name):
            raise LookupError
    for name in telemetry.POINTS:
        point(name, {})
    assert {event for event, _, _ in heard} == set(listed)


def test_an_unlisted_name_is_refused_and_a_listed_one_works() -> None:
    for is_heard in (False, True):
        detach = attach(lambda *_: None) if is_heard else lambda: None
        with pytest.raises(ValueError, match=r"'repo.burn' is not listed .* repo.open"):
            during("repo.burn")
        with pytest.raises(ValueError, match="not listed"):
            span("memory_store.queue", {}, lambda: (1, {}))
        with pytest.raises(ValueError, match="not listed"):
            point("repo.open", {})
        assert span("repo.open", {}, lambda: ("x", {"a": 1})) == "x"
        point("memory_store.queue", {})
        for _ in range(2):
            with during("repo.open") as measured:
                assert measured == {}
                measured["left"] = 1
        detach()


def test_a_failing_handler_is_logged_and_stops_nothing(heard: Heard, caplog: pytest.LogCaptureFixture) -> None:
    fails = Mock(side_effect=RuntimeError("handler is broken"))
    detach_first, detach_other = attach(fails), listening(heard)
    with during("repo.open") as measured:
        measured["reached"] = True
    detach_first()
    detach_other()
    assert [event[-1] for event, _, _ in heard] == ["start", "start", "stop", "stop"]
    assert "pieria.repo.open.stop" in caplog.text
    assert "handler is broken" in caplog.text


def test_a_detached_handler_hears_nothing_more(heard: Heard) -> None:
    mine: Heard = []
    detach = listening(mine)
    point("memory_store.queue", {})
    detach()
    detach()
    point("memory_store.queue", {})
    assert (len(mine), len(heard)) == (1, 2)

    def once(*event: Any) -> None:
        mine.append(event)
        detach_itself()

    detach_itself = attach(once)
    with during("repo.open"):
        pass
    assert (len(mine), len(heard)) == (2, 4)
    handler = Mock()
    detaching: list[Callable[[], None]] = [attach(handler), attach(handler), lambda: None]
    for detach in detaching:
        point("memory_store.queue", {})
        detach()
    assert handler.call_count == 3


def test_handlers_come_and_go_while_other_threads_send() -> None:
    done = threading.Event()

    def send() -> None:
        while not done.is_set():
            with during("repo.open"):
                pass

    with ThreadPoolExecutor() as threads:
        sending = threads.submit(send)
        for _ in range(500):
            attach(lambda *_: None)()
        done.set()
        sending.result()


def test_the_default_handler_logs_stops_and_exceptions(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "pieria")
    DefaultHandler.attach()
    DefaultHandler.attach()
    try:
        with during("decay.prune", repo_id="notes") as measured:
            measured["deleted"] = 4
        with pytest.raises(LookupError), during("repo.close"):
            raise LookupError("what was remembered")
        point("memory_store.queue", {})
    finally:
        DefaultHandler.detach()
        DefaultHandler.detach()
    with during("repo.open"):
        pass
    stop, broken = (record for record in caplog.records if record.thread == threading.get_ident())
    assert (stop.levelno, broken.levelno) == (logging.DEBUG, logging.ERROR)
    assert stop.getMessage().startswith("pieria.decay.prune took ")
    assert "'deleted': 4" in stop.getMessage()
    assert broken.getMessage().startswith("pieria.repo.close broke off after ")
    assert "what was remembered" not in caplog.text


def test_a_span_knows_the_spans_around_it_in_any_thread(heard: Heard) -> None:
    def names() -> list[str]:
        found, here = [], telemetry.running()
        while here is not None:
            found.append(here.name)
            here = here.parent
        return found

    assert names() == []
    with during("repo.open"), during("llm.chat"), ThreadPoolExecutor() as threads:
        here = telemetry.running()
        assert here is not None and here.within("repo.open") is here.parent and here.within("graph") is None
        assert threads.submit(names).result() == []
        assert threads.submit(telemetry.carried(names)).result() == names() == ["llm.chat", "repo.open"]
        assert threads.submit(names).result() == []
    assert telemetry.running() is None
    assert telemetry.carried(names) is names
