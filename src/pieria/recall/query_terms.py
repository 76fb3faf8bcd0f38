"""The terms that a question is looked up by, and which of a very long one are left out.

Exists because a question may be a whole document: each term costs a look-up, and the frequent ones tell least.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pieria.recall.walk import LEFT_OUT
from pieria.record.analyser import QueryTerm

TERMS_LIMIT = 64
"""Terms of a question that are looked up; of a longer one, the rarest of those considered."""
CONSIDERED = 512
"""Terms of a question whose frequency is asked for, so that the rarest can be chosen."""
NAMED = 100
"""Terms left out that `plan` names; it counts them all."""


def considered_terms(found: Sequence[QueryTerm]) -> tuple[list[str], list[str]]:
    """(what a question may be looked up by, what is beyond all bounds): stop words only where there is nothing else."""
    telling = [word.term for word in found if not word.stop] or [word.term for word in found]
    return telling[:CONSIDERED], telling[CONSIDERED:]


def rarest(terms: Sequence[str], frequencies: Mapping[str, int]) -> list[int]:
    """The frequency of each term in its order; `LEFT_OUT` for those too frequent to be among the rarest.

    A term that no text holds costs nothing and stays: the question is larger by it.
    """
    held = sorted((term for term in terms if frequencies[term]), key=lambda term: (frequencies[term], term))
    left = set(held[TERMS_LIMIT:])
    return [LEFT_OUT if term in left else frequencies[term] for term in terms]


def truncated(terms: Sequence[str], frequencies: Sequence[int], beyond: Sequence[str]) -> dict[str, Any]:
    """What `plan` says of the terms that were not looked up; empty when all were."""
    left = [term for term, frequency in zip(terms, frequencies, strict=True) if frequency == LEFT_OUT]
    left += beyond
    return {"terms": {"left_out": len(left), "among_them": left[:NAMED]}} if left else {}
