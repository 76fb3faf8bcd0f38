"""How far a text is trusted, by the way it came in. One table for every door.

What a text says about its own author is only a claim. It must not affect trust.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pieria.record.changeset import State

PERSON: Final = "person"
"""A person's own words: a captured prompt, input at a terminal, or a web form sent by a signed-in person."""
ACCEPTED: Final = "accepted"
"""Text that a person accepted as a standing rule. Only the verb for accepting sets this."""
AGENT: Final = "agent"
"""A tool call, a program, or a turn of an agent."""
HEARSAY: Final = "hearsay"
"""Mined files and transcripts, imports, and text that a person pasted."""
OUTSIDE: Final = "outside"
"""Output of tools, web pages, mail."""

TRUST: Final = {PERSON: 0.9, AGENT: 0.6, HEARSAY: 0.5, OUTSIDE: 0.2}
"""The highest trust of a text by its way in, best first."""
WAYS: Final = (*TRUST, ACCEPTED)
"""Every value of a memory's `via`."""
GIVEN: Final = tuple(TRUST)
"""The values that a program may give."""
DECLINED_RULES: Final = "rules.declined"
"""The collection of memories whose rules a person declined, with their wording."""
RULING: Final = (PERSON, ACCEPTED)
"""Agents get standing rules only from texts with these values of `via`."""


def way_of(trust: float) -> str:
    """Return the best way whose trust is at most this."""
    return next((way for way, most in TRUST.items() if most <= trust), OUTSIDE)


def lowest(*ways: str) -> str:
    """Return the way with the lowest trust. `accepted` counts as `person`."""
    return min((PERSON if way == ACCEPTED else way for way in ways), key=TRUST.__getitem__)


def may_overturn(via: str, trust: float, old_via: str, old_trust: float) -> bool:
    """Return whether a text may overturn an older one. Its trust and that of its way must be at least equal."""
    return trust >= old_trust and TRUST[lowest(via)] >= TRUST[lowest(old_via)]


def lowered(state: State, via: str) -> State:
    """Return the state with at most the trust of a text of this way. An accepted rule stays accepted only after a
    person's text.
    """
    if via == PERSON:
        return state
    return state._replace(via=lowest(state.via, via), trust=min(state.trust, TRUST[via]))
