"""Summaries: a selection of sentences that covers most of the content, in their own words."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heapreplace

from pieria.language.analyser import STOP_WORDS, terms
from pieria.language.grammar.times import has_relative_time
from pieria.language.letters import lowered
from pieria.models.mind import Said
from pieria.models.minds.rules.pieces import begins_with_cue, clipped, length, sentences_of

_CARRYING = re.compile(r"\d|(?<=[\w,;] )[^\W\d_a-z][\w-]+")
"""Numbers and, inside a sentence, names."""
TELLING = 2
"""The fewest terms of an informative sentence: "Fixed." and "Ok." have fewer."""
_LONGEST = 80
"""The most words of a sentence that is taken."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    place: int
    text: str
    said: Said
    terms: frozenset[str]
    first: bool
    """Whether it is the first sentence of its text."""


def summarized(said: Sequence[Said], words: int) -> str:
    """Return at most `words` words. A sentence with a relative time gets its date in front."""
    candidates = list(_candidates(said))
    if not candidates or words <= 0:
        return ""
    several = len({entry.author for entry in said if entry.author}) > 1
    chosen = _chosen(candidates, _weights(candidates), words, several)
    if not chosen:
        return clipped(_shown(candidates[0], None, several=several), words)
    return " ".join(_rendered(sorted(chosen, key=lambda candidate: candidate.place), several))


def _candidates(said: Sequence[Said]) -> Iterator[_Candidate]:
    place = 0
    seen: set[str] = set()
    for entry in said:
        first = True
        for sentence in sentences_of(entry.text):
            key = sentence.casefold()
            if key not in seen:
                seen.add(key)
                kept = frozenset(term for term in terms(sentence) if term not in STOP_WORDS)
                yield _Candidate(place, sentence, entry, kept, first)
                place += 1
                first = False


def _weights(candidates: Sequence[_Candidate]) -> Mapping[str, float]:
    """Return the weight of each term, which grows with its frequency."""
    counts = Counter(term for candidate in candidates for term in candidate.terms)
    return {term: 1 + math.log(count) for term, count in counts.items()}


def _chosen(
    candidates: Sequence[_Candidate], weights: Mapping[str, float], words: int, several: bool
) -> list[_Candidate]:
    """Return the sentences chosen greedily by gain per length, within the word limit.

    Gains only fall, so the best candidate is known once its own gain is up to date.
    """
    covered: set[str] = set()
    queue = [(-_gain(candidate, weights, covered), candidate.place) for candidate in candidates]
    heapify(queue)
    chosen: list[_Candidate] = []
    left = words
    while queue and left > 0:
        gain, place = queue[0]
        candidate = candidates[place]
        cost = length(_shown(candidate, None, several=several))
        if gain == 0:
            break
        if cost > left or cost > _LONGEST:
            heappop(queue)
            continue
        now = -_gain(candidate, weights, covered)
        if now > gain:
            heapreplace(queue, (now, place))
            continue
        heappop(queue)
        chosen.append(candidate)
        covered |= candidate.terms
        left -= cost
    return chosen


def _gain(candidate: _Candidate, weights: Mapping[str, float], covered: set[str]) -> float:
    fresh = sum(weights[term] for term in candidate.terms if term not in covered)
    if not fresh or len(candidate.terms) < TELLING:
        return 0.0
    carrying = min(4, len(_CARRYING.findall(candidate.text[:1_000])))
    small = lowered(candidate.text[:200])
    idle = 0.4 if candidate.text.endswith(("?", "？")) or begins_with_cue("passing.greetings", small) else 1.0
    opening = 1.2 if candidate.first else 1.0
    return fresh * (1 + 0.2 * carrying) * idle * opening / math.pow(4 + length(candidate.text), 0.8)


def _shown(candidate: _Candidate, speaker: str | None, *, several: bool) -> str:
    """Return the sentence with its author, unless the same one spoke before, and with its date if it needs one."""
    who = candidate.said.author if several else None
    name = f"{who}: " if who and who != speaker else ""
    when = candidate.said.at
    day = f"({when}) " if when and has_relative_time(candidate.text) else ""
    return f"{name}{day}{candidate.text}"


def _rendered(chosen: Sequence[_Candidate], several: bool) -> Iterator[str]:
    speaker: str | None = None
    for candidate in chosen:
        yield _shown(candidate, speaker, several=several)
        speaker = candidate.said.author
