"""What the engine did in this server lately: recalls, steps, knowledge drawn, each with how long it took.

It is told by telemetry, which holds sizes, names and ids and nothing that was said. It is not kept: a server that is
started anew has seen nothing.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pieria import telemetry
from pieria.record.banks import same_bank
from pieria.record.time import Clock, system_clock

KEPT = 1_000
TOLD: Mapping[str, str] = {
    "recall.answered": "recall",
    "retrieval.retrieve": "recall of knowledge",
    "retrieval.hop_refinement": "asked more closely",
    "reasoning.reason": "put into words",
    "episode.append": "step",
    "structuring.extract_trajectory": "trajectory learnt from",
    "structuring.extract": "episode learnt from",
    "session.transition": "session",
    "graph.apply_changeset": "knowledge written",
}
"""Spans and points that are told, and what they are called."""
ABOUT = ("from_state", "to_state", "candidate_types", "hop")
"""What of their metadata is of interest beside the measurements."""
LEFT_OUT = ("duration", "monotonic_time", "ids")


@dataclass(frozen=True, slots=True)
class Seen:
    at: datetime
    what: str
    bank: str
    session: str | None
    ms: float | None
    measured: Mapping[str, Any]


class Witness:
    """Threads may share it."""

    def __init__(self, clock: Clock = system_clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._seen: deque[Seen] = deque(maxlen=KEPT)

    def hear(self, event: telemetry.Event, measured: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        names = event[1:-1] if event[-1] == "stop" else event[1:]
        what, bank = TOLD.get(".".join(names)), about.get("repo_id")
        if what is None or bank is None:
            return
        duration = measured.get("duration")
        told = {name: value for name, value in measured.items() if name not in LEFT_OUT}
        told |= {name: about[name] for name in ABOUT if about.get(name) is not None}
        seen = Seen(
            self._clock(),
            what,
            same_bank(str(bank)),
            about.get("session_id"),
            None if duration is None else duration / 1e6,
            told,
        )
        with self._lock:
            self._seen.append(seen)

    def of(self, bank: str, session: str | None = None, limit: int = 50) -> list[Seen]:
        """The latest first: of a bank or, where one is named, of a session of it."""
        name = same_bank(bank)
        with self._lock:
            found = [each for each in reversed(self._seen) if each.bank == name and session in (None, each.session)]
        return found[:limit]
