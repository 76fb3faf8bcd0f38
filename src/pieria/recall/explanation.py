"""Why a hit is one, and what was done to find it: the reasons and the plan that go out with every answer."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from pieria.recall.answer import Hit
from pieria.recall.evidence import Key
from pieria.recall.page import Page, Scored
from pieria.recall.query_terms import truncated
from pieria.recall.snippet import snippet
from pieria.record.memory import Memory


def hit_of(scored: Scored, memory: Memory, page: Page, urgency: float | None = None) -> Hit:
    """Return the hit. An `urgency` marks one that is due for review."""
    passage = snippet(memory.text, page.telling, scored.evidence.near)
    why = page.why(scored) if urgency is None else {**page.why(scored), "review": urgency}
    return Hit(memory, page.score(scored), why, passage, scored.evidence.overturned)


def plan_of(page: Page, shown: Collection[Key], *, first: bool) -> dict[str, Any]:
    """Return the plan. `shown` are the keys of the candidates on the page."""
    reading, policy, gathered, arranged = page.question.reading, page.policy, page.gathered, page.arranged
    assert gathered is not None
    assert arranged is not None
    pool = gathered.pool
    arms = {name: dict(told) for name, told in gathered.arms.items()}
    if "text" in arms:
        looked_up = round(arms["text"]["ms"] + page.told.get("ms", 0.0), 3)
        arms["text"] |= {"terms": page.terms, "ms": looked_up, "banks": page.told.get("banks", {})}
    return {
        "policy": policy.name,
        "scoring": policy.scoring,
        "weights": dict(policy.weights),
        "arms": arms,
        "left_out": dict(gathered.left_out),
        "truncated": truncated(reading.considered, page.walk.pins.frequencies, reading.beyond) if page.terms else {},
        "kept_for_rules": [pool.ids[number] for number in arranged.forward if pool.keys[number] in shown],
        "folded": _folded(page, shown),
        "page": "first" if first else "next",
    }


def _folded(page: Page, shown: Collection[Key]) -> dict[str, list[str]]:
    """Return the ids of the copies that each shown hit replaces."""
    assert page.gathered is not None
    assert page.arranged is not None
    pool = page.gathered.pool
    folded = {
        pool.ids[number]: [pool.ids[copy] for copy in copies]
        for number, copies in page.arranged.copies.items()
        if pool.keys[number] in shown
    }
    for id, copies in page.passed_over.items():
        folded[id] = list(dict.fromkeys([*folded.get(id, ()), *copies]))
    return folded
