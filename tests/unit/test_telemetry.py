"""Spans and points reach their listeners in order and whole, and never affect the measured work."""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from pieria import telemetry
from pieria.telemetry import DefaultHandler, attach, during, events, point, span

Told = list[tuple[tuple[str, ...], Mapping[str, Any], Mapping[str, Any]]]


def listening(heard: Told) -> Callable[[], None]:
    """Attach for this thread only, as other tests may leave running threads, and return the function that detaches."""
    here = threading.get_ident()
    return attach(lambda *event: heard.append(event) if threading.get_ident() == here else None)


@pytest.fixture
def told() -> Iterator[Told]:
    """Yield the events that arrive during a test."""
    heard: Told = []
    detach = listening(heard)
    yield heard
    detach()


def test_every_span_is_listed_with_its_three_stages_and_every_point_alone() -> None:
    listed = events()
    assert len(set(listed)) == len(listed) == 3 * len(telemetry.SPANS) + len(telemetry.POINTS)
    assert {event[0] for event in listed} == {"pieria"}
    assert ("pieria", "graph", "apply_changeset", "exception") in listed
    assert ("pieria", "memory_store", "queue") in listed


def test_every_listed_event_is_told_under_its_listed_name(told: Told) -> None:
    for name in telemetry.SPANS:
        with during(name):
            pass
        with pytest.raises(LookupError), during(name):
            raise LookupError
    for name in telemetry.POINTS:
        point(name, {})
    assert {event for event, _, _ in told} == set(events())


def test_a_span_tells_its_start_and_its_stop(told: Told) -> None:
    with during("graph.apply_changeset", repo_id="notes") as measured:
        measured["nodes_added"] = 3
    (start, began, before), (stop, ended, after) = told
    assert start == ("pieria", "graph", "apply_changeset", "start")
    assert stop == ("pieria", "graph", "apply_changeset", "stop")
    assert set(began) == {"monotonic_time", "system_time"}
    assert set(ended) == {"monotonic_time", "duration", "nodes_added"}
    assert ended["nodes_added"] == 3
    assert ended["duration"] == ended["monotonic_time"] - began["monotonic_time"] >= 0
    assert before == after == {"repo_id": "notes"}


@pytest.mark.parametrize("error", [LookupError("gone"), KeyboardInterrupt()], ids=["error", "interrupt"])
def test_a_span_that_breaks_off_tells_why_and_lets_the_error_pass(told: Told, error: BaseException) -> None:
    with pytest.raises(type(error)) as caught, during("repo.open", repo_id="notes"):
        raise error
    assert caught.value is error
    event, measurements, metadata = told[-1]
    assert len(told) == 2
    assert event == ("pieria", "repo", "open", "exception")
    assert set(measurements) == {"monotonic_time", "duration"}
    assert metadata["repo_id"] == "notes"
    assert metadata["kind"] == type(error).__name__
    assert metadata["reason"] is error
    assert __file__ in metadata["stacktrace"]


def test_a_call_told_as_a_span_returns_its_result(told: Told) -> None:
    assert span("episode.append", {"repo_id": "notes", "session_id": "s"}, lambda: (7, {"step_count": 2})) == 7
    assert told[-1][1]["step_count"] == 2
    assert told[-1][2] == {"repo_id": "notes", "session_id": "s"}


def test_a_call_told_as_a_span_works_unheard() -> None:
    assert span("repo.open", {}, lambda: ("x", {"a": 1})) == "x"


def test_spans_within_spans_are_told_inside_out(told: Told) -> None:
    with during("structuring.extract"), during("llm.chat", model="m"):
        pass
    assert [event[-2:] for event, _, _ in told] == [
        ("extract", "start"),
        ("chat", "start"),
        ("chat", "stop"),
        ("extract", "stop"),
    ]


def test_a_point_is_told_as_it_is(told: Told) -> None:
    point("memory_store.queue", {"write_active": 1}, {"repo_id": "notes", "event": "dispatch"})
    point("session.op_enqueue", {"system_time": 1})
    assert told == [
        (("pieria", "memory_store", "queue"), {"write_active": 1}, {"repo_id": "notes", "event": "dispatch"}),
        (("pieria", "session", "op_enqueue"), {"system_time": 1}, {}),
    ]


@pytest.mark.parametrize("heard", [False, True])
def test_an_unlisted_name_is_refused_whether_heard_or_not(heard: bool) -> None:
    detach = attach(lambda *_: None) if heard else lambda: None
    with pytest.raises(ValueError, match=r"'repo.burn' is not listed .* repo.open"):
        during("repo.burn")
    with pytest.raises(ValueError, match="not listed"):
        span("memory_store.queue", {}, lambda: (1, {}))
    with pytest.raises(ValueError, match="not listed"):
        point("repo.open", {})
    detach()


def test_a_failing_handler_is_logged_and_stops_neither_the_work_nor_the_others(
    told: Told, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("handler is broken")

    detach_first = attach(fails)
    detach_other = listening(told)
    with during("repo.open") as measured:
        measured["reached"] = True
    detach_first()
    detach_other()
    assert [event[-1] for event, _, _ in told] == ["start", "start", "stop", "stop"]
    assert "pieria.repo.open.stop" in caplog.text
    assert "handler is broken" in caplog.text


def test_a_detached_handler_hears_nothing_more(told: Told) -> None:
    mine: Told = []
    detach = listening(mine)
    point("memory_store.queue", {})
    detach()
    detach()
    point("memory_store.queue", {})
    assert (len(mine), len(told)) == (1, 2)


def test_one_handler_attached_twice_is_detached_one_by_one() -> None:
    mine: Told = []

    def handler(*event: Any) -> None:
        mine.append(event)

    first, second = attach(handler), attach(handler)
    point("memory_store.queue", {})
    first()
    point("memory_store.queue", {})
    second()
    point("memory_store.queue", {})
    assert len(mine) == 3


def test_a_handler_may_detach_itself_while_it_is_told(told: Told) -> None:
    mine: Told = []

    def once(*event: Any) -> None:
        mine.append(event)
        detach()

    detach = attach(once)
    with during("repo.open"):
        pass
    assert (len(mine), len(told)) == (1, 2)


def test_what_nobody_hears_leaves_nothing_behind() -> None:
    with during("repo.open") as first:
        first["left"] = 1
    with during("repo.open") as second:
        assert second == {}


def test_handlers_come_and_go_while_other_threads_tell() -> None:
    done = threading.Event()
    failures: list[BaseException] = []

    def tell() -> None:
        try:
            while not done.is_set():
                with during("repo.open"):
                    pass
        except BaseException as error:  # noqa: BLE001 - handed to the main thread
            failures.append(error)

    thread = threading.Thread(target=tell)
    thread.start()
    for _ in range(500):
        attach(lambda *_: None)()
    done.set()
    thread.join()
    assert failures == []


def test_the_default_handler_writes_stops_and_exceptions_to_the_log(caplog: pytest.LogCaptureFixture) -> None:
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
