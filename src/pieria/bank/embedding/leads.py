"""Choose texts that get their leads next: a lead serves a text until its passages are embedded.

A lead takes a fifth of the time of a passage, and a long text has many passages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pieria.store.protocol import Reader

if TYPE_CHECKING:
    from pieria.bank.embedding.texts import Task

CONSIDERED, AT_ONCE = 512, 16
"""The number of pending texts whose leads go before any passages, and the number per batch."""


class Leads:
    """The leads of one bank, used by one thread."""

    def __init__(self) -> None:
        self._done: set[int] = set()
        """Pending rows whose leads are done or not needed."""
        self._next: list[int] = []

    def next(self, reader: Reader) -> list[Task] | None:
        """Return the leads of the next pending texts, none for short texts; None if no text is left.

        The leads of the previous call count as done.
        """
        from pieria.bank.embedding.texts import leads

        waiting = [item.row for item in reader.pending(CONSIDERED) if item.what == "passage"]
        self._done = (self._done | set(self._next)) & set(waiting)
        self._next = [row for row in waiting if row not in self._done][:AT_ONCE]
        return leads(reader, self._next) if self._next else None
