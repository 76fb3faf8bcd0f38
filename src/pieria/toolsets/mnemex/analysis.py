"""The tools that judge a message: is it worth saving, does it ask for saved memories?"""

from __future__ import annotations

from typing import Any

from pieria.toolsets.host import Call

EMPTY = "The message is empty"
SKIP, SAVE, SEARCH = "skip", "save", "search"
DIGITS = 2


def analyze_message(call: Call, message: str) -> dict[str, Any]:
    if not message.strip():
        return _saving(0.0, SKIP, EMPTY)
    found = call.bank.text.analyze(message).saving
    signals = _signals(found, importance_marker=found.important)
    return _saving(found.confidence, found.band, found.reasoning, found.entities, found.tags, found.strength, signals)


def analyze_for_recall(call: Call, message: str) -> dict[str, Any]:
    if not message.strip():
        return _recalling(0.0, SKIP, EMPTY)
    found = call.bank.text.analyze(message).recalling
    return _recalling(
        found.confidence, found.band, found.reasoning, found.query, found.entities, found.tags, _signals(found)
    )


def _saving(
    confidence: float,
    band: str,
    reasoning: str,
    entities: tuple[str, ...] = (),
    tags: tuple[str, ...] = (),
    strength: float = 1.0,
    signals: dict[str, Any] | None = None,
) -> dict[str, Any]:
    return {
        "should_save": band == SAVE,
        "confidence": round(confidence, DIGITS),
        "action": band,
        "suggested_entities": list(entities),
        "suggested_tags": list(tags),
        "suggested_strength": strength,
        "reasoning": reasoning,
        "phrase_signals": signals or {},
    }


def _recalling(
    confidence: float,
    band: str,
    reasoning: str,
    query: str = "",
    entities: tuple[str, ...] = (),
    tags: tuple[str, ...] = (),
    signals: dict[str, Any] | None = None,
) -> dict[str, Any]:
    return {
        "should_search": band == SEARCH,
        "confidence": round(confidence, DIGITS),
        "action": band,
        "suggested_query": query,
        "suggested_tags": list(tags),
        "suggested_entities": list(entities),
        "reasoning": reasoning,
        "phrase_signals": signals or {},
    }


def _signals(found: Any, **more: bool) -> dict[str, Any]:
    """Return the signals that are not empty."""
    told = {"matched_phrases": list(found.phrases), "against": list(found.against), **more}
    return {name: value for name, value in told.items() if value}
