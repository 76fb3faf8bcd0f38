"""Vectors for the texts of the workload: clustered like an embedder's, fast to make, the same on every machine."""

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
"""Distance of vectors from their centre, which has length one."""
ASIDE = 0.5
"""Distance of a query from its text."""


class Meaning:
    """Vectors by text number, stored as a store does; and an embedder for the prepared texts."""

    def __init__(self, seed: int = 7) -> None:
        import numpy as np

        self._random = np.random.default_rng(seed)
        self._centres = self._unit(self._random.standard_normal((CENTRES, DIMENSION), dtype=np.float32))
        self._parts: list[Halves] = []
        self._prepared: dict[str, Sequence[float]] = {}

    def vectors(self, subjects: Sequence[int]) -> Floats:
        """Return a vector for each next text; those of one subject are close together."""
        import numpy as np

        centres = self._centres[np.asarray(subjects) % CENTRES]
        made = self._unit(centres + SPREAD * self._noise(len(subjects)))
        self._parts.append(made.astype(np.float16))
        return made

    def subject(self) -> int:
        return int(self._random.integers(CENTRES))

    @property
    def all(self) -> Halves:
        """Return the vectors of all texts so far, in order."""
        import numpy as np

        if len(self._parts) > 1:
            self._parts = [np.concatenate(self._parts)]
        return self._parts[0]

    def question(self, number: int) -> Floats:
        """Return a vector near a text's."""
        import numpy as np

        return self._unit(self.all[number].astype(np.float32) + ASIDE * self._noise(1)[0])

    def prepare(self, text: str, vector: Floats) -> None:
        self._prepared[text] = vector.tolist()

    def forget_prepared(self) -> None:
        self._prepared.clear()

    def embed(self, texts: list[str]) -> list[Sequence[float]]:
        """Return the prepared vectors; for several lines, as in a window, their mean."""
        return [self._prepared[text] if text in self._prepared else self._mean(text) for text in texts]

    def _mean(self, text: str) -> Sequence[float]:
        import numpy as np

        known = [self._prepared[line] for line in text.split("\n") if line in self._prepared]
        # No known line: a window cut it, or a model's dimension is being measured.
        mean: Sequence[float] = np.mean(known or self._centres[:1], axis=0).tolist()
        return mean

    def _noise(self, count: int) -> Floats:
        import numpy as np

        made = self._random.standard_normal((count, DIMENSION), dtype=np.float32)
        return np.asarray(made / np.sqrt(np.float32(DIMENSION)))

    def _unit(self, vectors: Floats) -> Floats:
        import numpy as np

        return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True), dtype=np.float32)
