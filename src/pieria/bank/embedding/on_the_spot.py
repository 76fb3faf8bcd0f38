"""Vectors for a question that is being asked: made ahead of all background work, and kept until they are stored.

Exists so that what was written a moment ago is compared by its meaning while the background still has it before it.
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

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = Mapping[str, NDArray[np.float32]]

AT_ONCE = 1_500
"""Characters in one call of a model at hand: it cannot be broken off, and a few dozen milliseconds are enough."""
ELSEWHERE = 32
"""Texts in the one call of a model that is elsewhere."""
LEAST = 200
"""Characters below which a text takes no less time for being shorter."""
SPEEDING_UP = 0.5
KEPT = 2_000
"""Vectors that wait to be stored: more than a burst of notes brings."""
LONGEST_TURN = 1.0
"""Seconds after which the background goes on, whoever asks: questions that never cease must not stop it."""


class Precedence:
    """Who asks goes first: the background waits until nobody does. For all banks of the process."""

    def __init__(self) -> None:
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


class OnTheSpot:
    """One bank's. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[str, NDArray[np.float32]] = {}
        self._pace = 0.0
        """Seconds that a character took lately."""

    def kept(self, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        with self._lock:
            return {text: self._kept[text] for text in texts if text in self._kept}

    def let_go(self, texts: Sequence[str]) -> None:
        """They are stored now."""
        with self._lock:
            for text in texts:
                self._kept.pop(text, None)

    def ahead(self, embedder: Embedder, texts: Sequence[str], meter: Meter) -> Vectors:
        """Makes and keeps these, whatever time it takes: for the background, before it has a question to answer."""
        found = self.kept(texts)
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        if missing:
            found.update(zip(missing, embedder.passages(missing, meter).vectors, strict=True))
            self._keep({text: found[text] for text in missing})
        return found

    def made(self, embedder: Embedder, texts: Sequence[str], until: float, meter: Meter) -> Vectors:
        """The vectors of as many texts, in their order, as there is time for. Raises what the model raises."""
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
                # What took long once, as a model does that has to be loaded, need not the next time.
                if len(left) == len(texts):
                    self._pace *= SPEEDING_UP
                return
            yield part, embedder.passages(part, meter).vectors
            self._pace = (perf_counter() - begun) / max(LEAST, sum(map(len, part)))
            left = left[len(part) :]

    def _elsewhere(
        self, embedder: Embedder, texts: Sequence[str], until: float, meter: Meter
    ) -> Iterator[tuple[Sequence[str], NDArray[np.float32]]]:
        """In one call, in another thread, which may take as long as there is time."""
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
    """As many, in their order, as have so many characters together; where there is all the room, one at least."""
    part = list(texts[:1]) if room >= AT_ONCE else []
    for text in texts[len(part) :]:
        if sum(map(len, part)) + len(text) > room:
            break
        part.append(text)
    return part
