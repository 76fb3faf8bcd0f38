"""Why a hit is one, and what an answer had to do without, in the words that people read.

Read from the plan that comes with every answer, so that it holds for any policy and any weights. No rich here.
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
"""As the plan says it."""
MATTERS = 0.05
"""Smallest share of all reasons, for and against a hit, at which a reason is shown."""


def reasons(found: Recall, hit: Hit) -> list[str]:
    """What moved the score of a hit, the strongest first: what each adds, or by how much each shrinks a product.

    What a reranker said of it goes before them: its place is by that.
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
    """What was left out, and what the answer may lack for it, in one line; empty where nothing was."""
    plan = found.plan
    return "; ".join([*_arms(plan), *_vectors(plan["embedding"]), *_cut(plan)])


def _arms(plan: Mapping[str, Any]) -> Iterator[str]:
    """Which were not asked, by reason. What the weights of the caller rule out needs no telling."""
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
        yield f"{counted(embedding['pending'], 'vector is', 'vectors are')} not made yet"
    if "question" in embedding:
        yield f"of the question the first {embedding['question']['characters']:,} characters were embedded"


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
