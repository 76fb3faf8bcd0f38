"""How long a caller waits for extraction: for a fixed time, or for as long as the mind answers."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from pieria.sessions.surroundings import Surroundings


class Wait(Protocol):
    hint: str
    """What to do when the wait is over."""

    def left(self) -> float:
        """Return the seconds that are left."""


class Seconds:
    """A wait of so many seconds."""

    hint = "Nothing is lost, and it goes on. Wait again, or allow for more: max_polls, poll_interval."

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until = clock() + seconds

    def left(self) -> float:
        return self._until - self._clock()


class WhileAnswered:
    """A wait that ends when no mind has answered a session of this process for longer than an answer may take."""

    hint = "Nothing is lost, and it goes on, but the model does not answer. Check its server, then wait again."

    def __init__(self, at: Surroundings, clock: Callable[[], float] = time.monotonic) -> None:
        self._at = at
        self._clock = clock
        self._begun = clock()

    def left(self) -> float:
        return max(self._begun, self._at.crew.answered) + self._at.quiet - self._clock()
