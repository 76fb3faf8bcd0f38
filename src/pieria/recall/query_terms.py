"""The terms that a query is looked up by, and which terms of a very long one are left out.

A query may be a whole document. Each term costs a look-up, and the frequent ones tell least.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pieria.language.analyser import QueryTerm
from pieria.recall.walk import LEFT_OUT

TERMS_LIMIT = 64
"""Terms to look up; of a longer query, the rarest of those considered."""
CONSIDERED = 512
"""Terms to count, so that the rarest can be chosen."""
NAMED = 100
"""Terms left out that `plan` names; it counts them all."""


def considered_terms(found: Sequence[QueryTerm]) -> tuple[list[str], list[str]]:
    """Return (terms to look up, terms over the limit). Stop words count only if there are no other terms."""
    telling = [word.term for word in found if not word.stop] or [word.term for word in found]
    return telling[:CONSIDERED], telling[CONSIDERED:]


def rarest(terms: Sequence[str], frequencies: Mapping[str, int]) -> list[int]:
    """Return the frequency of each term in order; `LEFT_OUT` for terms too frequent to be looked up.

    An unknown term stays: its look-up is free, and it adds to the weight of the query.
    """
    held = sorted((term for term in terms if frequencies[term]), key=lambda term: (frequencies[term], term))
    left = set(held[TERMS_LIMIT:])
    return [LEFT_OUT if term in left else frequencies[term] for term in terms]


def truncated(terms: Sequence[str], frequencies: Sequence[int], beyond: Sequence[str]) -> dict[str, Any]:
    """Return the plan's entry on the terms that were not looked up; empty if all were."""
    left = [term for term, frequency in zip(terms, frequencies, strict=True) if frequency == LEFT_OUT]
    left += beyond
    return {"terms": {"left_out": len(left), "among_them": left[:NAMED]}} if left else {}
