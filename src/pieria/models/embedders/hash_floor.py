"""The floor: vectors without a model, from the words of a text and their character n-grams.

It serves when no model is installed. It finds shared words and parts of words, not meaning, and its note says so. It
uses the terms of the text index, so a text has the same vector on every machine.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Any

from pieria.errors import InputError
from pieria.language.analyser import ANALYSER_VERSION, STOP_WORDS, terms
from pieria.models.embedding import FLOOR, EmbeddingResponse, Identity, OwnEmbedding, checked_opts

_VERSION = 1
_STOP_WEIGHT = 0.1
"""Weight of a stop word."""
_PARTS_SHARE = 1.0
"""Weight of all n-grams of a word together; the word has weight 1."""
_RUNS = (3, 4)
_PLACES = 2
"""Dimensions per feature: with more than one, two features seldom collide completely."""
NOTE = (
    "No embedding model is installed: dense recall compares words and their parts, not meaning. "
    "Run pieria models install."
)

_Share = tuple[tuple[int, float], ...]


class HashingEmbedding(OwnEmbedding):
    """Deterministic and exact. Safe in threads: at worst two of them compute the same word."""

    is_at_hand = True
    _REMEMBERED = 50_000

    def __init__(self, dimension: int = 384) -> None:
        if isinstance(dimension, bool) or not isinstance(dimension, int) or not 64 <= dimension <= 4_096:
            raise InputError("dimension", "a whole number from 64 to 4,096", dimension)
        self._dimension = dimension
        self._shares: dict[str, _Share] = {}
        decides = {"version": _VERSION, "analyser": ANALYSER_VERSION}
        self.identity = Identity(f"{FLOOR}{dimension}", dimension, decides, NOTE)

    def _embedded(self, texts: list[str], opts: Mapping[str, Any] | None) -> EmbeddingResponse:
        checked_opts(opts, self.identity.model)
        read = [terms(text) for text in texts]
        vectors = [self._vector(words) for words in read]
        return EmbeddingResponse(vectors, self.identity.model, {"input_tokens": sum(map(len, read))})

    def _vector(self, words: list[str]) -> list[float]:
        vector = [0.0] * self._dimension
        # A text of punctuation has no terms. It gets an empty one, because a zero vector is similar to nothing.
        for word, count in Counter(words or [""]).items():
            often = 1.0 + math.log(count)
            for place, weight in self._share(word):
                vector[place] += often * weight
        length = math.sqrt(math.fsum(value * value for value in vector))
        return [value / length for value in vector]

    def _share(self, word: str) -> _Share:
        """Return what a word adds to a vector, from a bounded cache."""
        known = self._shares.get(word)
        if known is None:
            known = self._shared(word)
            if len(self._shares) >= self._REMEMBERED:
                self._shares = {}
            self._shares[word] = known
        return known

    def _shared(self, word: str) -> _Share:
        added: dict[int, float] = {}
        weight = _STOP_WEIGHT if word in STOP_WORDS else 1.0
        runs = list(_runs(word))
        features = [(f"w {word}", weight)]
        features += [(f"r {run}", weight * _PARTS_SHARE / math.sqrt(len(runs))) for run in runs]
        for feature, amount in features:
            for place, sign in self._places(feature):
                added[place] = added.get(place, 0.0) + sign * amount
        return tuple(added.items())

    def _places(self, feature: str) -> Iterator[tuple[int, float]]:
        digest = blake2b(feature.encode(), digest_size=8 * _PLACES).digest()
        for start in range(0, len(digest), 8):
            number = int.from_bytes(digest[start : start + 8], "little")
            yield (number >> 1) % self._dimension, 1.0 if number & 1 else -1.0


def _runs(word: str) -> Iterator[str]:
    """Return the distinct n-grams of a word, with its ends marked."""
    marked = f"<{word}>"
    return iter(dict.fromkeys(marked[at : at + size] for size in _RUNS for at in range(len(marked) - size + 1)))
