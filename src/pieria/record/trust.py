"""How far a text is believed, by the way it came in. One table, for every door.

What a text says of its own author is a claim and decides nothing here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pieria.record.changeset import State

PERSON: Final = "person"
"""A person's own words: a captured prompt, words typed at a terminal, a form of the page sent by a signed-in person."""
ACCEPTED: Final = "accepted"
"""Text of any way that a person accepted by hand as a standing rule. Only that verb gives it."""
AGENT: Final = "agent"
"""A tool call, a program, a turn of an agent."""
HEARSAY: Final = "hearsay"
"""Mined files and transcripts, imports, and what a person pasted."""
OUTSIDE: Final = "outside"
"""Output of tools, web pages, mail."""

TRUST: Final = {PERSON: 0.9, AGENT: 0.6, HEARSAY: 0.5, OUTSIDE: 0.2}
"""The most that a text is believed, by its way in. Best first."""
WAYS: Final = (*TRUST, ACCEPTED)
"""Every value of a memory's `via`."""
GIVEN: Final = tuple(TRUST)
"""The values that a program may give."""
DECLINED_RULES: Final = "rules.declined"
"""The collection that says of which memories a person wants no rule told, and in which wording."""
RULING: Final = (PERSON, ACCEPTED)
"""The ways whose standing rules an agent is told."""


def way_of(trust: float) -> str:
    """Return the best way that is believed no more than this."""
    return next((way for way, most in TRUST.items() if most <= trust), OUTSIDE)


def lowest(*ways: str) -> str:
    """Return the way that is believed least. `accepted` counts as a person's word."""
    return min((PERSON if way == ACCEPTED else way for way in ways), key=TRUST.__getitem__)


def may_overturn(via: str, trust: float, old_via: str, old_trust: float) -> bool:
    """Return whether a text may push back an older one: only where it is believed as far, by its way and as it is."""
    return trust >= old_trust and TRUST[lowest(via)] >= TRUST[lowest(old_via)]


def lowered(state: State, via: str) -> State:
    """Return the state believed no more than a text of this way. A rule keeps its acceptance only from a person."""
    if via == PERSON:
        return state
    return state._replace(via=lowest(state.via, via), trust=min(state.trust, TRUST[via]))
