"""Counts of a bank's working, episodic and semantic memory, as far as the caller may see it."""

from __future__ import annotations

from typing import Any

from pieria.bank import Bank
from pieria.bank.results.general import Stats
from pieria.record.memory import GIVEN_KINDS
from pieria.runtime.lazy import cached_property
from pieria.toolsets.mnemosyne.words import stamp

SUMMARY = "summary"
SAID = tuple(kind for kind in GIVEN_KINDS if kind != SUMMARY)
ALL = ("archived", "invalid")
"""Statuses that are counted although recall skips them."""


class Counting:
    """Counts of one bank for one answer. Shared numbers are cached."""

    def __init__(self, bank: Bank) -> None:
        self.bank = bank

    @cached_property
    def stats(self) -> Stats:
        return self.bank.stats()

    @property
    def total(self) -> int:
        return sum(self._tiers.values())

    def working(self) -> dict[str, Any]:
        """Count memories other than summaries: those a sleep has consolidated and those it has not."""
        waiting, total = self._said.get("working", 0), sum(self._said.values())
        return {"total": total, "consolidated": total - waiting, "unconsolidated": waiting, "last": self._last(SAID)}

    def episodic(self) -> dict[str, Any]:
        """Count episodic memories and summaries. The number of vectors is that of the whole bank."""
        store = self.stats.store
        return {
            "total": self._tiers.get("kept", 0),
            "summaries": self.total - sum(self._said.values()),
            "last": self._last((SUMMARY,)),
            "vectors": store["vectors"],
            "vec_type": store["vector_type"],
        }

    def semantic(self) -> dict[str, Any]:
        return {"total": self._tiers.get("settled", 0)}

    @cached_property
    def _tiers(self) -> dict[str, int]:
        tiers: dict[str, int] = self.bank.count(by="tier", include=ALL)
        return tiers

    @cached_property
    def _said(self) -> dict[str, int]:
        tiers: dict[str, int] = self.bank.count(by="tier", kinds=SAID, include=ALL)
        return tiers

    def _last(self, kinds: tuple[str, ...]) -> str | None:
        return next((stamp(memory.at) for memory in self.bank.list(limit=1, kinds=kinds, include=ALL)), None)
