"""`create`, `revise` and `remove`: nothing is overwritten, and every change says why."""

from __future__ import annotations

from typing import Any

from pieria.bank import Bank
from pieria.errors import ConflictError, InputError
from pieria.record.memory import Memory
from pieria.toolsets.host import Call
from pieria.toolsets.open_mem.envelope import Answer, answer
from pieria.toolsets.open_mem.lineage import Lineage, standing
from pieria.toolsets.open_mem.words import KIND, USER, Screened, scope_of, share_of, told

MADE_BY = "mem-create"
DEFAULT = 3
REVISED = ("title", "narrative", "type", "concepts", "importance")


def create(
    call: Call,
    title: str,
    type: str,
    narrative: str,
    scope: str,
    concepts: list[str] | None = None,
    files: list[str] | None = None,
    importance: int | None = None,
) -> Answer:
    bank = call.bank
    memory = bank.remember(
        narrative,
        title=title,
        kind=KIND,
        body={"type": type},
        tags=concepts or [],
        files=files or [],
        importance=share_of(DEFAULT if importance is None else importance),
        scope=USER if scope == USER or bank.is_user_bank else "bank",
        source=MADE_BY,
    )
    twins = [twin.id for twin in bank.twins(memory.text) if twin.id != memory.id]
    sum_up(bank, memory)
    screened = Screened(bank, [title, narrative, *(concepts or []), *(files or [])])
    same = f"The same text is in {', '.join(twins)} already." if twins else None
    return answer(call, bank, {"observation": told(memory)}, **screened.as_dict(), warnings=[same] if same else None)


def revise(
    call: Call,
    id: str,
    title: str | None = None,
    narrative: str | None = None,
    type: str | None = None,
    concepts: list[str] | None = None,
    importance: int | None = None,
    reason: str | None = None,
) -> Answer:
    bank = call.bank
    if all(value is None for value in (title, narrative, type, concepts, importance)):
        hint = "A reason alone changes nothing."
        raise InputError("title", f"something to revise: {', '.join(REVISED)}", None, hint=hint)
    head = standing(bank, id).head
    changes: dict[str, Any] = {"title": title, "text": narrative, "tags": concepts}
    if type is not None:
        changes["body"] = {**head.body, "type": type}
    if importance is not None:
        changes["importance"] = share_of(importance)
    given = {name: value for name, value in changes.items() if value is not None}
    revised = bank.revise(id, **given, reason=reason)
    previous = Lineage(bank, revised.id).before(revised.id)
    sum_up(bank, revised)
    data = {"previousId": previous, "newId": revised.id, "observation": told(revised, previous)}
    resolved = {id: previous} if previous != id else None
    screened = Screened(bank, [title, narrative, reason, *(concepts or [])])
    return answer(call, bank, data, **screened.as_dict(), resolved=resolved)


def remove(call: Call, id: str, reason: str | None = None) -> Answer:
    bank = call.bank
    lineage = standing(bank, id)
    if lineage.head.id != id:
        hint = f"Remove {lineage.head.id}, once you have seen that it is what should go."
        raise ConflictError("it was revised", ids=(lineage.head.id,), hint=hint)
    removed = bank.remove(id, reason=reason)
    sum_up(bank, removed)
    data = {"id": id, "tombstoned": True, "deletedAt": told(removed)["deletedAt"], "reason": removed.reason}
    return answer(call, bank, data, **Screened(bank, [reason]).as_dict())


def sum_up(bank: Bank, memory: Memory) -> None:
    """The session's summary follows what is said in it, behind."""
    if memory.session is not None and scope_of(memory) != USER and memory.scope != "session":
        bank.upkeep.summarize_later(memory.session)
