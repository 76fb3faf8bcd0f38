"""State that all routes share while a server runs: banks, the hub of events, metrics, and the worker."""

from __future__ import annotations

import logging
import threading
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
from anyio import to_thread

from pieria import telemetry
from pieria.capture.drain import DrainBehind
from pieria.doors.http.callers import Caller
from pieria.doors.http.events import Hub
from pieria.doors.lanes import Places
from pieria.errors import PieriaError
from pieria.record.banks import check_bank_name
from pieria.record.job import Job, Progress
from pieria.toolsets import Banks, Host, Paths, Registry
from pieria.toolsets.host import over_the_network

if TYPE_CHECKING:
    from pieria.workspace import Workspace


METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Bounds of the buckets in seconds. A call counts in every bucket whose bound it does not exceed."""
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
Labels = tuple[tuple[str, str], ...]
GAUGES = {
    "journal_head": "Number of the newest entry of a bank's journal.",
    "memories": "Memories of a bank.",
    "pending_vectors": "Vectors of a bank that are not yet made.",
    "jobs": "Jobs of a bank, by state.",
    "listeners": "Clients that listen to events.",
}
log = logging.getLogger(__name__)
CALLS_AT_ONCE = 8
"""Engine calls at once, for the routes and all MCP servers; further calls wait. In a test with 32 clients, twice as
many calls only made the slowest slower: they share one interpreter.
"""
GAUGED = 5.0
"""Seconds that `/metrics` reuses the counts of a bank."""
T = TypeVar("T")


@dataclass
class _Called:
    buckets: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    seconds: float = 0.0
    errors: Counter[str] = field(default_factory=Counter)


class Metrics:
    """Counts calls from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._called: dict[tuple[str, str], _Called] = {}

    def note(self, toolset: str, tool: str, seconds: float, error: str | None) -> None:
        with self._lock:
            called = self._called.setdefault((toolset, tool), _Called())
            called.buckets[bisect_left(BOUNDS, seconds)] += 1
            called.seconds += seconds
            if error is not None:
                called.errors[error] += 1

    def text(self, gauges: Mapping[str, Iterable[tuple[Labels, float]]], started: float) -> str:
        """Return all metrics, with the current gauges; `started` is when the server started."""
        with self._lock:
            lines = [*self._calls(), *self._latencies()]
        lines += _family("pieria_start_time_seconds", "gauge", "When the server started.", [((), started)])
        for name, values in gauges.items():
            lines += _family(f"pieria_{name}", "gauge", GAUGES[name], values)
        return "\n".join(lines) + "\n"

    def _calls(self) -> Iterator[str]:
        calls, errors = [], []
        for (toolset, tool), called in sorted(self._called.items()):
            labels = (("toolset", toolset), ("tool", tool))
            calls.append((labels, sum(called.buckets)))
            errors += [((*labels, ("code", code)), number) for code, number in sorted(called.errors.items())]
        yield from _family("pieria_calls_total", "counter", "Calls of tools and routes.", calls)
        yield from _family("pieria_errors_total", "counter", "Calls that ended in an error, by its code.", errors)

    def _latencies(self) -> Iterator[str]:
        name = "pieria_call_seconds"
        yield from _family(name, "histogram", "Durations of calls.", ())
        for (toolset, tool), called in sorted(self._called.items()):
            labels = (("toolset", toolset), ("tool", tool))
            below = 0
            for bound, number in zip((*BOUNDS, "+Inf"), called.buckets, strict=True):
                below += number
                yield _line(f"{name}_bucket", (*labels, ("le", str(bound))), below)
            yield _line(f"{name}_sum", labels, called.seconds)
            yield _line(f"{name}_count", labels, below)


def _family(name: str, kind: str, says: str, values: Iterable[tuple[Labels, float]]) -> Iterator[str]:
    yield f"# HELP {name} {says}"
    yield f"# TYPE {name} {kind}"
    for labels, value in values:
        yield _line(name, labels, value)


def _line(name: str, labels: Labels, value: float) -> str:
    said = ",".join(f'{label}="{text.translate(_ESCAPES)}"' for label, text in labels)
    shown = f"{value:.9g}" if isinstance(value, float) and not value.is_integer() else f"{int(value)}"
    return f"{name}{{{said}}} {shown}" if said else f"{name} {shown}"


@dataclass(frozen=True)
class Service:
    """Made once for a process; it serves inside `running`."""

    workspace: Workspace
    registry: Registry
    paths: Paths
    banks: Banks
    hub: Hub = field(default_factory=Hub)
    metrics: Metrics = field(default_factory=Metrics)
    started: float = field(default_factory=time.time)
    gauged: dict[str, tuple[float, dict[str, Any]]] = field(default_factory=dict)
    places: Places = field(init=False)

    def __post_init__(self) -> None:
        seconds = self.workspace.resolved.settings.request_seconds
        object.__setattr__(self, "places", Places(CALLS_AT_ONCE, seconds))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        detach = telemetry.attach(self._heard)
        behind = self.banks.worker(self._worked)
        behind.start()
        drain = DrainBehind(self.workspace, lambda done: self.banks.work_on(done.banks))
        drain.start()
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self.hub.run)
                yield
                self.hub.end()
                tasks.cancel_scope.cancel()
        finally:
            detach()
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(drain.close)
                await to_thread.run_sync(behind.close)
                await to_thread.run_sync(self.banks.close)

    async def call(self, work: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """Run the engine's work in a thread. It is never cut off: a disconnect leaves a whole change or none."""
        return await self.places.run(partial(work, *arguments, **named))

    def host(self, caller: Caller, bank: str, *, named: bool = True) -> Host:
        """Return the host for a call by this caller. Raise `InputError` or `AccessError`."""
        name = check_bank_name(bank)
        caller.reach(name)
        return Host(
            banks=self.banks,
            bank_name=name,
            session=caller.session,
            paths=self.paths,
            access=caller.access,
            is_named=named,
            covers=caller.covers,
            progress=partial(self._progressed, name),
            opened=caller.opened,
            tells_places=False,
        )

    def names(self, caller: Caller) -> list[str]:
        """Return the existing banks that the caller may reach."""
        return [name for name in self.banks.there() if caller.covers(name)]

    def gauges(self, names: Iterable[str]) -> dict[str, list[tuple[Labels, float]]]:
        """Return the gauges of these banks."""
        found: dict[str, list[tuple[Labels, float]]] = {
            "journal_head": [], "memories": [], "pending_vectors": [], "jobs": [],
            "listeners": [((), self.hub.listeners)],
        }  # fmt: skip
        for name in names:
            stats = self._stats(name)
            if stats is None:
                continue
            labels = (("bank", name),)
            found["journal_head"].append((labels, (stats["last_change"] or {"seq": 0})["seq"]))
            found["memories"].append((labels, sum(stats["by_kind"].values())))
            found["pending_vectors"].append((labels, stats["pending"].get("vectors", 0)))
            found["jobs"] += [((*labels, ("state", state)), number) for state, number in stats["jobs"].items()]
        return found

    def _stats(self, name: str) -> dict[str, Any] | None:
        taken, stats = self.gauged.get(name, (0.0, {}))
        if time.monotonic() - taken > GAUGED or not stats:
            try:
                stats = self.banks.opened(name, None, create=False).stats().as_dict()
            except PieriaError as problem:
                log.warning("no metrics for bank %s: %s", name, problem.message)
                return None
            self.gauged[name] = (time.monotonic(), stats)
        return stats

    def _heard(self, event: telemetry.Event, measured: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        """Handle a telemetry event, on any thread."""
        match event[1:]:
            case ("toolset", "call", "stop"):
                self.metrics.note(about["toolset"], about["tool"], measured["duration"] / 1e9, measured["error"])
            case ("recall", "answered"):
                told = {"ids": about["ids"], "hits": measured["hits"], "ms": round(measured["duration"] / 1e6, 3)}
                self.hub.publish("recall", about["repo_id"], told)
            case ("retrieval", "answered"):
                ids = [id for id, *_ in about["touched"]]
                told = {"ids": ids, "hits": measured["candidates"], "ms": round(measured["duration"] / 1e6, 3)}
                self.hub.publish("recall", about["repo_id"], told)
            case ("session", "transition", "stop"):
                told = {name: about.get(name) for name in ("session_id", "from_state", "to_state")}
                self.hub.publish("transition", str(about.get("repo_id")), told)

    def _progressed(self, bank: str, done: int, whole: int) -> None:
        self.hub.publish("progress", bank, {"done": done, "whole": whole})

    def _worked(self, bank: str, job: Job, progress: Progress) -> None:
        self.hub.publish("progress", bank, {"job": job.id, "kind": job.kind, **progress.as_dict()})


def service(workspace: Workspace, registry: Registry, who: str = "http") -> Service:
    """Return the service for a workspace. Try to make the folder for exported files."""
    paths = over_the_network(workspace.data, workspace.resolved.roots)
    try:
        workspace.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        paths.base.mkdir(mode=0o700, exist_ok=True)
    except OSError as problem:
        log.warning("the folder for exports cannot be created: %s (%s)", paths.base, problem.strerror)
    return Service(workspace, registry, paths, Banks(workspace, who))
