"""Recalling before the model is called: in time or not at all, and nothing where it is unlikely to help."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pieria.errors import PieriaError
from pieria.hermes.prompt import told

if TYPE_CHECKING:
    from pieria import Bank, Memory
    from pieria.hermes.options import Options

log = logging.getLogger(__name__)

ASKED = 40
"""Memories that are asked for: what the model has before it already is left out of them."""
GRACE = 1.25
"""Of the time that recall is given: after so much more of it, nobody waits any longer."""


@dataclass(frozen=True, slots=True)
class Told:
    text: str = ""
    memories: int = 0


NOTHING = Told()


class Recalling:
    """`opened` gives a session's bank. Threads may share it."""

    def __init__(self, opened: Callable[[str], Bank], options: Options) -> None:
        self._opened = opened
        self._options = options
        self._lock = threading.Lock()
        self._running: threading.Thread | None = None
        self._earlier: dict[str, Told] = {}

    def now(self, question: str, session: str, is_known: Callable[[Memory], bool]) -> Told:
        """What bears on the question; where that takes too long, what bore on the one before."""
        answer: list[Told] = []
        thread = threading.Thread(
            target=lambda: answer.append(self._recalled(question, session, is_known)),
            name="pieria-hermes-recall",
            daemon=True,
        )
        with self._lock:
            earlier = self._earlier.pop(session, NOTHING)
            if self._running is not None and self._running.is_alive():
                log.warning("recall: the one before has not ended yet, so this one is left out")
                return earlier
            self._running = thread
            thread.start()
        thread.join(self._options.prefetch_ms / 1000 * GRACE)
        if answer:
            return answer[0]
        log.warning("recall: not done within %s ms, left out", self._options.prefetch_ms)
        return earlier

    def ahead(self, question: str, session: str, is_known: Callable[[Memory], bool]) -> None:
        """Keeps what bears on what was just spoken of, in case that the next recall is not in time."""
        found = self._recalled(question, session, is_known)
        with self._lock:
            self._earlier = {session: found}

    def forget(self) -> None:
        with self._lock:
            self._earlier = {}

    def _recalled(self, question: str, session: str, is_known: Callable[[Memory], bool]) -> Told:
        """Runs on a thread that nobody may be listening to any more: whatever goes wrong is logged."""
        options = self._options
        try:
            found = self._opened(session).recall(
                question, k=ASKED, deadline_ms=options.prefetch_ms, budget_tokens=ASKED * options.prefetch_tokens
            )
        except PieriaError as problem:
            log.warning("recall: %s", problem)
            return NOTHING
        except Exception:
            log.exception("recall failed unexpectedly")
            return NOTHING
        if not found or found.confidence < options.min_confidence:
            return NOTHING
        return Told(*told(found, options.prefetch_tokens, is_known))
