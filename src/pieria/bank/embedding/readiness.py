"""Whether a bank's vectors can be compared with a query, and if not, why."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Readiness:
    """The state of a bank's vectors, for `plan` and `doctor`.

    `usable` says that this process can compare a query with them. `reason` says why not, or gives a note.
    """

    model: str | None
    usable: bool
    pending: int
    reason: str | None = None

    def as_dict(self) -> dict[str, object]:
        told = {"model": self.model, "usable": self.usable, "pending": self.pending, "note": self.reason}
        return {name: value for name, value in told.items() if value is not None}
