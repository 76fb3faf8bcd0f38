"""Compute the confidence of a lesson, and compare rules for equality and contradiction. Pure functions."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from pieria.language.analyser import query_terms

DOUBT_LEFT = 0.55
"""Factor on the doubt for each further session that supports the lesson."""
FAILED_AGAIN = 0.6
"""Factor on the confidence for each session in which the fix did not help."""
HELD_BACK = 0.5
"""Highest confidence of a lesson that is risky, from outside, or found only by a model."""
SURE_ENOUGH = 0.97
SAME, OPPOSED = 0.7, 0.6
"""Minimum share of common terms for two rules to be the same, or opposed."""
_POLARITY = re.compile(
    r"\s*(?:from now on,?\s+)?(?:(?P<never>never\b|don't\b|do not\b|stop\b|no\b)|always\b)?\s*", re.IGNORECASE
)
_INSTEAD = re.compile(
    r"\b(?P<verb>[a-z]+) (?P<use>.+?),? (?:not|instead of|rather than|and not|never) (?P<avoid>.+?)\.?\s*\Z",
    re.IGNORECASE,
)
_IDLE = frozenset(["alway", "always", "never", "now", "please"])


class Meant(NamedTuple):
    """The subject of a rule; `use` replaces `avoid` if it names both."""

    forbids: bool
    terms: frozenset[str]
    use: frozenset[str] = frozenset()
    avoid: frozenset[str] = frozenset()


def sure(base: float, seen: int, failed: int, *, held_back: bool) -> float:
    """Return the confidence after `seen` sessions that support a lesson and `failed` in which it did not help."""
    doubt = (1 - base) * DOUBT_LEFT ** max(0, seen - 1)
    found = min(SURE_ENOUGH, 1 - doubt) * FAILED_AGAIN**failed
    return round(min(found, HELD_BACK) if held_back else found, 2)


@lru_cache(maxsize=4_096)
def meant(rule: str) -> Meant:
    polarity = _POLARITY.match(rule)
    assert polarity is not None
    rest = rule[polarity.end() :]
    forbids = polarity["never"] is not None
    instead = _INSTEAD.match(rest)
    if instead is None:
        return Meant(forbids, _terms(rest), *_single(rest, forbids))
    use, avoid = _terms(instead["use"]), _terms(instead["avoid"])
    return Meant(forbids, _terms(rest), *((avoid, use) if forbids else (use, avoid)))


def wanted(rule: str) -> str:
    """Return the part of a rule that says what to do."""
    polarity = _POLARITY.match(rule)
    assert polarity is not None
    rest = rule[polarity.end() :]
    instead = _INSTEAD.match(rest)
    if polarity["never"] is not None:
        return "" if instead is None else instead["avoid"]
    return rest if instead is None else rest[: instead.end("use")]


def same(one: Meant, other: Meant) -> bool:
    if one.forbids != other.forbids or opposed(one, other):
        return False
    if one.use and other.use and one.avoid and other.avoid:
        return one.use == other.use and one.avoid == other.avoid
    return _shared(one.terms, other.terms) >= SAME


def opposed(one: Meant, other: Meant) -> bool:
    """Return whether one rule asks for what the other forbids."""
    if _one_thing(one.use, other.avoid) or _one_thing(one.avoid, other.use):
        return True
    if one.use and other.use and one.avoid and other.avoid:
        return False
    return one.forbids != other.forbids and _shared(one.terms, other.terms) >= OPPOSED


def key(rule: str) -> tuple[str, ...]:
    """Return a key of a rule that does not depend on word order."""
    about = meant(rule)
    return ("never" if about.forbids else "always", *sorted(about.terms))


def _single(rest: str, forbids: bool) -> tuple[frozenset[str], frozenset[str]]:
    """Return what a rule with one object uses and avoids, such as "never use npm"."""
    found = re.match(
        r"(?:use|run|prefer|import|write|install with|build with|test with) (?P<what>[^,;]+?)\.?\s*\Z",
        rest,
        re.IGNORECASE,
    )
    if found is None:
        return frozenset(), frozenset()
    what = _terms(found["what"])
    return (frozenset(), what) if forbids else (what, frozenset())


def _terms(text: str) -> frozenset[str]:
    return frozenset(found.term for found in query_terms(text) if not found.stop and found.term not in _IDLE)


def _one_thing(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether all terms of the shorter are in the longer. One common word may only be the context."""
    return bool(one and other) and (one <= other or other <= one)


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one and other else 0.0
