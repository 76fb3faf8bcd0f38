"""Answers to a query or, without one, the best retained memories, each with its state."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from pieria.bank import Bank
from pieria.record.memory import Memory

POLICY, LEFT = "decay", "retention"
SHORT, LONG = "stm", "ltm"
VAULT = "vault"
"""The wing of handwritten notes."""
REVIEW, DENSE = "review", "dense"
LASTING = 0.5
"""The score of a lasting memory if there is no query: that of a half-faded one."""
FURTHER, MOST = 200, 10_000
"""Page size after the first page, and how many memories are ranked without a query."""


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
    found = _once(_own(page, asked))
    while len(_answers(found)) < asked.k and page.cursor is not None:
        page = _recalled(bank, asked, FURTHER, page.cursor)
        found = _once([*found, *_own(page, asked)])
    shown = {hit.memory.id for hit in _answers(found)[: asked.k]}
    return [hit for hit in found if REVIEW in hit.why or hit.memory.id in shown], _warnings(page.plan, asked)


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
    return Found(left, asked.weight * hit.score, asked.layer, similarity, bool(hit.why.get(REVIEW)))


def _warnings(plan: Any, asked: Asked) -> list[str]:
    embedding = plan["embedding"]
    if not asked.by_meaning:
        return []
    said = [str(embedding["note"])] if embedding.get("note") else []
    if embedding.get("pending"):
        said.append(f"Vectors not yet made: {embedding['pending']:,}. These texts were searched by their words.")
    return said
