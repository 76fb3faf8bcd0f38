"""Detect whether a message asks for something said earlier, and what to search for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from pieria.language.analyser import STOP_WORDS
from pieria.language.analyser.stem import stem
from pieria.language.intent.keyterms import keyterms, tags_of
from pieria.language.intent.phrases import meanings, words
from pieria.language.intent.signals import LIKELY, SURE, Judged, best_of, judged

TECHNOLOGY = "technology"
"""The kind of a name that people have opinions on."""
_WORD = re.compile(r"[^\W_][\w+#@/.'’-]*")


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
