"""The results of a recall and of a context.

A recall has hits with their reasons, the confidence, and the plan that was run. A context has its text, its size, its
memories, and what was left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from pieria.record.memory import Memory
from pieria.record.reply import Reply, told

LIKELY = 0.5
UNSURE = 0.3
"""A context below this confidence is left out of a prompt: it would only fill it."""
"""An answer is more likely present than absent from this confidence on."""


@dataclass(frozen=True, slots=True)
class Overturned(Reply):
    """Why a memory no longer holds: the id of the later memory, and when that one was said.

    A fact may end without a successor: then `by` is None and `at` is when the fact ended.
    """

    by: str | None
    at: datetime

    def __str__(self) -> str:
        if self.by is None:
            return f"no longer so since {self.at.date().isoformat()}"
        return f"overturned by {self.by} of {self.at.date().isoformat()}"


@dataclass(frozen=True, slots=True)
class Hit:
    """One result. `score` is from 0 to 1 and follows from `why`. A hit that was moved has the score of its new place.
    `snippet` is the passage that matched."""

    memory: Memory
    score: float
    why: Mapping[str, float]
    snippet: str
    overturned: Overturned | None = None
    reply: Memory | None = None
    """The memory that follows a hit which is itself a question, unless the same page has it as a hit."""

    def as_dict(self) -> dict[str, Any]:
        return {
            **told(self),
            "score": round(self.score, 6),
            "why": {name: round(value, 9) for name, value in self.why.items()},
        }

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Hit:
        """Return the hit that `as_dict` has written."""
        over, reply = told["overturned"], told["reply"]
        return cls(
            Memory.from_dict(told["memory"]),
            told["score"],
            told["why"],
            told["snippet"],
            Overturned(over["by"], datetime.fromisoformat(over["at"])) if over else None,
            Memory.from_dict(reply) if reply else None,
        )


@dataclass(frozen=True, slots=True)
class Recall(Sequence[Hit]):
    """The hits, best first."""

    query: str
    hits: tuple[Hit, ...]
    confidence: float
    cursor: str | None = None
    plan: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_doubtful(self) -> bool:
        """Return whether the answer is more likely absent than present."""
        return self.confidence < LIKELY

    def without(self, part: str, reason: str) -> Recall:
        """Return this recall with a note in its plan that a part was left out."""
        return replace(self, plan={**self.plan, "left_out": {**self.plan.get("left_out", {}), part: reason}})

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, index: Any) -> Any:
        return self.hits[index]

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def as_dict(self) -> dict[str, Any]:
        return {**told(self), "confidence": round(self.confidence, 6)}

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Recall:
        """Return the recall that `as_dict` has written."""
        hits = tuple(map(Hit.from_dict, told["hits"]))
        return cls(told["query"], hits, told["confidence"], told["cursor"], told["plan"])


@dataclass(frozen=True, slots=True)
class Item(Reply):
    """A memory in a context, with the parts that show it; `full` shows the whole memory."""

    id: str
    kind: str
    title: str
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Context:
    """`text` is empty if there is nothing to show, or no room for it.

    `left_out` counts by part what did not fit. `known_at` is the moment of the context. With a question, `confidence`
    is the chance that the answer was found.
    """

    text: str
    tokens: int
    items: tuple[Item, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)
    known_at: datetime | None = None
    confidence: float | None = None

    @property
    def is_worth_telling(self) -> bool:
        """Return whether it belongs into a prompt: it has entries, and the bank may know the answer."""
        return bool(self.items) and self.confidence is not None and self.confidence >= UNSURE

    def as_dict(self) -> dict[str, Any]:
        return {**told(self), "confidence": None if self.confidence is None else round(self.confidence, 6)}
