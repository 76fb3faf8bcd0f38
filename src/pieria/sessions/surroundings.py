"""What a session works with: its mind, embedder, graph, log, threads, timers and event sink."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pieria.config import USUAL_SESSION
from pieria.notifier import Event
from pieria.record.time import Clock, system_clock
from pieria.runtime.pool import Pool
from pieria.runtime.timers import Timers
from pieria.sessions.log import SessionLog

if TYPE_CHECKING:
    from pieria.config import Config
    from pieria.graph import GraphBackend
    from pieria.models.embedder import Embedder
    from pieria.models.mind import Mind

EXTRACTIONS = 8
"""Trajectories extracted at once."""
ERRANDS = 8
"""Asynchronous operations run at once."""
PATIENCE = 2.0
"""Seconds that a closing workspace waits for running work."""
ALLOWED, TURNS, SLACK = 60.0, 2, 60.0
"""Seconds for an answer of a mind that does not say how long it may take; the requests that one answer may need, since
a bad reply is asked for again; and seconds for everything else between two answers, such as remote embeddings."""


class Crew:
    """The threads and timers shared by sessions. A thread starts only when it is needed."""

    def __init__(
        self, *, extractions: Pool | None = None, errands: Pool | None = None, timers: Timers | None = None
    ) -> None:
        self.extractions = extractions or Pool("pieria-extraction", EXTRACTIONS)
        self.errands = errands or Pool("pieria-session", ERRANDS)
        self.timers = timers or Timers()
        self.answered = time.monotonic()
        """When a mind last answered a session of this process."""
        self._lock = threading.Lock()
        self._lanes: dict[str, threading.Lock] = {}

    def lane(self, repo: str) -> threading.Lock:
        """Return the lock of a repository: hold it while fitting knowledge to the graph and writing it.

        Without the lock, two trajectories that end together could both add the same tag.
        """
        with self._lock:
            return self._lanes.setdefault(repo, threading.Lock())

    def close(self, patience: float = PATIENCE) -> None:
        """Start no further work, and wait at most `patience` seconds for running work."""
        until = time.monotonic() + patience
        self.extractions.end(until)
        self.errands.end(until)


class _Watched:
    """A mind that notes when it has answered, so that a wait can tell slow from stuck."""

    def __init__(self, mind: Mind, crew: Crew) -> None:
        self._mind = mind
        self._crew = crew

    def __getattr__(self, name: str) -> Any:
        part = getattr(self._mind, name)
        if not callable(part):
            return part

        def ask(*given: Any, **named: Any) -> Any:
            try:
                return part(*given, **named)
            finally:
                self._crew.answered = time.monotonic()

        return ask


def unheard(event: Event) -> None:
    """Ignore the event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The parts that one session uses. `tell` gets each event and must return at once, as a `Courier` does."""

    repo: str
    mind: Mind
    embedder: Embedder
    backend: GraphBackend
    log: SessionLog
    crew: Crew
    tell: Callable[[Event], object] = unheard
    config: Config | None = None
    profile: Mapping[str, Any] | None = None
    """The session's own profile as JSON, if it has one."""
    clock: Clock = field(default=system_clock)

    @property
    def quiet(self) -> float:
        """The seconds after which a mind that has not answered will not do so."""
        told = getattr(self.mind, "seconds", None)
        return TURNS * (float(told) if isinstance(told, int | float) else ALLOWED) + SLACK

    @property
    def watched(self) -> Mind:
        """The mind, with a note of each answer in the crew."""
        watched: Any = _Watched(self.mind, self.crew)
        return watched  # type: ignore[no-any-return]

    def setting(self, name: str) -> Any:
        """Return a session setting of the configuration."""
        return (USUAL_SESSION if self.config is None else self.config.session)[name]
