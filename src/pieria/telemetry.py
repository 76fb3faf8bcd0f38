"""What happens inside, told to whoever listens in this process; nothing leaves it and, unheard, nothing is made.

An event is a tuple of names beginning with ``pieria``. A span is a stretch of work and tells its start and its
stop, or the exception that ended it; a point is a single moment. Both are listed here with the measurements and
the metadata they carry, and an unlisted name is refused, so that the list can be relied on. Metadata holds sizes,
names and ids, no remembered text. Durations and times are nanoseconds. Exporters listen from outside and have
no place in this file.
"""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from types import TracebackType
from typing import Any, ClassVar, NamedTuple, TypeVar

T = TypeVar("T")
Event = tuple[str, ...]
Handler = Callable[[Event, Mapping[str, Any], Mapping[str, Any]], object]


class Span(NamedTuple):
    """The metadata a span carries throughout, and the measurements its stop adds to the duration."""

    metadata: tuple[str, ...]
    stop: tuple[str, ...] = ()


class Point(NamedTuple):
    """The measurements and the metadata of a single moment."""

    measurements: tuple[str, ...]
    metadata: tuple[str, ...]


_STAGES = ("start", "stop", "exception")
_TIMES = ("monotonic_time", "duration")
_IN_SESSION = ("repo_id", "session_id")
_IN_REPO = ("repo_id",)

SPANS: Mapping[str, Span] = {
    "http.request": Span(("method", "request_id", "headers"), ("route", "status")),
    "bank.verb": Span(("verb", "repo_id")),
    "llm.chat": Span(("model", "step"), ("tokens_input", "tokens_output")),
    "llm.chat_structured": Span(("model", "step"), ("tokens_input", "tokens_output")),
    "embedding.embed": Span(("model", "text_length")),
    "embedding.embed_batch": Span(("model", "batch_size")),
    "reranking.rerank": Span(("model", "batch_size")),
    "episode.append": Span(_IN_SESSION, ("step_count", "new_trajectory")),
    "structuring.extract": Span(_IN_SESSION, ("trajectory_count", "nodes_created", "links_created")),
    "structuring.extract_trajectory": Span(_IN_SESSION, ("nodes_created", "links_created")),
    "retrieval.retrieve": Span(_IN_SESSION, ("candidates_found",)),
    "retrieval.hop_refinement": Span(("hop", "budget_remaining"), ("triggered", "plateau_delta")),
    "reasoning.reason": Span(_IN_SESSION, ("candidate_types",)),
    "decay.prune": Span(_IN_REPO, ("checked", "deleted")),
    "consolidator.consolidate": Span(_IN_REPO, ("checked", "deleted")),
    "intent_merger.merge": Span(("intent_count",), ("merged", "rewrites")),
    "tag_deduplicator.deduplicate": Span(("tag_count",), ("deduped",)),
    "episodic_validation.validate": Span(_IN_REPO, ("checked", "penalized", "orphaned")),
    "graph_repair.repair": Span(_IN_REPO, ("checked", "repaired_nodes", "dangling_refs", "orphans_deleted")),
    "session.transition": Span(("session_id", "repo_id", "from_state", "to_state")),
    "session.op_drain": Span(("queue_depth", "session_id", "repo_id"), ("ops_executed", "ops_failed")),
    "repo.open": Span(_IN_REPO),
    "repo.close": Span(_IN_REPO),
    "graph.apply_changeset": Span(_IN_REPO, ("nodes_added", "links_added")),
    "storage.persist": Span(_IN_REPO),
    "storage.load": Span(_IN_REPO),
    "toolset.call": Span(("tool", "toolset"), ("error", "bank")),
}
POINTS: Mapping[str, Point] = {
    "recall.answered": Point(
        ("duration", "embedding", "hits", "confidence"),
        ("repo_id", "session_id", "ids", "policy", "arms", "left_out", "late"),
    ),
    "retrieval.answered": Point(
        ("duration", "candidates"),
        (
            *_IN_SESSION,
            "mode",
            "max_hops",
            "phases",
            "found",
            "rejected",
            "refinements",
            "calls",
            "failures",
            "touched",
            "cited",
        ),
    ),
    "session.op_enqueue": Point(("system_time",), ("op", "queue_depth", "projected_state", "session_id", "repo_id")),
    "memory_store.queue": Point(
        ("write_queue_size", "write_active", "maintenance_active", "pending_recalls"), ("repo_id", "event")
    ),
}

logger = logging.getLogger(__name__)
_listeners: dict[object, Handler] = {}
_running: ContextVar[Running | None] = ContextVar("running", default=None)


def events() -> list[Event]:
    """Every event there is, a span with its start, stop and exception."""
    spans = [_event(name, stage) for name in SPANS for stage in _STAGES]
    return spans + [_event(name) for name in POINTS]


def attach(handler: Handler) -> Callable[[], None]:
    """Calls the handler with (event, measurements, metadata) from now on, in the thread that tells it.

    What is returned detaches it. A handler should be quick; one that raises is logged and does no other harm.
    """
    key = object()
    _listeners[key] = handler

    def detach() -> None:
        _listeners.pop(key, None)

    return detach


def is_heard() -> bool:
    """Whether anybody listens: what is told at length need not be put together for nobody."""
    return bool(_listeners)


def point(name: str, measurements: Mapping[str, Any], metadata: Mapping[str, Any] | None = None) -> None:
    """Tells a single moment."""
    if name not in POINTS:
        raise _unlisted(name, POINTS)
    if _listeners:
        _tell(_event(name), measurements, metadata or {})


def during(name: str, /, **metadata: Any) -> AbstractContextManager[dict[str, Any]]:
    """Tells the block as a span; what the block puts into the dictionary it is given goes with the stop."""
    if name not in SPANS:
        raise _unlisted(name, SPANS)
    return Running(name, metadata) if _listeners else _UNHEARD


def span(suffix: str, metadata: Mapping[str, Any], fun: Callable[[], tuple[T, Mapping[str, Any]]]) -> T:
    """Tells one call as a span; the function returns its result and what goes with the stop."""
    with during(suffix, **metadata) as measured:
        result, extra = fun()
        measured.update(extra)
    return result


def running() -> Running | None:
    """Return the innermost span around the caller, or None."""
    return _running.get()


def carried(work: Callable[[], T]) -> Callable[[], T]:
    """Return the work for another thread, where it belongs to the span around the caller."""
    here = _running.get()
    if here is None:
        return work

    def within() -> T:
        token = _running.set(here)
        try:
            return work()
        finally:
            _running.reset(token)

    return within


def _event(*names: str) -> Event:
    return ("pieria", *".".join(names).split("."))


def _unlisted(name: str, listed: Mapping[str, object]) -> ValueError:
    return ValueError(f"{name!r} is not listed in pieria.telemetry; there is {', '.join(listed)}")


def _tell(event: Event, measurements: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
    for handler in tuple(_listeners.values()):
        try:
            handler(event, measurements, metadata)
        except Exception:
            logger.exception("a telemetry handler failed on %s", ".".join(event))


class Running:
    """A span that was heard when it began. `notes` is for handlers: each keeps there what it needs at the stop."""

    def __init__(self, name: str, metadata: dict[str, Any]) -> None:
        self.name = name
        self.metadata = metadata
        self.parent: Running | None = None
        self.notes: dict[str, Any] = {}
        self._measured: dict[str, Any] = {}

    def within(self, name: str) -> Running | None:
        """Return the nearest span of that name: this one, or one around it."""
        found: Running | None = self
        while found is not None and found.name != name:
            found = found.parent
        return found

    def __enter__(self) -> dict[str, Any]:
        self.parent = _running.get()
        self._token = _running.set(self)
        self._began = time.monotonic_ns()
        times = {"monotonic_time": self._began, "system_time": time.time_ns()}
        _tell(_event(self.name, "start"), times, self.metadata)
        return self._measured

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        now = time.monotonic_ns()
        times = {"monotonic_time": now, "duration": now - self._began}
        if kind is None:
            _tell(_event(self.name, "stop"), {**self._measured, **times}, self.metadata)
        else:
            stack = "".join(traceback.format_tb(trace))
            failure = {"kind": kind.__name__, "reason": error, "stacktrace": stack}
            _tell(_event(self.name, "exception"), times, {**self.metadata, **failure})
        _running.reset(self._token)


class _Unheard:
    """A span nobody listened to when it began; it is shared, and so costs next to nothing."""

    def __enter__(self) -> dict[str, Any]:
        return {}

    def __exit__(self, *failure: object) -> None:
        return None


_UNHEARD = _Unheard()


class DefaultHandler:
    """Writes spans to the log: a debug line for each stop, an error line for each exception."""

    _detach: ClassVar[Callable[[], None] | None] = None

    @classmethod
    def attach(cls) -> None:
        if cls._detach is None:
            cls._detach = attach(cls._log)

    @classmethod
    def detach(cls) -> None:
        if cls._detach is not None:
            cls._detach()
            cls._detach = None

    @staticmethod
    def _log(event: Event, measurements: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
        name = ".".join(event[:-1])
        taken = measurements.get("duration", 0) / 1_000_000
        if event[-1] == "stop":
            extra = {key: value for key, value in measurements.items() if key not in _TIMES}
            logger.debug("%s took %.1f ms %s", name, taken, extra)
        elif event[-1] == "exception":
            logger.error("%s broke off after %.1f ms: %s", name, taken, metadata["kind"])
