"""Queries: the kind of memory that they ask for, search terms, and missing terms."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pieria.language.asks import asks
from pieria.language.letters import lowered
from pieria.models.mind import Found, Mode
from pieria.models.minds.rules.names import named
from pieria.models.minds.rules.pieces import has_cue, noun_phrases, spelt, told

_TAGS, _MISSING = 8, 5
_READ = 4_000
_PAST = frozenset(("when", "order"))
_FACTS = frozenset(("who", "where", "which", "yes-no", "update"))
_IN_A_SESSION = re.compile(r"Goal: (.*)\nRecent context:\n- (.*)\n\nQuery: (.*)", re.DOTALL)
"""The format of a query in a session: goal, last steps and query."""


def mode_of(query: str) -> Mode:
    """Return the mode; `mixed` if the query asks for several kinds or for none. Session context is ignored."""
    query = _parts(query)[0]
    kinds = asks(query)
    low = lowered(query[:_READ])
    procedural = has_cue("mode.procedural", low) or ("request" in kinds and "how" in kinds)
    episodic = has_cue("mode.episodic", low) or bool(kinds & _PAST)
    semantic = not episodic and not procedural and (has_cue("mode.semantic", low) or bool(kinds & _FACTS))
    if "summary" in kinds or procedural + episodic + semantic != 1:
        return "mixed"
    return "procedural" if procedural else "episodic" if episodic else "semantic"


def tags_of(query: str, mode: Mode) -> list[str]:
    """Return names, then short phrases, or single words if there are none. Times count only for events."""
    text = said(query)[:_READ]
    found: dict[str, str] = {}
    for tag in (*_names(text, with_times=mode in ("episodic", "mixed")), *noun_phrases(text)):
        if told(tag) and not any(told(tag) <= told(held) for held in found.values()):
            found.setdefault(tag.casefold(), tag)
    return list(found.values())[:_TAGS] or list(spelt(text).values())[:_TAGS]


def said(query: str) -> str:
    """Return the query, followed by its session context, because only the beginning is read later."""
    return "\n".join(_parts(query))


def _parts(query: str) -> list[str]:
    found = _IN_A_SESSION.fullmatch(query)
    return [query] if found is None else [found[3], found[1], found[2].replace("\n- ", "\n")]


def _names(text: str, *, with_times: bool) -> Iterator[str]:
    for thing in named(text):
        if with_times or thing.kind != "date":
            yield thing.name


def missing(query: str, found: Sequence[Found]) -> list[str]:
    """Return the query's terms that no candidate has."""
    covered = frozenset().union(*(told(candidate.text[:_READ]) for candidate in found))
    return [word for term, word in spelt(said(query)[:_READ]).items() if term not in covered][:_MISSING]
