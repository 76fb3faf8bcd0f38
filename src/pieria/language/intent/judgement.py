"""Detect whether a message says something worth saving, and the fields to save with it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from pieria.language.analyser import STOP_WORDS
from pieria.language.analyser.stem import stem
from pieria.language.intent.keyterms import keyterms, names_of, tags_of
from pieria.language.intent.phrases import meanings, phrases, words
from pieria.language.intent.signals import LIKELY, SURE, Judged, best_of, judged
from pieria.language.letters import lowered

ASKED_FOR, TOLD = 1.5, 1.3
_FIRMLY = 0.8

TECHNOLOGY = "technology"
"""The kind of a name that people have opinions on."""
_WORD = re.compile(r"[^\W_][\w+#@/.'’-]*")

PLAIN, LEAST, MOST = 1.0, 0.9, 2.0
IMPORTANT, CRITICAL = 0.4, 0.8
_SHORT, _LONG = 200, 1_000
"""Characters: a text up to the first is short; beyond the second, more length adds nothing."""
_FEW, _MANY = 3, 8
"""The same limits for entities."""
_BY_LENGTH, _BY_ENTITIES, _BY_ASKING = 0.1, 0.2, -0.1


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
    groups: tuple[str, ...] = ()
    """The names of the groups of phrases that caused it."""
    critical: bool = False

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
        groups=best.groups,
        critical=is_critical(message),
    )


def _strength(message: str, confidence: float) -> float:
    """Return the strength: highest for critical messages, then firm requests, then mere statements."""
    if confidence <= SURE:
        return PLAIN
    return MOST if is_critical(message) else ASKED_FOR if confidence >= _FIRMLY else TOLD


@dataclass(frozen=True, slots=True)
class Recalling:
    """The judgement. `phrases` caused it, `against` speaks against it, `query` is what to search for."""

    confidence: float
    query: str
    phrases: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    @property
    def band(self) -> Literal["search", "ask", "skip"]:
        return "search" if self.confidence > SURE else "ask" if self.confidence >= LIKELY else "skip"

    @property
    def reasoning(self) -> str:
        told = f"Detected: {list(self.phrases)} entities_found: {len(self.entities)}"
        return f"{told} against: {list(self.against)}" if self.against else told

    def as_dict(self) -> dict[str, Any]:
        return {"band": self.band, "reasoning": self.reasoning, **asdict(self)}


def judge_recalling(message: str, named: Mapping[str, str] | None = None) -> Recalling:
    """Return the judgement. `named` maps names in the message to kinds, if the caller knows more than the capitals
    show.
    """
    best = best_of(judged(message, "recalling"))
    entities = keyterms(message, named)
    query = _query(message, best, named or {})
    return Recalling(best.confidence, query, best.phrases, best.against, entities, tags_of(message))


def _query(message: str, best: Judged, named: Mapping[str, str]) -> str:
    """Return the topic of the sentence; if it has none, that of the message."""
    asked = message[best.start : best.end]
    about = " ".join(_telling(asked) or _telling(message)) or " ".join(message.split())
    if named.get(about) == TECHNOLOGY:
        meant = [means for said, means in meanings("query", "opinions") if said.search(asked.lower())]
        about = " ".join([about, *meant])
    return about


def _telling(text: str) -> list[str]:
    """Return the words of a text that carry its topic, as spelt."""
    idle = words("query", "idle")
    found = [word.rstrip(".'’-") for word in _WORD.findall(text)]
    bare = [word.removesuffix("'s").removesuffix("’s") for word in found]
    return [word for word in bare if word.lower() not in idle and stem(word.lower().replace("'", "")) not in STOP_WORDS]


def judge_strength(text: str, entities: Sequence[str]) -> float:
    """Return a strength from 0.9 to 2. A question gets slightly less than a statement."""
    told = PLAIN
    told += _BY_LENGTH * _share(len(text.strip()), _SHORT, _LONG)
    told += _BY_ENTITIES * _share(len(entities), _FEW, _MANY)
    told += CRITICAL if is_critical(text) else IMPORTANT if is_important(text) else 0.0
    told += _BY_ASKING if text.rstrip().endswith(("?", "？")) else 0.0
    return round(min(MOST, max(LEAST, told)), 2)


def is_important(text: str) -> bool:
    return any(said.search(lowered(text)) for said in phrases("strength", "important"))


def is_critical(text: str) -> bool:
    return any(said.search(lowered(text)) for said in phrases("strength", "critical"))


def _share(value: int, least: int, most: int) -> float:
    return min(1.0, max(0.0, (value - least) / (most - least)))
