"""The tools `gc` (collect faded memories) and `promote_memory`."""

from __future__ import annotations

from typing import Any

from pieria.bank import Bank
from pieria.errors import InputError
from pieria.record.decay import Fading
from pieria.toolsets.host import Call
from pieria.toolsets.mnemex.refusals import RefusedError
from pieria.toolsets.mnemex.words import days, opened, preview, score

SHOWN = 10
PREVIEW = 100
FORCED = "force=true promotes it anyway."
WHICH = "Must specify memory_id or set auto_detect=true."
NO_VAULT = "No vault is set, so nothing can be promoted: set vault, or LTM_VAULT_PATH."


def gc(call: Call, dry_run: bool, archive_instead: bool, limit: int | None = None) -> dict[str, Any]:
    bank = call.bank
    found = bank.upkeep.gc(
        dry_run=dry_run, archive=archive_instead, status="active", limit=limit, progress=call.host.progress
    )
    number = len(found.faded)
    done = "archive" if archive_instead else "remove"
    said = f"Would {done}" if dry_run else f"{done.capitalize()}d"
    told = {
        "dry_run": dry_run,
        "removed_count": 0 if archive_instead else number,
        "archived_count": number if archive_instead else 0,
        "freed_score_sum": score(sum(one.retained for one in found.faded)),
        "memory_ids": [one.memory.id for one in found.faded[:SHOWN]],
        "total_affected": number,
        "message": f"{said} {number} low-scoring memories (threshold: {bank.fading.forget:g})",
    }
    if number > SHOWN:
        told |= {"truncated": True, "ids_not_shown": number - SHOWN}
    return {**told, "left": found.left} if found.left else told


def promote_memory(
    call: Call, auto_detect: bool, dry_run: bool, target: str, force: bool, memory_id: str | None = None
) -> dict[str, Any]:
    bank = call.bank
    if memory_id is None and not auto_detect:
        raise InputError("memory_id", "an id, or auto_detect to be true", None, hint=WHICH)
    chosen = [] if memory_id is None else _named(bank, memory_id, force, auto_detect)
    if auto_detect:
        # Another session's private memories must not reach this session or the vault.
        detected = (one for one in bank.upkeep.promote(dry_run=True).promoted if bank.get(one.memory.id))
        chosen += sorted((one for one in detected if one.memory.id != memory_id), key=lambda one: -one.score)
    ids = [one.memory.id for one in chosen]
    notes = bank.vault.promote(ids, target=target).notes if ids and not dry_run else ()
    told = {
        "dry_run": dry_run,
        "candidates_found": len(chosen),
        "promoted_count": len(notes),
        "promoted_ids": [note.id for note in notes],
        "candidates": [_candidate(bank, one) for one in chosen[:SHOWN]],
        "message": f"Would promote {len(chosen)} memories to {target}" if dry_run else
                   f"Promoted {len(notes)} memories to {target}",
    }  # fmt: skip
    if notes:
        told["notes"] = [note.path for note in notes]
    if memory_id is not None and notes and notes[0].id == memory_id:
        told["promoted_to"] = notes[0].path
    return told if bank.vault.is_set else {**told, "warnings": [NO_VAULT]}


def _named(bank: Bank, id: str, force: bool, others_too: bool) -> list[Any]:
    """Return the named memory if it may be promoted. Otherwise raise `RefusedError` or, with `others_too`, return
    nothing.
    """
    memory = opened(bank, id)
    path = bank.vault.path_of(id)
    curve = bank.upkeep.curve(id)
    reached = {"score": score(curve.now.score), "use_count": curve.now.used.accesses}
    problem = None
    if memory.status == "promoted" and path is not None:
        problem = RefusedError("It was promoted already", (id,), promoted_to=path)
    elif memory.status != "promoted" and curve.promotion is None and not force:
        said = (
            f"It does not meet the criteria, with a score of {curve.now.score:.2f} and {curve.now.used.accesses} uses"
        )
        problem = RefusedError(f"{said}. They are {_criteria(bank.fading)}", (id,), hint=FORCED, **reached)
    if problem is None:
        return list(bank.upkeep.promote(id, dry_run=True).promoted)
    if others_too:
        return []
    raise problem


def _criteria(fading: Fading) -> str:
    by_uses = f"{fading.promote_uses} uses within {fading.promote_days:g} days"
    return f"a score of {fading.promote:g} after a day and a use, or {by_uses}"


def _candidate(bank: Bank, one: Any) -> dict[str, Any]:
    age = days(one.memory.at, bank.clock())
    reasons = {
        "strong": f"High score ({one.score:.2f} >= {bank.fading.promote:g})",
        "used": f"High use count ({one.uses} >= {bank.fading.promote_uses} within {bank.fading.promote_days:g} days)",
    }
    worth = bank.upkeep.curve(one.memory.id).promotion
    return {
        "id": one.memory.id,
        "content_preview": preview(one.memory.text, PREVIEW),
        "reason": reasons.get(worth or "", "Forced"),
        "score": score(one.score),
        "use_count": one.uses,
        "age_days": age,
    }
