"""The result of a context: the text, its size, its memories, and what was left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pieria.record.reply import Reply, told


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

    def as_dict(self) -> dict[str, Any]:
        return {**told(self), "confidence": None if self.confidence is None else round(self.confidence, 6)}
