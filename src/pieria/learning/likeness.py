"""Give rules the embedder of an episode for text similarity, if embedding is cheap.

Steps are compared with earlier ones again and again, so recent vectors are cached. No text is kept.
"""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from pieria.models.minds.rules import RuleMind
from pieria.runtime import forks

if TYPE_CHECKING:
    from pieria.models.embedder import Embedder
    from pieria.models.mind import Mind

KEPT = 256
"""Vectors kept in the cache."""


def with_likeness(mind: Mind, embedder: Embedder) -> Mind:
    """Return a rule mind that also compares meaning; return any other mind unchanged.

    A remote embedder is not used, since each call costs money. Neither is the floor, which knows only words.
    """
    if not isinstance(mind, RuleMind) or embedder.is_floor or not embedder.is_at_hand:
        return mind
    kept = _kept.setdefault(embedder, _Kept())
    return mind.embedding(lambda texts: kept.vectors(embedder, texts))


class _Kept:
    """A thread-safe cache of recent vectors."""

    def __init__(self) -> None:
        self._held: OrderedDict[bytes, Any] = OrderedDict()
        self._lock = threading.Lock()

    def vectors(self, embedder: Embedder, texts: Sequence[str]) -> list[Any]:
        named = {sha256(text.encode()).digest(): text for text in texts}
        with self._lock:
            found = {name: self._held[name] for name in named if name in self._held}
        lacking = [name for name in named if name not in found]
        if lacking:
            made = embedder.passages([named[name] for name in lacking]).vectors.tolist()
            found.update(zip(lacking, made, strict=True))
        with self._lock:
            for name in named:
                self._held[name] = found[name]
                self._held.move_to_end(name)
            while len(self._held) > KEPT:
                self._held.popitem(last=False)
        return [found[sha256(text.encode()).digest()] for text in texts]


_kept: weakref.WeakKeyDictionary[Embedder, _Kept] = weakref.WeakKeyDictionary()
forks.in_child(_kept.clear)
