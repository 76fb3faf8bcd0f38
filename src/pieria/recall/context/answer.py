"""What a context is: the text, what it takes, of what it tells, and what it had no room for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pieria.record.time import iso


@dataclass(frozen=True, slots=True)
class Item:
    """A memory that a context tells of, and in which parts of it; whole is what stands in `full`."""

    id: str
    kind: str
    title: str
    parts: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        return {"id": self.id, "kind": self.kind, "title": self.title, "parts": list(self.parts)}


@dataclass(frozen=True, slots=True)
class Context:
    """`text` is empty where there is nothing to tell, or no room for it.

    `left_out` says of each part how much there was no room for. `known_at` is the moment that it speaks of. Where
    something was asked, `confidence` says how sure it is that the answer is among what was found.
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
