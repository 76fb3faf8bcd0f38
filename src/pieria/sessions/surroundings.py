"""What a session is given: who judges and embeds, where knowledge and the session are kept, and who hears of it."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pieria.config.config import USUAL_SESSION
from pieria.notifier import Event
from pieria.record.time import Clock, system_clock
from pieria.sessions.log import SessionLog
from pieria.sessions.pool import Pool
from pieria.sessions.timers import Timers

if TYPE_CHECKING:
    from pieria.config import Config
    from pieria.graph import GraphBackend
    from pieria.models.embedder import Embedder
    from pieria.models.mind import Mind

EXTRACTIONS = 8
"""Trajectories that knowledge is drawn from at once."""
ERRANDS = 8
"""What was asked without waiting and is done at once."""
PATIENCE = 2.0
"""Seconds that a workspace which closes waits for work under way."""


class Crew:
    """What the sessions of a workspace share: their threads and their timers. Nothing of it runs until it is needed."""

    def __init__(
        self, *, extractions: Pool | None = None, errands: Pool | None = None, timers: Timers | None = None
    ) -> None:
        self.extractions = extractions or Pool("pieria-extraction", EXTRACTIONS)
        self.errands = errands or Pool("pieria-session", ERRANDS)
        self.timers = timers or Timers()
        self.start_anew()
        _crews.add(self)

    def start_anew(self) -> None:
        """After a fork, in the child: who was writing is not there."""
        self._lock = threading.Lock()
        self._lanes: dict[str, threading.Lock] = {}

    def lane(self, repo: str) -> threading.Lock:
        """What is written to a repository is fitted to what is there, and written, before anything else is fitted.

        Otherwise two trajectories that end together would both bring the same tag.
        """
        with self._lock:
            return self._lanes.setdefault(repo, threading.Lock())

    def close(self, patience: float = PATIENCE) -> None:
        """No further work begins; what is under way is waited for, but no longer than that."""
        until = time.monotonic() + patience
        self.extractions.end(until)
        self.errands.end(until)


def unheard(event: Event) -> None:
    """For where nobody listens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """`tell` is told each event and must not keep anybody waiting, as a `Courier` does not."""

    repo: str
    mind: Mind
    embedder: Embedder
    backend: GraphBackend
    log: SessionLog
    crew: Crew
    tell: Callable[[Event], object] = unheard
    config: Config | None = None
    profile: Mapping[str, Any] | None = None
    """As JSON, where it is the session's own."""
    clock: Clock = field(default=system_clock)

    def setting(self, name: str) -> Any:
        """What the configuration says of sessions."""
        return (USUAL_SESSION if self.config is None else self.config.session)[name]


_crews: weakref.WeakSet[Crew] = weakref.WeakSet()


def _after_fork() -> None:
    for crew in list(_crews):
        crew.start_anew()


os.register_at_fork(after_in_child=_after_fork)
