"""What a store offers for quarantine and for memories shown to sessions: the part of the protocol for `trace`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Literal, Protocol

from pieria.store.parts import Told

Held = Literal["memory", "fact"]
"""What can be put in quarantine by its id."""


class QuarantineReader(Protocol):
    def hides(self) -> bool:
        """Return whether anything in the bank is in quarantine."""

    def quarantines(self, ids: Collection[str], what: Held = "memory") -> dict[str, tuple[int, ...]]:
        """Return for each id in quarantine the numbers of the quarantines that hold it."""

    def told(self, ids: Sequence[str], limit: int) -> list[Told]:
        """Return the sessions that were shown these memories, the latest first."""


class QuarantineWriter(Protocol):
    def add_told(self, told: Iterable[Told], most: int) -> None:
        """Count memories shown to sessions and keep the `most` latest entries. Writes no journal entry."""
