"""The tools that find clusters and duplicates, and merge or relate them."""

from __future__ import annotations

from typing import Any

from pieria.bank import Bank
from pieria.record.link import DRAWN_FROM
from pieria.toolsets.host import Call
from pieria.toolsets.mnemex.refusals import RefusedError
from pieria.toolsets.mnemex.words import preview, score, seconds

SHOWN = 20
PREVIEWS, PREVIEW, PAIR_PREVIEW = 3, 80, 100
ALIKE_DIGITS = 2
ACTIONS = ((0.9, "auto-merge"), (0.75, "llm-review"))
APART = "keep-separate"
APPLY, LINK = "apply", "link"
TAKEN_BACK = "`pieria undo` with the number of that change reverts it."


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
            "content_previews": [preview(memory.text, PREVIEW) for memory in one.memories[:PREVIEWS]],
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


def consolidate_memories(call: Call, cluster_id: str, mode: str, content: str | None = None) -> dict[str, Any]:
    bank = call.bank
    members = bank.upkeep.members(cluster_id)
    if mode == LINK:
        return _linked(bank, cluster_id, members)
    made = _merged_before(bank, members)
    if made:
        raise RefusedError("It was merged already", (cluster_id,), hint=TAKEN_BACK, new_memory_id=made)
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
                "content_preview": preview(memory.text, PAIR_PREVIEW),
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
                "content1_preview": preview(pair.one.text, PAIR_PREVIEW),
                "content2_preview": preview(pair.other.text, PAIR_PREVIEW),
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
