"""Embed pending texts for a query in progress, ahead of background work, and keep the vectors until they are stored.

So recall compares new texts by meaning although the background has not embedded them yet.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING

from pieria.bank.embedding.threads import asked
from pieria.models import Embedder
from pieria.models.meter import Meter
from pieria.runtime import forks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = Mapping[str, NDArray[np.float32]]

AT_ONCE = 1_500
"""Characters per call of a local model: the call cannot be interrupted, and should take a few dozen milliseconds."""
ELSEWHERE = 32
"""Texts in the one call of a remote model."""
LEAST = 200
"""Characters below which a shorter text takes no less time."""
SPEEDING_UP = 0.5
KEPT = 2_000
"""Vectors that wait to be stored: more than a burst of notes makes."""
LONGEST_TURN = 1.0
"""Seconds after which the background goes on anyway, so that constant queries do not stop it."""


class Precedence:
    """Lets queries go before background embedding, for all banks of the process."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self._changed = threading.Condition()
        self._asking = 0

    @contextmanager
    def taken(self) -> Iterator[None]:
        with self._changed:
            self._asking += 1
        try:
            yield
        finally:
            with self._changed:
                self._asking -= 1
                self._changed.notify_all()

    def let_go_first(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: not self._asking, LONGEST_TURN)


precedence = Precedence()
forks.in_child(precedence.reset)


class OnTheSpot:
    """The unstored vectors of one bank. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[str, NDArray[np.float32]] = {}
        self._pace = 0.0
        """Recent seconds per character."""

    def kept(self, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        with self._lock:
            return {text: self._kept[text] for text in texts if text in self._kept}

    def let_go(self, texts: Sequence[str]) -> None:
        """Drop the vectors of these texts, which are stored now."""
        with self._lock:
            for text in texts:
                self._kept.pop(text, None)

    def ahead(self, embedder: Embedder, texts: Sequence[str], meter: Meter) -> Vectors:
        """Embed these texts without a time limit and keep the vectors, in the background."""
        found = self.kept(texts)
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        if missing:
            found.update(zip(missing, embedder.passages(missing, meter).vectors, strict=True))
            self._keep({text: found[text] for text in missing})
        return found

    def made(self, embedder: Embedder, texts: Sequence[str], until: float, meter: Meter) -> Vectors:
        """Return the vectors of as many texts, in order, as time allows. Raise the errors of the model."""
        wanted = list(dict.fromkeys(texts))
        found = self.kept(wanted)
        missing = [text for text in wanted if text not in found]
        made = self._here if embedder.is_at_hand else self._elsewhere
        for part, vectors in made(embedder, missing, until, meter):
            found.update(zip(part, vectors, strict=True))
        self._keep({text: found[text] for text in missing if text in found})
        return found

    def _here(
        self, embedder: Embedder, texts: Sequence[str], until: float, meter: Meter
    ) -> Iterator[tuple[Sequence[str], NDArray[np.float32]]]:
        left = list(texts)
        while left:
            begun = perf_counter()
            if begun >= until:
                return
            part = _fitting(left, min(AT_ONCE, (until - begun) / self._pace) if self._pace else AT_ONCE)
            if not part:
                # The last call may have been slow only because it loaded the model.
                if len(left) == len(texts):
                    self._pace *= SPEEDING_UP
                return
            yield part, embedder.passages(part, meter).vectors
            self._pace = (perf_counter() - begun) / max(LEAST, sum(map(len, part)))
            left = left[len(part) :]

    def _elsewhere(
        self, embedder: Embedder, texts: Sequence[str], until: float, meter: Meter
    ) -> Iterator[tuple[Sequence[str], NDArray[np.float32]]]:
        """Embed in one call, in another thread, within the time left."""
        part = texts[:ELSEWHERE]
        left = until - perf_counter()
        if not part or left <= 0:
            return
        try:
            yield part, asked(lambda: embedder.passages(part, meter).vectors).result(left)
        except TimeoutError:
            return

    def _keep(self, vectors: Vectors) -> None:
        with self._lock:
            self._kept.update(vectors)
            for text in list(self._kept)[: max(0, len(self._kept) - KEPT)]:
                del self._kept[text]


def _fitting(texts: Sequence[str], room: float) -> list[str]:
    """Return as many texts, in order, as fit into `room` characters, and at least one if `room` is full size."""
    part = list(texts[:1]) if room >= AT_ONCE else []
    for text in texts[len(part) :]:
        if sum(map(len, part)) + len(text) > room:
            break
        part.append(text)
    return part
