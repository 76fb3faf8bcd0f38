"""The tools that search memories, alone or together with the vault's notes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypeVar

from pieria.bank import Bank
from pieria.record.memory import Memory
from pieria.toolsets.call import Spoken
from pieria.toolsets.host import Call
from pieria.toolsets.mnemex.words import days, looked_for, preview, score, seconds, title

T = TypeVar("T")
SHORT, LONG = "stm", "ltm"
PROMOTED = "promoted"
LOOKING = 2.0
"""Most seconds for notes that changed since the last look into the vault."""
VAULT = "vault"
"""The wing of handwritten notes."""
LABELS = {SHORT: "STM", LONG: "LTM"}
PAGE_SIZE = 10
TITLE, SAID = 60, 150
"""Longest title and longest content in the text reply, in characters."""
NOTHING = "No results found."
ALIKE_DIGITS = 4
POLICY, LEFT = "decay", "retention"
REVIEW, DENSE = "review", "dense"
LASTING = 0.5
"""The score of a lasting memory if there is no query: that of a half-faded one."""
FURTHER, FURTHEST, MOST = 200, 1_000, 10_000
"""Size of the second page, the largest, and how many memories are ranked without a query."""


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
    why: bool = False,
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
    shown, paging = paged(found.found, page, page_size)
    length = _length(bank, preview_length)
    return {
        "count": len(shown),
        "results": [_row(one, bank.clock(), length, why=why) for one in shown],
        **paging,
        **_warned(found.warnings),
    }


def search_unified(
    call: Call,
    limit: int,
    status: str | list[str],
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
    unread = bank.vault.look(seconds=LOOKING) if long else None
    paths, by_hand = bank.vault.paths(), bank.vault.by_hand()
    wanted = [status] if isinstance(status, str) else status
    kept = [one for one in wanted if one != PROMOTED]
    promoted = [PROMOTED] if PROMOTED in wanted else []
    lasting = (
        Asked(query, limit, named, promoted, fades=False, layer=LONG, weight=long),
        Asked(query, limit, named, "active", fades=False, place=VAULT, layer=LONG, weight=long, among=by_hand),
    )
    answers = [answer(bank, one) for one in lasting if one.weight]
    if short:
        enough = _last_score(_together(answers, limit, paths).found, limit)
        fading = Asked(query, limit, named, kept, since, min_score, weight=short, beyond=by_hand, enough=enough)
        answers.insert(0, answer(bank, fading))
    found = _together(answers, limit, paths)
    shown, paging = paged(found.found, page, page_size)
    length = _length(bank, preview_length)
    told = {
        "count": len(shown),
        "results": [_unified(one, length, paths) for one in shown],
        **paging,
        **_warned([*found.warnings, *([unread] if unread else [])]),
    }
    return Spoken(told, "\n".join(_in_words(shown, verbose, paths)))


def _last_score(found: Sequence[Found], limit: int) -> float:
    """Return the score that a further result must exceed to be shown."""
    return found[limit - 1].score if 0 < limit <= len(found) else 0.0


def _since(bank: Bank, window_days: int | None) -> datetime | None:
    return None if window_days is None else bank.clock() - timedelta(days=window_days)


def _length(bank: Bank, given: int | None) -> int:
    return bank.habits.preview_chars if given is None else given


def _together(answers: Sequence[Answer], limit: int, paths: Mapping[str, str]) -> Answer:
    """Merge answers: of results with equal texts, the best score stays. A memory and the note that another system made
    of it also count as one.
    """
    found = [one for each in answers for one in each.found]
    noted = {path: one.memory.id for one in found if isinstance(path := one.memory.meta.get("promoted_to"), str)}
    own = [one for one in found if noted.get(paths.get(one.memory.id, "")) in (None, one.memory.id)]
    best: dict[str, Found] = {}
    for one in sorted(own, key=lambda one: (-one.score, one.memory.row)):
        best.setdefault(same_words(one.memory.text), one)
    warnings = dict.fromkeys(warning for each in answers for warning in each.warnings)
    return Answer(list(best.values())[:limit], list(warnings))


def paged(found: list[T], page: int | None, size: int | None) -> tuple[list[T], dict[str, Any]]:
    """Return all results, or one page if the caller asked for pages."""
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


def _row(one: Found, now: datetime, length: int, *, why: bool) -> dict[str, Any]:
    memory, left = one.memory, one.left
    told = {
        "id": memory.id,
        "content": preview(memory.text, length),
        "tags": list(memory.tags),
        "score": score(one.score),
        "similarity": None if one.similarity is None else round(one.similarity, ALIKE_DIGITS),
        "use_count": left.used.accesses,
        "last_used": seconds(left.last_used),
        "age_days": days(memory.at, now),
        "review_priority": score(left.urgency) or None,
        "status": memory.status if memory.status != "active" else None,
    }
    if one.is_review:
        told["review"] = True
    return {**told, "decay_score": score(left.score), "why": _reasons(one)} if why else told


def _reasons(one: Found) -> dict[str, float]:
    return {name: score(value) for name, value in (one.why or {LEFT: one.left.retention}).items()}


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


@dataclass(frozen=True, slots=True)
class Asked:
    """One query of a layer. `fades=False` ignores a memory's age."""

    query: str | None
    k: int
    tags: Sequence[str] | None = None
    status: str | Sequence[str] = "active"
    used_since: datetime | None = None
    least: float | None = None
    by_meaning: bool = True
    reviews: bool = False
    fades: bool = True
    place: str | None = None
    layer: str = SHORT
    weight: float = 1.0
    beyond: Collection[str] = ()
    among: Collection[str] | None = None
    """`beyond` holds ids of handwritten notes to leave out; `among` holds the only ids to keep."""
    enough: float = 0.0
    """Do not look further for results without a better score."""


class Found(NamedTuple):
    """One result. `similarity` is that of meaning, if it was compared. A review is shown because it would soon be
    forgotten.
    """

    left: Any
    """The retention, as `upkeep.retained` returns it."""
    score: float
    layer: str
    similarity: float | None = None
    is_review: bool = False
    why: Mapping[str, float] | None = None

    @property
    def memory(self) -> Memory:
        memory: Memory = self.left.memory
        return memory


@dataclass(slots=True)
class Answer:
    found: list[Found] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def answer(bank: Bank, asked: Asked) -> Answer:
    if not asked.status:
        return Answer()
    if asked.query is None or not asked.query.strip():
        return Answer(_best_kept(bank, asked))
    hits, warnings = _hits(bank, asked)
    left = bank.upkeep.retained([hit.memory.id for hit in hits]) if hits else {}
    return Answer([_found(hit, left[hit.memory.id], asked) for hit in hits], warnings)


def _hits(bank: Bank, asked: Asked) -> tuple[list[Any], list[str]]:
    """Return `k` hits if there are as many. Read further pages while other hits take up the places."""
    page = _recalled(bank, asked, asked.k, None)
    # Only the first page has reviews, besides its answers.
    found, further = _once(_own(page, asked)), FURTHER
    while len(_answers(found)) < asked.k and page.cursor is not None and _may_reach(page, asked):
        page = _recalled(bank, asked, further, page.cursor)
        # Each page ranks those before it again.
        further = min(2 * further, FURTHEST)
        found = _once([*found, *_own(page, asked)])
    shown = {hit.memory.id for hit in _answers(found)[: asked.k]}
    return [hit for hit in found if REVIEW in hit.why or hit.memory.id in shown], _warnings(page.plan, asked)


def _may_reach(page: Any, asked: Asked) -> bool:
    """Return whether the hits after a page, which score no better, may be shown."""
    last = min((hit.score for hit in _answers(list(page))), default=1.0)
    return bool(asked.weight * last > asked.enough)


def _answers(found: list[Any]) -> list[Any]:
    return [hit for hit in found if REVIEW not in hit.why]


def _recalled(bank: Bank, asked: Asked, k: int, cursor: str | None) -> Any:
    return bank.recall(
        asked.query or "",
        k=k,
        cursor=cursor,
        tags=asked.tags,
        status=asked.status,
        place=asked.place,
        used_since=asked.used_since,
        least_retention=asked.least,
        policy=POLICY,
        weights=None if asked.fades else {LEFT: 0.0},
        review=asked.reviews,
        by_meaning=asked.by_meaning,
        matching=True,
        counted=False,
    )


def _own(found: Iterable[Any], asked: Asked) -> list[Any]:
    def is_own(memory: Memory) -> bool:
        by_hand = memory.id in asked.beyond and memory.place.partition("/")[0] == VAULT
        return not by_hand and (asked.among is None or memory.id in asked.among)

    return [one for one in found if is_own(one.memory)]


def same_words(text: str) -> str:
    """Return a key that is equal for texts with the same words."""
    return " ".join(text.casefold().split())


def _once(hits: Iterable[Any]) -> list[Any]:
    """Return the hits without copies; the first, which scores best, stays."""
    best: dict[str, Any] = {}
    for hit in hits:
        best.setdefault(same_words(hit.memory.text), hit)
    return list(best.values())


def _best_kept(bank: Bank, asked: Asked) -> list[Found]:
    least = asked.least or 0.0
    ranked = bank.upkeep.ranked(
        k=MOST if asked.beyond or asked.among is not None else asked.k,
        tags=asked.tags,
        status=asked.status,
        place=asked.place,
        used_since=asked.used_since,
        least=least,
    )
    return [
        Found(one, asked.weight * (one.score if asked.fades else LASTING), asked.layer)
        for one in _own(ranked, asked)[: asked.k]
    ]


def _found(hit: Any, left: Any, asked: Asked) -> Found:
    similarity = max(0.0, hit.why[DENSE]) if asked.by_meaning and DENSE in hit.why else None
    return Found(left, asked.weight * hit.score, asked.layer, similarity, bool(hit.why.get(REVIEW)), hit.why)


def _warnings(plan: Any, asked: Asked) -> list[str]:
    embedding = plan["embedding"]
    if not asked.by_meaning:
        return []
    said = [str(embedding["note"])] if embedding.get("note") else []
    if embedding.get("pending"):
        said.append(f"Vectors not yet made: {embedding['pending']:,}. These texts were searched by their words.")
    return said
