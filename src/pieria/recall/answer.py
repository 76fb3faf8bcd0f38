"""What a recall answers: hits with their reasons, how sure it is that the answer is among them, and what was done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pieria.record.memory import Memory


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that answers. `score` is from 0 to 1 and follows from `why`; `snippet` is the passage that matched."""

    memory: Memory
    score: float
    why: Mapping[str, float]
    snippet: str

    def as_dict(self) -> dict[str, Any]:
        return {
            "memory": self.memory.as_dict(),
            "score": round(self.score, 6),
            "why": {name: round(value, 9) for name, value in self.why.items()},
            "snippet": self.snippet,
        }


@dataclass(frozen=True, slots=True)
class Recall(Sequence[Hit]):
    """The hits, best first."""

    query: str
    hits: tuple[Hit, ...]
    confidence: float
    cursor: str | None = None
    plan: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, index: Any) -> Any:
        return self.hits[index]

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def as_dict(self) -> dict[str, Any]:
        return {
            "query": self.query,
            "hits": [hit.as_dict() for hit in self.hits],
            "confidence": round(self.confidence, 6),
            "cursor": self.cursor,
            "plan": dict(self.plan),
        }
