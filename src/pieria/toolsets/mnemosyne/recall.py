"""The tool `recall`: hits in the original's shape, with reasons and confidence."""

from __future__ import annotations

from typing import Any

from pieria.errors import InputError
from pieria.toolsets.host import Call
from pieria.toolsets.mnemosyne.words import here, told

WEIGHTS = {"dense": 0.5, "lexical": 0.3, "importance": 0.2}
LEAST = 1e-7
"""The value that replaces a weight of 0: invisible in a score, but matches of this kind are still looked for.
Importance alone finds nothing, and vectors may be missing.
"""
DIGITS = 6


def recall(
    call: Call,
    query: str,
    top_k: int,
    author_id: str | None = None,
    author_type: str | None = None,
    channel_id: str | None = None,
    vec_weight: float | None = None,
    fts_weight: float | None = None,
    importance_weight: float | None = None,
) -> dict[str, Any]:
    bank = call.bank
    weights = _weights(vec_weight, fts_weight, importance_weight)
    found = bank.recall(
        query,
        k=top_k,
        author=author_id,
        author_type=author_type,
        channel=channel_id,
        policy="hybrid" if weights is None else "weighted",
        weights=None if weights is None else {name: max(weight, LEAST) for name, weight in weights.items()},
    )
    results = [
        {
            **told(hit.memory),
            "score": round(hit.score, DIGITS),
            "snippet": hit.snippet,
            "why": {name: round(value, DIGITS) for name, value in hit.why.items()},
        }
        for hit in found
    ]
    embedding = found.plan.get("embedding", {})
    return {
        "status": "ok",
        "count": len(results),
        "results": results,
        "confidence": round(found.confidence, DIGITS),
        "policy": found.plan["policy"],
        "weights": weights,
        "warnings": [*_warnings(query, embedding, weights), *_doubts(found)],
        **here(call, bank),
    }


def _weights(vec: float | None, fts: float | None, importance: float | None) -> dict[str, float] | None:
    """Return the weights as shares of 1, so that scores are comparable; None if none was given."""
    given = {"dense": vec, "lexical": fts, "importance": importance}
    if all(weight is None for weight in given.values()):
        return None
    weights = {name: WEIGHTS[name] if weight is None else weight for name, weight in given.items()}
    whole = sum(weights.values())
    if not whole:
        hint = "Leave the weights out, or give one of them more than 0."
        raise InputError("vec_weight", "a weight above 0 among the three", vec, hint=hint)
    return {name: weight / whole for name, weight in weights.items()}


def _doubts(found: Any) -> list[str]:
    if found and found.is_doubtful:
        return ["confidence: these are the nearest hits, and probably no answer."]
    return []


def _warnings(query: str, embedding: dict[str, Any], weights: dict[str, float] | None) -> list[str]:
    said = [] if query.strip() else ["query: an empty query finds nothing."]
    note = embedding.get("reason") or embedding.get("note")
    if note:
        said.append(str(note))
    if weights and not embedding.get("model"):
        said.append("vec_weight: there are no vectors, so it has no effect.")
    if embedding.get("pending"):
        said.append(f"Vectors not yet made: {embedding['pending']:,}. These texts were searched by their words.")
    return said
