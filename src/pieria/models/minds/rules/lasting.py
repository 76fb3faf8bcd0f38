"""Lasting statements: what an episode shows of people, projects, preferences and decisions that stands by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pieria.models.mind import Proposition, StepSeen
from pieria.models.minds.rules.emphasis import KEPT, NONE, Emphasis
from pieria.models.minds.rules.naming import named
from pieria.models.minds.rules.pieces import begins_with_cue, has_cue, noun_phrases, sentences_of, told
from pieria.models.minds.rules.triples import Reader
from pieria.record.lettering import lowered
from pieria.record.standing import standing

_FEWEST, _MOST = 3, 45
"""Words of a statement."""
_CONCEPTS = 6
_COMPARED = 100
"""Statements that one is compared with at most."""
_POINTING = re.compile(r"(?:he|she|it|they|this|that|these|those|him|her|them|there|here|such)\b", re.IGNORECASE)
_HELD, _STATED, _CUED = 1.0, 0.9, 0.7


def lasting(goal: str, steps: Sequence[StepSeen], emphasis: Emphasis = NONE) -> list[Proposition]:
    """Each statement once, with the steps that make it; of two that say the same the fuller one. What belongs to the
    goal comes first.
    """
    found: dict[frozenset[str], Proposition] = {}
    for place, step in enumerate(steps):
        for proposition in _of_text(step.observation, emphasis):
            key = told(proposition.text)
            held = found.setdefault(key, proposition)
            if held.steps[-1:] != (place,):
                found[key] = replace(held, steps=(*held.steps, place))
    kept = [found[key] for key in _fullest(list(found))]
    about = told(goal)
    return sorted(kept, key=lambda proposition: not (about & told(proposition.text)))


def _fullest(keys: Sequence[frozenset[str]]) -> Iterator[frozenset[str]]:
    """Those no other holds all terms of. What holds them all holds the rarest of them."""
    holding: dict[str, list[frozenset[str]]] = {}
    for key in keys:
        for term in key:
            holding.setdefault(term, []).append(key)
    for key in keys:
        rarest = min((holding[term] for term in key), key=len, default=[])
        if not any(key < other for other in rarest[:_COMPARED]):
            yield key


def _of_text(text: str, emphasis: Emphasis) -> Iterator[Proposition]:
    reader = Reader()
    for sentence in sentences_of(text):
        stated = reader.read(sentence)
        sure = _confidence(sentence, stated, emphasis)
        whole = _standing_alone(sentence, reader.spoken_of)
        if sure and whole and (weighed := emphasis.weighed(Proposition(whole, tuple(_concepts(whole)), sure))):
            yield weighed


def _confidence(sentence: str, stated: bool, emphasis: Emphasis) -> float | None:
    """How sure it is that the sentence states something lasting; None where it does not."""
    low = lowered(sentence)
    count = len(sentence.split())
    if standing(sentence):
        return _HELD
    if not _FEWEST <= count <= _MOST or low.endswith(("?", "？")) or begins_with_cue("passing.greetings", low):
        return None
    if has_cue("passing.momentary", low) or Reader.is_supposed(sentence):
        return None
    if stated:
        return _STATED
    if has_cue("lasting.decided", low) or has_cue("lasting.found", low):
        return _CUED
    return KEPT if emphasis.keeps(sentence) else None


def _standing_alone(sentence: str, spoken_of: str | None) -> str | None:
    """With a name for the pronoun it begins with; None where nobody can tell what that points to."""
    pointing = _POINTING.match(sentence)
    if not pointing:
        return sentence
    if spoken_of is None or pointing[0].lower() not in ("he", "she", "it"):
        return None
    return spoken_of + sentence[pointing.end() :]


def _concepts(text: str) -> list[str]:
    """What it is about: what it names, then its other nouns."""
    names = [held.name for held in named(text) if held.kind != "date"]
    taken = {term for name in names for term in told(name)}
    nouns = [phrase for phrase in noun_phrases(text) if not told(phrase) & taken]
    return [*names, *nouns][:_CONCEPTS]
