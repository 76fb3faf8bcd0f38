"""The result of a context: the text, its size, its memories, and what was left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pieria.record.time import iso


@dataclass(frozen=True, slots=True)
class Item:
    """A memory in a context, with the parts that show it; `full` shows the whole memory."""

    id: str
    kind: str
    title: str
    parts: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        return {"id": self.id, "kind": self.kind, "title": self.title, "parts": list(self.parts)}


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

    def as_dict(self) -> dict[str, Any]:
        return {
            "text": self.text,
            "tokens": self.tokens,
            "items": [item.as_dict() for item in self.items],
            "left_out": dict(self.left_out),
            "known_at": None if self.known_at is None else iso(self.known_at),
            "confidence": None if self.confidence is None else round(self.confidence, 6),
        }
