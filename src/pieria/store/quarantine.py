"""What a store offers about quarantine, and about what sessions were told: the part of the protocol for `trace`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Literal, Protocol

from pieria.store.parts import Told

Held = Literal["memory", "fact"]
"""What is put in quarantine by its id."""


class QuarantineReader(Protocol):
    def hides(self) -> bool:
        """Whether the bank has any quarantine."""

    def quarantines(self, ids: Collection[str], what: Held = "memory") -> dict[str, tuple[int, ...]]:
        """Of those in quarantine the numbers of all that hold them."""

    def told(self, ids: Sequence[str], limit: int) -> list[Told]:
        """The sessions that were told these memories, the last first."""


class QuarantineWriter(Protocol):
    def add_told(self, told: Iterable[Told], most: int) -> None:
        """Counts what sessions were told, and keeps the `most` latest entries. No journal entry tells of it."""
