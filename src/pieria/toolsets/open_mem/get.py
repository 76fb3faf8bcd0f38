"""`get`: full observations by id, and what became of those that are no longer as they were."""

from __future__ import annotations

from typing import Any

from pieria.bank import Bank
from pieria.record.memory import Memory
from pieria.record.time import is_over, iso
from pieria.toolsets.host import Call
from pieria.toolsets.open_mem.envelope import Answer, answer
from pieria.toolsets.open_mem.lineage import Lineage
from pieria.toolsets.open_mem.words import ARCHIVED


def get_(call: Call, ids: list[str], includeHistory: bool, limit: int) -> Answer:
    bank = call.bank
    wanted = list(dict.fromkeys(ids))
    opened = _Opened(bank)
    for id in wanted[:limit]:
        opened.open(id)
    data: dict[str, Any] = {
        "observations": opened.observations,
        "missing": opened.missing,
        "superseded": opened.superseded,
        "deleted": opened.deleted,
        "ended": opened.ended,
        "archived": opened.archived,
    }
    if includeHistory:
        data["history"] = {id: lineage.nodes() for id, lineage in opened.lineages.items()}
    left = wanted[limit:]
    hint = f"limit is {limit}: ask for the others in another call." if left else None
    return answer(call, bank, data, left=left or None, warnings=[hint] if hint else None)


class _Opened:
    def __init__(self, bank: Bank) -> None:
        self._bank = bank
        self.observations: list[dict[str, Any]] = []
        self.missing: list[str] = []
        self.superseded: dict[str, str] = {}
        self.deleted: list[str] = []
        self.ended: dict[str, str] = {}
        self.archived: list[str] = []
        self.lineages: dict[str, Lineage] = {}

    def open(self, id: str) -> None:
        memory = self._bank.get(id, include_removed=True)
        if memory is None:
            self.missing.append(id)
            return
        lineage = self.lineages[id] = Lineage(self._bank, memory.id)
        head = lineage.head
        if head.removed:
            # An earlier revision of what was removed does not stand in for it.
            self.deleted.append(id)
            return
        if head.valid_until is not None and is_over(head.valid_until, self._bank.clock()):
            self.ended[id] = iso(head.valid_until)
        if head.status == ARCHIVED:
            self.archived.append(id)
        if _key(head) != _key(memory):
            self.superseded[id] = head.id
        one = next(each for each in lineage.revisions if each.key == _key(memory))
        self.observations.append(lineage.told(one))


def _key(memory: Memory) -> tuple[str, int]:
    return memory.id, memory.version
