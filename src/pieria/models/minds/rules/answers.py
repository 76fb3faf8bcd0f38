"""Answers to a query: the sentences of the candidates that match it, with their dates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pieria.language.asks import asks
from pieria.language.grammar.names import named
from pieria.language.letters import lowered
from pieria.models.mind import Found, Knowledge, Mode
from pieria.models.minds.rules.merge import Claim
from pieria.models.minds.rules.pieces import clipped, has_cue, noun_phrases, sentences_of, spelt, told

_SENTENCES, _FEWEST = 5, 3
_LONG = 60
_READ = 20_000

_TAGS, _MISSING = 8, 5
_QUERY = 4_000
_PAST = frozenset(("when", "order"))
_FACTS = frozenset(("who", "where", "which", "yes-no", "update"))
_IN_A_SESSION = re.compile(r"Goal: (.*)\nRecent context:\n- (.*)\n\nQuery: (.*)", re.DOTALL)
"""The format of a query in a session: goal, last steps and query."""


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    found: Found
    weight: float
    place: int


def answer(query: str, what: Knowledge, found: Sequence[Found]) -> str:
    """Return at most five sentences. Of contradicting sentences, all but the latest are marked earlier.

    Events are in order of time, procedures by their return, facts by their match with the query. Except for events, the
    latest of contradicting sentences comes first.
    """
    lines = _ranked(told(said(query)), found)
    if what == "episodic":
        lines = sorted(lines, key=lambda line: (line.found.at or "", line.place))
    elif what == "procedural":
        lines = sorted(lines, key=lambda line: (-_score(line.found), line.place))
    return " ".join(_shown(lines, chronological=what == "episodic"))


def _score(found: Found) -> float:
    return 0.5 if found.score is None else found.score


def _ranked(wanted: frozenset[str], found: Sequence[Found]) -> list[_Line]:
    lines: dict[str, _Line] = {}
    for candidate in found:
        for sentence in sentences_of(candidate.text[:_READ]):
            shared = len(wanted & told(sentence)) / len(wanted) if wanted else 0.0
            weight = shared + 0.2 * _score(candidate) - 0.05 * candidate.hop
            lines.setdefault(sentence.casefold(), _Line(clipped(sentence, _LONG), candidate, weight, len(lines)))
    ranked = sorted(lines.values(), key=lambda line: (-line.weight, line.place))
    speaking = [line for line in ranked if wanted & told(line.text)]
    return speaking[:_SENTENCES] or ranked[:_FEWEST]


def _shown(lines: Sequence[_Line], *, chronological: bool) -> list[str]:
    shown: list[str] = []
    left = list(lines)
    while left:
        line = left.pop(0)
        claim = Claim(line.text)
        against = [other for other in left if claim.contradicts(Claim(other.text))]
        group = sorted([line, *against], key=lambda held: held.found.at or "", reverse=not chronological)
        left = [other for other in left if other not in against]
        latest = max(group, key=lambda held: held.found.at or "")
        shown += [_dated(held, earlier=held is not latest) for held in group]
    return shown


def _dated(line: _Line, *, earlier: bool) -> str:
    marks = [mark for mark in (line.found.at, "earlier" if earlier else None) if mark]
    return f"({', '.join(marks)}) {line.text}" if marks else line.text


def mode_of(query: str) -> Mode:
    """Return the mode; `mixed` if the query asks for several kinds or for none. Session context is ignored."""
    query = _parts(query)[0]
    kinds = asks(query)
    low = lowered(query[:_QUERY])
    procedural = has_cue("mode.procedural", low) or ("request" in kinds and "how" in kinds)
    episodic = has_cue("mode.episodic", low) or bool(kinds & _PAST)
    semantic = not episodic and not procedural and (has_cue("mode.semantic", low) or bool(kinds & _FACTS))
    if "summary" in kinds or procedural + episodic + semantic != 1:
        return "mixed"
    return "procedural" if procedural else "episodic" if episodic else "semantic"


def tags_of(query: str, mode: Mode) -> list[str]:
    """Return names, then short phrases, or single words if there are none. Times count only for events."""
    text = said(query)[:_QUERY]
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
    covered = frozenset().union(*(told(candidate.text[:_QUERY]) for candidate in found))
    return [word for term, word in spelt(said(query)[:_QUERY]).items() if term not in covered][:_MISSING]
