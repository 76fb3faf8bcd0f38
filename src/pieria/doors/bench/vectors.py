"""Vectors for the texts of the workload: clustered as an embedder's are, made in no time, the same everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Halves = NDArray[np.float16]

DIMENSION = 384
CENTRES = 2_000
SPREAD = 0.7
"""How far vectors lie from their centre, which is of length one."""
ASIDE = 0.5
"""How far a question lies from the text that it is made of."""


class Meaning:
    """The vector of each text by its number, kept as a store keeps it; and an embedder that knows what was prepared."""

    def __init__(self, seed: int = 7) -> None:
        import numpy as np

        self._random = np.random.default_rng(seed)
        self._centres = self._unit(self._random.standard_normal((CENTRES, DIMENSION), dtype=np.float32))
        self._parts: list[Halves] = []
        self._prepared: dict[str, Sequence[float]] = {}

    def vectors(self, subjects: Sequence[int]) -> Floats:
        """One for each text that comes next; those of one subject lie together."""
        import numpy as np

        centres = self._centres[np.asarray(subjects) % CENTRES]
        made = self._unit(centres + SPREAD * self._noise(len(subjects)))
        self._parts.append(made.astype(np.float16))
        return made

    def subject(self) -> int:
        return int(self._random.integers(CENTRES))

    @property
    def all(self) -> Halves:
        """Of every text so far, in order."""
        import numpy as np

        if len(self._parts) > 1:
            self._parts = [np.concatenate(self._parts)]
        return self._parts[0]

    def question(self, number: int) -> Floats:
        """A vector near that of a text."""
        import numpy as np

        return self._unit(self.all[number].astype(np.float32) + ASIDE * self._noise(1)[0])

    def prepare(self, text: str, vector: Floats) -> None:
        self._prepared[text] = vector.tolist()

    def forget_prepared(self) -> None:
        self._prepared.clear()

    def embed(self, texts: list[str]) -> list[Sequence[float]]:
        """What was prepared; of several lines, such as a window has, the mean."""
        return [self._prepared[text] if text in self._prepared else self._mean(text) for text in texts]

    def _mean(self, text: str) -> Sequence[float]:
        import numpy as np

        known = [self._prepared[line] for line in text.split("\n") if line in self._prepared]
        # Where a window had no room for a whole line, or a model is asked for the length of its vectors.
        mean: Sequence[float] = np.mean(known or self._centres[:1], axis=0).tolist()
        return mean

    def _noise(self, count: int) -> Floats:
        import numpy as np

        made = self._random.standard_normal((count, DIMENSION), dtype=np.float32)
        return np.asarray(made / np.sqrt(np.float32(DIMENSION)))

    def _unit(self, vectors: Floats) -> Floats:
        import numpy as np

        return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True), dtype=np.float32)
