"""Which texts get their leads next, of those that wait for their passages: leads speak for texts meanwhile.

A lead takes a fifth of the time of a passage, and a long text has many of these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pieria.store.protocol import Reader

if TYPE_CHECKING:
    from pieria.bank.embedding.texts import Task

CONSIDERED, AT_ONCE = 512, 16
"""Of so many texts that wait the leads are made before any passages; so many texts at once."""


class Leads:
    """One bank's, in one thread."""

    def __init__(self) -> None:
        self._done: set[int] = set()
        """The rows whose leads were made, or that need none."""
        self._next: list[int] = []

    def next(self, reader: Reader) -> list[Task] | None:
        """Of the newest texts; None where none waits. Those of the call before are done."""
        from pieria.bank.embedding.texts import leads

        self._done.update(self._next)
        waiting = (item.row for item in reader.pending(CONSIDERED) if item.what == "passage")
        self._next = [row for row in waiting if row not in self._done][:AT_ONCE]
        return leads(reader, self._next) if self._next else None

    def start_anew(self) -> None:
        self._done.clear()
        self._next.clear()
