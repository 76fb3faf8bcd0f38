"""The temporal graph: query relations from either end, and report every triple that an addition closes."""

from __future__ import annotations

from typing import Any

from pieria.toolsets.host import Call
from pieria.toolsets.mnemosyne.words import here, triple

STORE = "triples"
MOST = 200
"""How many triples a reply lists; `truncated` says if there are more."""


def triple_add(call: Call, subject: str, predicate: str, object: str) -> dict[str, Any]:
    bank = call.bank
    before = {fact.id: fact for fact in bank.facts.query(subject, predicate)}
    fact = bank.facts.add(subject, predicate, object)
    now = {held.id: held for held in bank.facts.query(subject, predicate)}
    conflicts = bank.facts.conflicts(subject, predicate)
    return {
        "status": "exists" if before.get(fact.id) == fact else "added",
        "triple_id": fact.id,
        "triple": triple(fact),
        "others": [triple(held) for id, held in now.items() if id != fact.id and held.object != fact.object],
        "closed": [triple(held) for id, held in before.items() if id not in now],
        "conflicts": [triple(held) for conflict in conflicts for held in conflict.facts],
        "store": STORE,
        **here(call, bank),
    }


def triple_query(
    call: Call,
    subject: str | None = None,
    predicate: str | None = None,
    object: str | None = None,
    as_of: str | None = None,
) -> dict[str, Any]:
    """Return matching triples, latest first."""
    bank = call.bank
    found = bank.facts.query(subject, predicate, object, valid_at=as_of, limit=MOST + 1)[::-1]
    return {
        "results_count": len(found[:MOST]),
        "results": [triple(fact) for fact in found[:MOST]],
        "truncated": len(found) > MOST,
        "store": STORE,
        **here(call, bank),
    }
