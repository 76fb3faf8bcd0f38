"""What of a bank is working memory, episodic and semantic, in numbers. Counted is what the caller may see."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from pieria.bank import Bank
from pieria.bank.results.general import Stats
from pieria.record.memory import GIVEN_KINDS
from pieria.toolsets.mnemosyne.words import stamp

SUMMARY = "summary"
SAID = tuple(kind for kind in GIVEN_KINDS if kind != SUMMARY)
ALL = ("archived", "invalid")
"""What is counted besides what can be recalled now."""


class Counting:
    """Of one bank, for one answer: what several numbers rest on is counted once."""

    def __init__(self, bank: Bank) -> None:
        self.bank = bank

    @cached_property
    def stats(self) -> Stats:
        return self.bank.stats()

    @property
    def total(self) -> int:
        return sum(self._tiers.values())

    def working(self) -> dict[str, Any]:
        """What was said: how much a sleep has gone over, and how much it has not."""
        waiting, total = self._said.get("working", 0), sum(self._said.values())
        return {"total": total, "consolidated": total - waiting, "unconsolidated": waiting, "last": self._last(SAID)}

    def episodic(self) -> dict[str, Any]:
        """What recall shows with the tier episodic; and what is found by meaning, of the whole bank."""
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
