"""The tools that find clusters and duplicates, merge or relate them, and collect or promote memories."""

from __future__ import annotations

from typing import Any

from pieria.bank import Bank
from pieria.errors import InputError
from pieria.record.decay import Fading
from pieria.record.link import DRAWN_FROM
from pieria.toolsets.host import Call
from pieria.toolsets.mnemex.words import IncompleteError, RefusedError, days, opened, preview_within, score, seconds

SHOWN = 20
PREVIEWS, PREVIEW, PAIR_PREVIEW = 3, 80, 100
ALIKE_DIGITS = 2
ACTIONS = ((0.9, "auto-merge"), (0.75, "llm-review"))
APART = "keep-separate"
APPLY, LINK = "apply", "link"
TAKEN_BACK = "`pieria undo` with the number of that change reverts it."
LISTED = 10
CANDIDATE_PREVIEW = 100
FORCED = "force=true promotes it anyway."
WHICH_CLUSTER = "cluster_memories returns the ids of clusters."
PREVIEWED = 5
WHICH = "Must specify memory_id or set auto_detect=true."
NO_VAULT = "No vault is set, so nothing can be promoted: set vault, or LTM_VAULT_PATH."


def cluster_memories(
    call: Call,
    strategy: str,
    find_duplicates: bool,
    threshold: float | None = None,
    max_cluster_size: int | None = None,
    duplicate_threshold: float | None = None,
) -> dict[str, Any]:
    if find_duplicates:
        return _duplicates(call.bank, duplicate_threshold)
    found = call.bank.upkeep.clusters(by=strategy, least=threshold, most=max_cluster_size, keep=True)
    shown = [
        {
            "id": one.id,
            "size": len(one.memories),
            "cohesion": round(one.cohesion, ALIKE_DIGITS),
            "suggested_action": _action(one.cohesion),
            "memory_ids": [memory.id for memory in one.memories],
            "content_previews": [preview_within(memory.text, PREVIEW) for memory in one.memories[:PREVIEWS]],
        }
        for one in found.found[:SHOWN]
    ]
    return {
        "mode": "clustering",
        "clusters_found": len(found),
        "strategy": strategy,
        "threshold": found.least,
        "clusters": shown,
        "message": f"Found {len(found)} clusters using {strategy} strategy",
        **_left(len(found) - len(shown), "clusters"),
        **_uncompared(found.left),
    }


def consolidate_memories(
    call: Call,
    mode: str,
    auto_detect: bool,
    cohesion_threshold: float,
    cluster_id: str | None = None,
    content: str | None = None,
) -> dict[str, Any]:
    if auto_detect:
        return _every(call.bank, mode, cohesion_threshold)
    if cluster_id is None:
        raise InputError("cluster_id", "an id, or auto_detect to be true", None, hint=WHICH_CLUSTER)
    return _consolidated(call.bank, cluster_id, mode, content)


def _every(bank: Bank, mode: str, least: float) -> dict[str, Any]:
    """Consolidate every cluster whose memories are that similar. A preview shows five."""
    found = [one for one in bank.upkeep.clusters(least=least, keep=mode == APPLY).found if one.cohesion >= least]
    if mode not in (APPLY, LINK):
        previews = [
            _merged(bank, one.id, tuple(memory.id for memory in one.memories), mode) for one in found[:PREVIEWED]
        ]
        return {
            "message": f"Found {len(found)} clusters ready for consolidation",
            "status": "preview",
            "mode": "auto_detect_preview",
            "candidates_found": len(found),
            "showing": len(previews),
            "previews": previews,
        }
    done = [_done(bank, one, mode) for one in found]
    if mode == LINK:
        made = sum(one["relations_created"] for one in done)
        told = {"linked_clusters": len(done), "total_relations_created": made}
        message = f"Linked {len(done)} clusters by {made} new relations"
    else:
        saved = sum(one["num_memories"] - 1 for one in done)
        told = {"consolidated_clusters": len(done), "total_memories_saved": saved}
        message = f"Merged {len(done)} clusters; {saved} memories fewer"
    status = "linked" if mode == LINK else "applied"
    return {"message": message, "status": status, "mode": f"auto_detect_{mode}", **told, "results": done}


def _done(bank: Bank, one: Any, mode: str) -> dict[str, Any]:
    members = tuple(memory.id for memory in one.memories)
    return _linked(bank, one.id, members) if mode == LINK else _merged(bank, one.id, members, mode)


def _consolidated(bank: Bank, cluster_id: str, mode: str, content: str | None) -> dict[str, Any]:
    members = bank.upkeep.members(cluster_id)
    if mode == LINK:
        return _linked(bank, cluster_id, members)
    made = _merged_before(bank, members)
    if made:
        raise RefusedError("It was merged already", (cluster_id,), hint=TAKEN_BACK, new_memory_id=made)
    return _merged(bank, cluster_id, members, mode, content)


def _merged(
    bank: Bank, cluster_id: str, members: tuple[str, ...], mode: str, content: str | None = None
) -> dict[str, Any]:
    merged = bank.upkeep.merge(members, text=content, dry_run=mode != APPLY)
    new, cohesion = merged.made.new, merged.made.cohesion
    done = f"Merged {len(members)} memories into {merged.id}"
    would = f"Would merge {len(members)} memories; mode apply does it"
    told = {
        "message": done if mode == APPLY else would,
        "status": "applied" if mode == APPLY else "preview",
        "cluster_id": cluster_id,
        "mode": mode,
        "can_consolidate": True,
        "num_memories": len(members),
        "cohesion": round(cohesion, ALIKE_DIGITS),
        "suggested_action": _action(cohesion),
        "merged_memory": {
            "content": merged.text,
            "tags": list(new.tags),
            "entities": list(new.entities),
            "source": new.source,
            "context": new.context,
            "strength": score(new.strength),
        },
        "original_memories": [
            {
                "id": memory.id,
                "content_preview": preview_within(memory.text, PAIR_PREVIEW),
                "tags": list(memory.tags),
                "strength": memory.strength,
                "created_at": seconds(memory.at),
            }
            for memory in merged.made.sources
        ],
        "space_saved": merged.saved,
    }
    if mode != APPLY:
        return told
    return {**told, "new_memory_id": merged.id, "archived_ids": list(members), "change": merged.change}


def _merged_before(bank: Bank, members: tuple[str, ...]) -> str | None:
    """Return the memory that an earlier merge made of these members, if there is one."""
    if any(memory is not None and memory.status == "active" for memory in map(bank.get, members)):
        return None
    drawn = [{link.source.name for link in bank.links(id, relation=DRAWN_FROM)} - {id} for id in members]
    return min(set.intersection(*drawn), default=None)


def _linked(bank: Bank, cluster_id: str, members: tuple[str, ...]) -> dict[str, Any]:
    related = bank.upkeep.relate(members)
    return {
        "message": f"Linked {len(members)} memories by {related.ties} new relations",
        "status": "linked",
        "cluster_id": cluster_id,
        "mode": LINK,
        "num_memories": len(members),
        "cohesion": round(related.cohesion, ALIKE_DIGITS),
        "relations_created": related.ties,
        "change": related.change,
    }


def _duplicates(bank: Bank, least: float | None) -> dict[str, Any]:
    found = bank.upkeep.duplicates(least=least, most=SHOWN)
    return {
        "mode": "duplicate_detection",
        "duplicates_found": found.whole,
        "threshold": found.least,
        "duplicates": [
            {
                "id1": pair.one.id,
                "id2": pair.other.id,
                "content1_preview": preview_within(pair.one.text, PAIR_PREVIEW),
                "content2_preview": preview_within(pair.other.text, PAIR_PREVIEW),
                "similarity": round(pair.similarity, ALIKE_DIGITS),
            }
            for pair in found
        ],
        "message": f"Found {found.whole} potential duplicate pairs",
        **_left(found.whole - len(found), "pairs"),
        **_uncompared(found.left),
    }


def _action(cohesion: float) -> str:
    return next((action for least, action in ACTIONS if cohesion >= least), APART)


def _left(number: int, what: str) -> dict[str, Any]:
    return {"truncated": True, f"{what}_not_shown": number} if number else {}


def _uncompared(number: int) -> dict[str, Any]:
    return {"not_compared": number} if number else {}


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
        "memory_ids": [one.memory.id for one in found.faded[:LISTED]],
        "total_affected": number,
        "message": f"{said} {number} low-scoring memories (threshold: {bank.fading.forget:g})",
    }
    if number > LISTED:
        told |= {"truncated": True, "ids_not_shown": number - LISTED}
    return {**told, "left": found.left} if found.left else told


def promote_memory(
    call: Call, auto_detect: bool, dry_run: bool, target: str, force: bool, memory_id: str | None = None
) -> dict[str, Any]:
    bank = call.bank
    if memory_id is None and not auto_detect:
        raise IncompleteError("memory_id", "an id, or auto_detect to be true", None, hint=WHICH)
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
        "candidates": [_candidate(bank, one) for one in chosen[:LISTED]],
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
    path = path or memory.meta.get("promoted_to")
    if memory.status == "promoted" and path is not None:
        problem = RefusedError("It was already promoted", (id,), promoted_to=path)
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
        "content_preview": preview_within(one.memory.text, CANDIDATE_PREVIEW),
        "reason": reasons.get(worth or "", "Forced"),
        "score": score(one.score),
        "use_count": one.uses,
        "age_days": age,
    }
