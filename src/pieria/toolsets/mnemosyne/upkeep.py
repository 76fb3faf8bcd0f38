"""The tools that update, invalidate and forget memories, and `sleep`."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pieria.bank import Bank
from pieria.errors import ConflictError, InputError, NotFoundError, PieriaError
from pieria.record.memory import Memory
from pieria.record.time import is_over
from pieria.toolsets.host import Call
from pieria.toolsets.mnemosyne.counts import Counting
from pieria.toolsets.mnemosyne.words import LONGEST, here, stamp

if TYPE_CHECKING:
    from pieria.bank.results.upkeep import Slept

log = logging.getLogger(__name__)

ELSEWHERE = 20
"""How many other banks are searched for an unknown id."""
TEXTS, IDS = 20, 50
"""How many texts and ids a reply on a sleep lists; `more` counts the rest."""
RECENT = 20
"""How many recent changes are searched for the caller's own, because others write as well."""


def forget(call: Call, memory_id: str) -> dict[str, Any]:
    bank = call.bank
    with _looking_elsewhere(call, memory_id):
        receipt = bank.purge(memory_id)
    return {
        "status": "deleted",
        "memory_id": memory_id,
        "deleted": dict(receipt.erased),
        "also": list(receipt.also),
        "unreached": list(receipt.unreached),
        **here(call, bank),
    }


def update(call: Call, memory_id: str, content: str | None = None, importance: float | None = None) -> dict[str, Any]:
    bank = call.bank
    if content is None and importance is None:
        raise InputError("content", "content, importance, or both", None, hint="Only what is given is changed.")
    changes: dict[str, Any] = {"text": content, "importance": importance}
    with _looking_elsewhere(call, memory_id):
        before = bank.get(memory_id)
        after = bank.update(memory_id, **{name: value for name, value in changes.items() if value is not None})
    changed = {} if before is None else _changed(before, after)
    return {
        "status": "updated" if changed else "unchanged",
        "memory_id": after.id,
        "changed": changed,
        "version": after.version,
        **here(call, bank),
    }


def invalidate(call: Call, memory_id: str, replacement_id: str | None = None) -> dict[str, Any]:
    bank = call.bank
    if replacement_id is not None and bank.get(replacement_id) is None:
        hint = "mnemosyne_remember returns the id of a new memory; mnemosyne_recall finds existing ones."
        raise InputError("replacement_id", "the id of an existing memory", replacement_id, hint=hint)
    with _looking_elsewhere(call, memory_id):
        memory, already = _ended(bank, memory_id, replacement_id)
    return {
        "status": "invalidated",
        "memory_id": memory.id,
        "already": already,
        "valid_until": stamp(memory.valid_until),
        "replacement_id": memory.superseded_by,
        "undo": None if already else _way_back(bank, memory),
        **here(call, bank),
    }


def sleep(call: Call, dry_run: bool = False, bank: str | None = None) -> dict[str, Any]:
    target = call.host.other(bank)
    slept = target.upkeep.sleep(dry_run=dry_run, progress=call.host.progress)
    result, counting = _result(slept), Counting(target)
    return {
        "status": result["status"],
        "result": result,
        "working": counting.working(),
        "episodic": counting.episodic(),
        **here(call, target),
    }


def _changed(before: Memory, after: Memory) -> dict[str, Any]:
    """Return the changed fields, with values before and after."""
    changed: dict[str, Any] = {}
    if before.text != after.text:
        changed["content"] = {"before": before.text[:LONGEST], "after": after.text[:LONGEST]}
        changed["truncated"] = max(len(before.text), len(after.text)) > LONGEST
    if before.importance != after.importance:
        changed["importance"] = {"before": before.importance, "after": after.importance}
    return changed


def _ended(bank: Bank, id: str, replacement: str | None) -> tuple[Memory, bool]:
    """Return the memory, and whether it had already ended (with this replacement, if one is given)."""
    try:
        return bank.invalidate(id, replacement=replacement), False
    except ConflictError:
        held = bank.get(id)
        over = held is not None and is_over(held.valid_until, bank.clock())
        if held is None or not over or replacement not in (None, held.superseded_by):
            raise
        return held, True


def _way_back(bank: Bank, memory: Memory) -> dict[str, Any] | None:
    """Return the change to undo, if it is among the recent ones."""
    own = [change for change in bank.changes(last=RECENT) if memory.id in change.ids and change.what == "invalidate"]
    return {"change": own[-1].seq, "command": f"pieria undo {own[-1].seq} --bank {bank.name}"} if own else None


def _result(slept: Slept) -> dict[str, Any]:
    done = slept.summaries or slept.settled or slept.shortened
    status = "dry_run" if slept.dry_run else "consolidated" if done else "no_op"
    shortened = [{"id": one.memory.id, "before": one.memory.text, "after": one.text} for one in slept.shortened[:TEXTS]]
    consolidated = [memory.id for summary in slept.summaries for memory in summary.sources]
    levels = [one.level for one in slept.shortened]
    by_model = slept.mind != "rules" and bool(slept.summaries or slept.shortened)
    return {
        "status": status,
        "items_consolidated": slept.consolidated,
        "summaries_created": len(slept.summaries),
        "method": slept.mind,
        "llm_used": by_model,
        "consolidated_ids": consolidated[:IDS],
        "summaries": [_told(summary.as_dict()) for summary in slept.summaries[:TEXTS]],
        "promoted": [{"id": one.memory.id, "why": one.why, "tier": "semantic"} for one in slept.settled[:IDS]],
        "more": {
            "consolidated_ids": max(0, len(consolidated) - IDS),
            "summaries": max(0, len(slept.summaries) - TEXTS),
            "promoted": max(0, len(slept.settled) - IDS),
            "texts": max(0, len(slept.shortened) - TEXTS),
            "failed": max(0, len(slept.failed) - TEXTS),
        },
        "degradation": {
            "status": "dry_run" if slept.dry_run else "ok",
            "tier1_to_tier2": levels.count(1),
            "tier2_to_tier3": levels.count(2),
            "texts": shortened,
        },
        "examined": slept.examined,
        "left": slept.left,
        "failed": [{**failure.as_dict(), "ids": list(failure.ids[:IDS])} for failure in slept.failed[:TEXTS]],
        "stopped": slept.stopped,
    }


def _holds(call: Call, name: str, id: str) -> bool:
    try:
        return call.host.other(name).get(id) is not None
    except PieriaError as problem:
        # A fault in another bank must not fail this call.
        log.warning("bank %s is not looked into for an id (%s)", name, problem.code)
        return False


def _told(summary: dict[str, Any]) -> dict[str, Any]:
    return {**summary, "sources": summary["sources"][:IDS]}


@contextmanager
def _looking_elsewhere(call: Call, id: str) -> Iterator[None]:
    """If the id is unknown here, name the bank that has it."""
    try:
        yield
    except NotFoundError as problem:
        own = call.bank.name
        others = [name for name in call.host.bank_names() if name != own]
        for name in others[:ELSEWHERE]:
            if _holds(call, name, id):
                raise NotFoundError("memory", id, hint=f"It is in the bank {name}, not in {own}.") from problem
        if "purged" in str(problem.hint):
            raise
        raise NotFoundError("memory", id, hint="mnemosyne_recall returns the ids.") from problem
