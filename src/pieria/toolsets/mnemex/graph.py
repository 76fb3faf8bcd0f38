"""The tool that shows memories with the relations between them. Finding and ranking belong to `search`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any

from pieria.record.link import Link
from pieria.toolsets.host import Call
from pieria.toolsets.mnemex.memories import type_of
from pieria.toolsets.mnemex.search import MOST, VAULT, paged
from pieria.toolsets.mnemex.words import days, score, seconds

ALL = "all"
STATUSES = ("active", "promoted", "archived")
USE_DIGITS = 2


def read_graph(
    call: Call,
    status: str,
    include_scores: bool,
    limit: int | None = None,
    page: int | None = None,
    page_size: int | None = None,
) -> dict[str, Any]:
    bank = call.bank
    by_hand = bank.vault.by_hand()
    ranked = bank.upkeep.ranked(k=MOST, status=list(STATUSES) if status == ALL else status)
    found = [one for one in ranked if one.memory.id not in by_hand or one.memory.place.partition("/")[0] != VAULT]
    relations = _between(bank.links(), {one.memory.id for one in found})
    limited = found[:limit]
    shown, paging = paged(limited, page, page_size)
    told = {one.memory.id for one in shown}
    stats = {
        "total_memories": len(found),
        "total_relations": len(relations),
        "avg_score": score(_mean(one.score for one in found)),
        "avg_use_count": round(_mean(one.used.accesses for one in found), USE_DIGITS),
        "status_filter": status,
        **({} if limit is None else {"limited_to": limit}),
    }
    return {
        "memories": [_told(one, call, scores=include_scores) for one in shown],
        "relations": [_relation(link) for link in relations if {link.source.name, link.target.name} & told],
        "stats": stats,
        **paging,
        **({"truncated": True} if len(ranked) == MOST else {}),
    }


def _between(links: Sequence[Link], ids: set[str]) -> list[Link]:
    return [link for link in links if {link.source.name, link.target.name} <= ids]


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return fmean(listed) if listed else 0.0


def _told(one: Any, call: Call, *, scores: bool) -> dict[str, Any]:
    memory = one.memory
    told = {
        "id": memory.id,
        "content": memory.text,
        "entities": list(memory.entities),
        "tags": list(memory.tags),
        "created_at": seconds(memory.at),
        "last_used": seconds(one.last_used),
        "use_count": one.used.accesses,
        "strength": memory.strength,
        "status": memory.status,
    }
    if scores:
        told |= {"score": score(one.score), "age_days": days(memory.at, call.bank.clock())}
    return told


def _relation(link: Link) -> dict[str, Any]:
    return {
        "id": link.id,
        "from": link.source.name,
        "to": link.target.name,
        "type": type_of(link),
        "strength": score(link.weight),
        "created_at": seconds(link.known_from),
    }
