"""Answers to a query: the sentences of the candidates that match it, with their dates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pieria.models.mind import Found, Knowledge
from pieria.models.minds.rules.merge import Claim
from pieria.models.minds.rules.pieces import clipped, sentences_of, told
from pieria.models.minds.rules.questions import said

_SENTENCES, _FEWEST = 5, 3
_LONG = 60
_READ = 20_000


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
