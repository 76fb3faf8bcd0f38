"""Search among the memories, and among memories and notes of the vault together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from pieria.bank import Bank
from pieria.toolsets.call import Spoken
from pieria.toolsets.host import Call
from pieria.toolsets.mnemex.query import LONG, SHORT, VAULT, Answer, Asked, Found, answer, same_words
from pieria.toolsets.mnemex.words import days, looked_for, preview, score, seconds, title

LABELS = {SHORT: "STM", LONG: "LTM"}
PAGE_SIZE = 10
TITLE, SAID = 60, 150
"""Characters of a title, and of a content in words."""
NOTHING = "No results found."
ALIKE_DIGITS = 4


def search_memory(
    call: Call,
    top_k: int,
    status: str | list[str],
    include_review_candidates: bool,
    query: str | None = None,
    tags: list[str] | None = None,
    window_days: int | None = None,
    min_score: float | None = None,
    use_embeddings: bool | None = None,
    page: int | None = None,
    page_size: int | None = None,
    preview_length: int | None = None,
) -> dict[str, Any]:
    bank = call.bank
    asked = Asked(
        query,
        top_k,
        looked_for(tags),
        status,
        _since(bank, window_days),
        min_score,
        by_meaning=bank.habits.search_by_meaning if use_embeddings is None else use_embeddings,
        reviews=include_review_candidates,
    )
    found = answer(bank, asked)
    shown, paging = _paged(found.found, page, page_size)
    length = _length(bank, preview_length)
    return {
        "count": len(shown),
        "results": [_row(one, bank.clock(), length) for one in shown],
        **paging,
        **_warned(found.warnings),
    }


def search_unified(
    call: Call,
    limit: int,
    verbose: bool,
    stm_weight: float | None = None,
    ltm_weight: float | None = None,
    query: str | None = None,
    tags: list[str] | None = None,
    window_days: int | None = None,
    min_score: float | None = None,
    page: int | None = None,
    page_size: int | None = None,
    preview_length: int | None = None,
) -> Spoken:
    bank = call.bank
    short = bank.habits.short_term_weight if stm_weight is None else stm_weight
    long = bank.habits.long_term_weight if ltm_weight is None else ltm_weight
    named, since = looked_for(tags), _since(bank, window_days)
    paths, by_hand = bank.vault.paths(), bank.vault.by_hand()
    layers = (
        Asked(query, limit, named, "active", since, min_score, weight=short, beyond=by_hand),
        Asked(query, limit, named, "promoted", fades=False, layer=LONG, weight=long),
        Asked(query, limit, named, "active", fades=False, place=VAULT, layer=LONG, weight=long, among=by_hand),
    )
    found = _together([answer(bank, one) for one in layers if one.weight], limit, paths)
    shown, paging = _paged(found.found, page, page_size)
    length = _length(bank, preview_length)
    unread = bank.vault.unread() if long else None
    told = {
        "count": len(shown),
        "results": [_unified(one, length, paths) for one in shown],
        **paging,
        **_warned([*found.warnings, *([unread] if unread else [])]),
    }
    return Spoken(told, "\n".join(_in_words(shown, verbose, paths)))


def _since(bank: Bank, window_days: int | None) -> datetime | None:
    return None if window_days is None else bank.clock() - timedelta(days=window_days)


def _length(bank: Bank, given: int | None) -> int:
    return bank.habits.preview_chars if given is None else given


def _together(answers: Sequence[Answer], limit: int, paths: Mapping[str, str]) -> Answer:
    """What says the very same is one result, of whichever layer it counts more. So are a memory and the note that
    another system made of it.
    """
    found = [one for each in answers for one in each.found]
    noted = {one.memory.meta.get("promoted_to") for one in found} - {None}
    own = [one for one in found if paths.get(one.memory.id) not in noted]
    best: dict[str, Found] = {}
    for one in sorted(own, key=lambda one: (-one.score, one.memory.row)):
        best.setdefault(same_words(one.memory.text), one)
    warnings = dict.fromkeys(warning for each in answers for warning in each.warnings)
    return Answer(list(best.values())[:limit], list(warnings))


def _paged(found: list[Found], page: int | None, size: int | None) -> tuple[list[Found], dict[str, Any]]:
    """All of them, or a page; only who asks for one is told of pages."""
    if page is None and size is None:
        return found, {}
    number, size = page or 1, size or PAGE_SIZE
    pages = -(-len(found) // size)
    told = {
        "page": number,
        "page_size": size,
        "total_count": len(found),
        "total_pages": pages,
        "has_more": number < pages,
        "has_previous": number > 1,
    }
    return found[(number - 1) * size : number * size], {"pagination": told}


def _row(one: Found, now: datetime, length: int) -> dict[str, Any]:
    memory, left = one.memory, one.left
    told = {
        "id": memory.id,
        "content": preview(memory.text, length),
        "tags": list(memory.tags),
        "score": score(one.score),
        "decay_score": score(left.score),
        "similarity": None if one.similarity is None else round(one.similarity, ALIKE_DIGITS),
        "use_count": left.used.accesses,
        "last_used": seconds(left.last_used),
        "age_days": days(memory.at, now),
        "review_priority": score(left.urgency) or None,
        "status": memory.status,
    }
    return {**told, "review": True} if one.is_review else told


def _unified(one: Found, length: int, paths: Mapping[str, str]) -> dict[str, Any]:
    memory = one.memory
    return {
        "content": preview(memory.text, length),
        "title": title(memory, TITLE),
        "source": one.layer,
        "score": score(one.score),
        "path": paths.get(memory.id),
        "memory_id": memory.id,
        "tags": list(memory.tags),
        "created_at": seconds(memory.at),
        "last_used": seconds(one.left.last_used),
    }


def _in_words(found: Sequence[Found], verbose: bool, paths: Mapping[str, str]) -> Iterator[str]:
    if not found:
        yield NOTHING
        return
    yield f"Found {len(found)} results:"
    for number, one in enumerate(found, 1):
        memory = one.memory
        yield f"\n{number}. [{LABELS[one.layer]}] {title(memory, TITLE)} (score: {one.score:.3f})"
        yield f"   {' '.join(preview(memory.text, SAID).split())}"
        if verbose:
            yield f"   Tags: {', '.join(memory.tags) or 'none'}"
            if memory.id in paths:
                yield f"   Path: {paths[memory.id]}"
            yield f"   ID: {memory.id}"


def _warned(warnings: list[str]) -> dict[str, Any]:
    return {"warnings": warnings} if warnings else {}
