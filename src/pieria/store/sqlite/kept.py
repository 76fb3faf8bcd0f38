"""A cache of vectors that were scored before. Queries to a bank repeat their subjects. Reading a vector from the file
costs more than the rest of scoring it.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from pieria.store.vectors import singles

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Halves = NDArray[np.int16]
    Places = NDArray[np.intp]

MOST_BYTES = 100_000_000
NOWHERE = -1


class Kept:
    """Vectors by the place of their entry among the codes. Threads share it; entries never change."""

    def __init__(self, dimension: int, places: int) -> None:
        import numpy as np

        self._lock = threading.Lock()
        self._lines = np.full(places, NOWHERE, dtype=np.int32)
        # The system provides no memory for pages that were never written.
        self._halves = np.empty((min(places, MOST_BYTES // (2 * dimension)), dimension), dtype="<i2")
        self._taken = 0
        self.is_full = False

    def lines(self, places: Places) -> NDArray[np.int32]:
        """Return each place's line in the cache, `NOWHERE` if it is missing."""
        return self._lines[places]

    def vectors(self, lines: NDArray[np.int32]) -> Floats:
        return singles(self._halves[lines])

    def keep(self, places: Places, halves: Halves) -> None:
        """Add as many as fit. A full cache is replaced by a new one."""
        import numpy as np

        with self._lock:
            begin, end = self._taken, min(self._taken + len(places), len(self._halves))
            self._halves[begin:end] = halves[: end - begin]
            self._lines[places[: end - begin]] = np.arange(begin, end, dtype=np.int32)
            self._taken = end
            self.is_full = end < begin + len(places)
