"""The tools `create`, `revise` and `remove`. They never overwrite; revisions and removals can give a reason."""

from __future__ import annotations

from typing import Any

from pieria.bank import Bank
from pieria.errors import ConflictError, InputError
from pieria.record.banks import USER_BANK
from pieria.record.memory import Memory, unchanged_source
from pieria.toolsets.host import Call
from pieria.toolsets.open_mem.history import Lineage, standing
from pieria.toolsets.open_mem.words import (
    ARCHIVED,
    KIND,
    USER,
    Answer,
    Screened,
    answer,
    kept_of,
    scope_of,
    share_of,
    told,
)

MADE_BY = "mem-create"
DEFAULT = 3
PUT_AWAY = "It is archived, and so is the revision: no search finds it until it is recovered."
ENGINE = {"title": "title", "narrative": "text", "concepts": "tags"}
"""Parameters passed on unchanged, with the engine's names."""


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
    if scope == USER:
        call.host.reached(USER_BANK)
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
    whose = "user" if memory.scope == "user" else None
    twins = [twin.id for twin in bank.identical(memory.text, scope=whose) if twin.id != memory.id]
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
    asked = {"title": title, "narrative": narrative, "type": type, "concepts": concepts, "importance": importance}
    given = {name: value for name, value in asked.items() if value is not None}
    if not given:
        hint = "A reason alone changes nothing."
        raise InputError("title", f"something to revise: {', '.join(asked)}", None, hint=hint)
    head = standing(bank, id).head
    held = told(head)
    if all(_bare(kept_of(bank, value)) == _bare(held[name]) for name, value in given.items()):
        name = next(iter(given))
        hint = f"{head.id} says so already, and a reason alone changes nothing."
        raise InputError(name, "at least one changed value", given[name], hint=hint)
    changes: dict[str, Any] = {ENGINE[name]: value for name, value in given.items() if name in ENGINE}
    if type is not None:
        changes["body"] = {**head.body, "type": type}
    if importance is not None:
        changes["importance"] = share_of(importance)
    revised = bank.revise(head.id, **changes, reason=reason)
    lineage = Lineage(bank, revised.id)
    previous = lineage.before_version(revised)
    sum_up(bank, revised)
    data = {"previousId": previous, "newId": revised.id, "observation": told(revised, previous)}
    resolved = {id: previous} if id not in (previous, revised.id) else None
    screened = Screened(bank, [title, narrative, reason, *(concepts or [])])
    hidden = [PUT_AWAY] if revised.status == ARCHIVED else []
    warnings = [*hidden, *unchanged_source(revised)] or None
    return answer(call, bank, data, **screened.as_dict(), resolved=resolved, warnings=warnings)


def remove(call: Call, id: str, reason: str | None = None) -> Answer:
    bank = call.bank
    lineage = standing(bank, id)
    head = lineage.head
    if id not in (head.id, head.reference):
        hint = f"Read {head.id} first, then remove it if it is the right one."
        raise ConflictError("it was revised", ids=(head.id,), hint=hint)
    removed = bank.remove(head.id, reason=reason)
    sum_up(bank, removed)
    data = {"id": head.id, "tombstoned": True, "deletedAt": told(removed)["deletedAt"], "reason": removed.reason}
    return answer(call, bank, data, **Screened(bank, [reason]).as_dict(), warnings=unchanged_source(removed) or None)


def _bare(value: Any) -> Any:
    """Return the value without surrounding blanks and repeated items, which memories do not keep."""
    if isinstance(value, list):
        return list(dict.fromkeys(map(_bare, value)))
    return value.strip() if isinstance(value, str) else value


def sum_up(bank: Bank, memory: Memory) -> None:
    """Queue a new summary of the memory's session."""
    if memory.session is not None and scope_of(memory) != USER and memory.scope != "session":
        bank.upkeep.summarize_later(memory.session)
