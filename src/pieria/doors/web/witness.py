"""What the engine did in this server lately: recalls, steps and extractions, each with its duration.

The source is telemetry, which holds sizes, names and ids, never user text. Events are kept in memory and lost on
restart.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pieria import telemetry
from pieria.errors import NotFoundError
from pieria.record.banks import same_bank
from pieria.record.ids import new_id
from pieria.record.time import Clock, system_clock

KEPT = 1_000
TOLD: Mapping[str, str] = {
    "recall.answered": "recall",
    "retrieval.answered": "recall of knowledge",
    "retrieval.retrieve": "recall of knowledge",
    "reasoning.reason": "recall of knowledge",
    "episode.append": "step",
    "structuring.extract_trajectory": "trajectory extracted",
    "structuring.extract": "episode extracted",
    "session.transition": "session",
    "graph.apply_changeset": "knowledge written",
}
"""Spans and points that are shown, with their names."""
WITHIN = ("retrieval.retrieve", "reasoning.reason")
"""Spans inside another span: they are shown only if they fail."""
TRACED: Mapping[str, tuple[str, ...]] = {
    name: tuple(part for part in telemetry.POINTS[name].metadata if part not in ("repo_id", "session_id"))
    for name in ("recall.answered", "retrieval.answered")
}
"""Points that explain a result, with the metadata that does."""
TOUCHED = ("ids", "touched")
LISTED = 40
"""Most touched memories that are kept of a recall, best first."""
ABOUT = ("from_state", "to_state")
"""Metadata shown beside the measurements."""
LEFT_OUT = ("duration", "embedding", "monotonic_time")


@dataclass(frozen=True, slots=True)
class Seen:
    """`trace` explains a recall, if known; `failure` is the kind of error that ended it."""

    id: str
    at: datetime
    name: str
    bank: str
    session: str | None
    ms: float | None
    measured: Mapping[str, Any]
    trace: Mapping[str, Any] | None = None
    failure: str | None = None

    @property
    def what(self) -> str:
        return TOLD[self.name]


class Witness:
    """Holds the latest events. Threads may share it."""

    def __init__(self, clock: Clock = system_clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._seen: OrderedDict[str, Seen] = OrderedDict()

    def hear(self, event: telemetry.Event, measured: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        stage = event[-1] if event[-1] in ("start", "stop", "exception") else None
        name = ".".join(event[1:] if stage is None else event[1:-1])
        failure = about["kind"] if stage == "exception" else None
        if name not in TOLD or stage == "start" or about.get("repo_id") is None or (name in WITHIN and failure is None):
            return
        duration = measured.get("duration")
        told = {each: value for each, value in measured.items() if each not in LEFT_OUT}
        told |= {each: about[each] for each in ABOUT if about.get(each) is not None}
        seen = Seen(
            new_id(),
            self._clock(),
            name,
            same_bank(str(about["repo_id"])),
            about.get("session_id"),
            None if duration is None else duration / 1e6,
            told,
            _trace(name, measured, about),
            failure,
        )
        with self._lock:
            self._seen[seen.id] = seen
            while len(self._seen) > KEPT:
                self._seen.popitem(last=False)

    def of(self, bank: str, session: str | None = None, limit: int = 50) -> list[Seen]:
        """Return the events of a bank, or of one session, latest first."""
        name = same_bank(bank)
        with self._lock:
            found = [
                each for each in reversed(self._seen.values()) if each.bank == name and session in (None, each.session)
            ]
        return found[:limit]

    def found(self, id: str, bank: str) -> Seen:
        """Return the event. Raise `NotFoundError` if there is none, or if it belongs to another bank."""
        with self._lock:
            seen = self._seen.get(id)
        if seen is None or seen.bank != same_bank(bank):
            hint = f"The server keeps the last {KEPT} events since it started."
            raise NotFoundError("event", id, hint=hint)
        return seen


def _trace(name: str, measured: Mapping[str, Any], about: Mapping[str, Any]) -> Mapping[str, Any] | None:
    if name not in TRACED:
        return None
    trace = {each: about[each] for each in TRACED[name]}
    trace |= {each: tuple(trace[each][:LISTED]) for each in TOUCHED if each in trace}
    return {**measured, **trace}
