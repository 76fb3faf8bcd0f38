"""State that all routes share while a server runs: banks, the hub of events, metrics, and the worker."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping
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
from pieria.doors.http.metrics import Labels, Metrics
from pieria.doors.lanes import Places
from pieria.errors import PieriaError
from pieria.record.banks import check_bank_name
from pieria.record.job import Job, Progress
from pieria.toolsets import Banks, Host, Paths, Registry
from pieria.toolsets.paths import over_the_network

if TYPE_CHECKING:
    from pieria.workspace import Workspace

log = logging.getLogger(__name__)

CALLS_AT_ONCE = 8
"""Engine calls at once, for the routes and all MCP servers; further calls wait. In a test with 32 clients, twice as
many calls only made the slowest slower: they share one interpreter.
"""
GAUGED = 5.0
"""Seconds that `/metrics` reuses the counts of a bank."""
T = TypeVar("T")


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

    def gauges(self, caller: Caller) -> dict[str, list[tuple[Labels, float]]]:
        """Return the gauges of the caller's banks, for `/metrics`."""
        found: dict[str, list[tuple[Labels, float]]] = {
            "journal_head": [], "memories": [], "pending_vectors": [], "jobs": [],
            "listeners": [((), self.hub.listeners)],
        }  # fmt: skip
        for name in self.names(caller):
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
        paths.base.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        log.warning("the folder for exports cannot be created: %s (%s)", paths.base, problem.strerror)
    return Service(workspace, registry, paths, Banks(workspace, who))
