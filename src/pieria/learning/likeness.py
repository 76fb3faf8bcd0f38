"""Who tells the rules how alike texts are in meaning: the embedder of an episode, where asking costs next to nothing.

A step is compared with the ones before it again and again, so the vectors of the last texts are kept, and no text.
"""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from pieria.models.minds.rules import RuleMind

if TYPE_CHECKING:
    from pieria.models.embedder import Embedder
    from pieria.models.mind import Mind

KEPT = 256
"""Vectors at once."""


def with_likeness(mind: Mind, embedder: Embedder) -> Mind:
    """Rules, with the meaning of texts to go by as well; any other mind as it is.

    What embeds elsewhere is not asked beyond the subgoals, since that has its price, and the floor knows words alone.
    """
    if not isinstance(mind, RuleMind) or embedder.is_floor or not embedder.is_at_hand:
        return mind
    kept = _kept.setdefault(embedder, _Kept())
    return mind.embedding(lambda texts: kept.vectors(embedder, texts))


class _Kept:
    """The vectors of the last texts. Threads may share it."""

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
