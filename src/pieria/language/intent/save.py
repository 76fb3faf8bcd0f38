"""Detect whether a message says something worth saving, and the fields to save with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from pieria.language.intent.keyterms import keyterms, names_of, tags_of
from pieria.language.intent.signals import LIKELY, SURE, best_of, judged
from pieria.language.intent.strength import MOST, PLAIN, is_critical

ASKED_FOR, TOLD = 1.5, 1.3
_FIRMLY = 0.8


@dataclass(frozen=True, slots=True)
class Saving:
    """The judgement. `phrases` caused it, `against` speaks against it."""

    confidence: float
    phrases: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    important: bool = False
    entities: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    strength: float = 1.0

    @property
    def band(self) -> Literal["save", "ask", "skip"]:
        return "save" if self.confidence > SURE else "ask" if self.confidence >= LIKELY else "skip"

    @property
    def reasoning(self) -> str:
        told = (
            f"Detected: {list(self.phrases)} importance_marker: {self.important} entities_found: {len(self.entities)}"
        )
        return f"{told} against: {list(self.against)}" if self.against else told

    def as_dict(self) -> dict[str, Any]:
        return {"band": self.band, "reasoning": self.reasoning, **asdict(self)}


def judge_saving(message: str, named: Mapping[str, str] | None = None) -> Saving:
    """Return the judgement. `named` maps names in the message to kinds, if the caller knows more than the capitals
    show.
    """
    found = judged(message, "saving", names_of(message, named))
    best = best_of(found)
    return Saving(
        confidence=best.confidence,
        phrases=best.phrases,
        against=best.against,
        important=any(one.is_marked for one in found),
        entities=keyterms(message, named),
        tags=tags_of(message),
        strength=_strength(message, best.confidence),
    )


def _strength(message: str, confidence: float) -> float:
    """Return the strength: highest for critical messages, then firm requests, then mere statements."""
    if confidence <= SURE:
        return PLAIN
    return MOST if is_critical(message) else ASKED_FOR if confidence >= _FIRMLY else TOLD
