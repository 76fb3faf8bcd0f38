"""Why a hit was found, and what an answer lacks, in words for people.

It reads the plan of each answer, so it works for any policy and any weights. No rich here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pieria.doors.cli.shown.words import counted

if TYPE_CHECKING:
    from pieria import Hit, Recall

PRODUCT = "product(feature ** weight)"
OFF = "none of its features has a weight"
"""The plan's text for an arm without weights."""
MATTERS = 0.05
"""Smallest share of all reasons, for and against a hit, at which a reason is shown."""


def reasons(found: Recall, hit: Hit) -> list[str]:
    """Return the reasons of a hit's score, strongest first: the amount that each adds, or its factor. A reranker's
    score comes first, since it decides the rank.
    """
    placed = [f"rerank {hit.why['rerank']:.2f}"] if "rerank" in hit.why else []
    return placed + _weighed(found, hit)


def _weighed(found: Recall, hit: Hit) -> list[str]:
    weights = found.plan["weights"]
    if found.plan["scoring"] == PRODUCT:
        factors = {name: math.pow(max(0.0, hit.why.get(name, 0.0)), weights[name]) for name in weights if weights[name]}
        smallest = sorted(factors, key=factors.__getitem__)
        telling = smallest[:1] + [name for name in smallest[1:] if factors[name] <= 1 - MATTERS]
        return [f"{name} ×{factors[name]:.2f}" for name in telling]
    shares = {name: weights[name] * value for name, value in hit.why.items() if name in weights}
    least = MATTERS * math.fsum(map(abs, shares.values()))
    strongest = sorted(shares, key=lambda name: -abs(shares[name]))
    return [f"{name} {shares[name]:+.2f}" for name in strongest if abs(shares[name]) >= least]


def lacking(found: Recall) -> str:
    """Return what was left out and its effect, on one line; empty if the answer is complete."""
    plan = found.plan
    return "; ".join([*_arms(plan), *_vectors(plan["embedding"]), *_cut(plan)])


def _arms(plan: Mapping[str, Any]) -> Iterator[str]:
    """Yield the arms that were left out, by reason. Arms without weight are expected, so they are not listed."""
    by_reason: dict[str, list[str]] = {}
    for arm, reason in plan["left_out"].items():
        if reason != OFF:
            by_reason.setdefault(reason, []).append(arm)
    for reason, arms in by_reason.items():
        yield f"without {', '.join(arms)}: {reason}"
    note = plan["embedding"].get("note")
    if note is not None and note not in by_reason:
        yield note.rstrip(".")


def _vectors(embedding: Mapping[str, Any]) -> Iterator[str]:
    if embedding["pending"] and "model" in embedding:
        yield f"{counted(embedding['pending'], 'vector is', 'vectors are')} pending"
    if "question" in embedding:
        yield f"only the first {embedding['question']['characters']:,} characters of the question were embedded"


def _cut(plan: Mapping[str, Any]) -> Iterator[str]:
    cut = plan["truncated"]
    if "terms" in cut:
        yield f"{counted(cut['terms']['left_out'], 'word')} of the question not looked up"
    if "tokens" in cut:
        told = cut["tokens"]
        budget = counted(told["budget"], "token")
        yield f"{counted(told['left_out'], 'hit')} beyond {budget}, the next of about {told['next']:,}"
    copies = sum(map(len, plan["folded"].values()))
    if copies:
        yield f"{counted(copies, 'copy', 'copies')} of these not shown"
