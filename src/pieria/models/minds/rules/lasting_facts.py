"""Lasting statements: what an episode shows of people, projects, preferences and decisions that stands by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pieria.models.mind import Proposition, StepSeen
from pieria.models.minds.rules.emphasis import KEPT, NONE, Emphasis
from pieria.models.minds.rules.names import named
from pieria.models.minds.rules.packs import words
from pieria.models.minds.rules.persons import is_addressed, is_first, led, third
from pieria.models.minds.rules.pieces import begins_with_cue, has_cue, noun_phrases, told
from pieria.models.minds.rules.pronouns import explained, points_out, shows, stood_in
from pieria.models.minds.rules.speakers import AGENT, Spoken, is_serving, spoken
from pieria.models.minds.rules.triples import Reader
from pieria.record.letters import lowered
from pieria.record.standing_rules import standing

_FEWEST, _MOST = 3, 45
"""Words of a statement."""
_LONGEST = 1_000
"""Characters of it."""
_CONCEPTS = 6
_COMPARED = 100
"""Statements that one is compared with at most."""
_HELD, _STATED, _CUED = 1.0, 0.9, 0.7


def lasting(goal: str, steps: Sequence[StepSeen], emphasis: Emphasis = NONE) -> list[Proposition]:
    """Each statement once, with the steps that make it; of two that say the same the fuller one. What belongs to the
    goal comes first.
    """
    found: dict[frozenset[str], Proposition] = {}
    told_by = [(list(spoken(step.observation)), list(spoken(step.action, AGENT))) for step in steps]
    serves = len({said.speaker for observed, _ in told_by for said in observed if said.is_named}) < 2
    for place, (observed, acted) in enumerate(told_by):
        seen = _Reading(emphasis, serves=serves).facts(observed)
        done = _Reading(emphasis, serves=serves).facts(acted, only_found=True)
        for proposition in (*seen, *done):
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


class _Reading:
    """Of what is said in one text. `serves`: whoever speaks by name speaks to the agent, not to another."""

    def __init__(self, emphasis: Emphasis, *, serves: bool) -> None:
        self._emphasis = emphasis
        self._serves = serves
        self._reader = Reader()
        self._before: tuple[str, str] | None = None
        """The sentence before as it was said, with names for its pronouns, and as it stands by itself."""

    def facts(self, said: Sequence[Spoken], *, only_found: bool = False) -> Iterator[Proposition]:
        for each in said:
            if not each.goes_on or len(each.text) > _LONGEST:
                self._reader, self._before = Reader(), None
            if len(each.text) > _LONGEST:
                continue
            ruled = self._rules(each)
            alone = None if shows(each.text) else self._alone(each, ruled=ruled)
            stated = self._reader.read(each.text)
            if not stated and alone is not None and points_out(each.text):
                stated = Reader().read(stood_in(alone[0]))
            sure = _confidence(each.text, stated, self._emphasis, ruled=ruled)
            if (each.quoted and is_first(each.text)) or (only_found and not _is_found_by(each)):
                sure = None
            self._before = alone if alone and _explains(each) else None
            if sure and alone:
                fact = Proposition(alone[1], tuple(_concepts(alone[1], each.speaker)), sure)
                yield from filter(None, [self._emphasis.weighed(fact)])

    def _rules(self, said: Spoken) -> bool:
        """Whether it lays something down; what one tells another to do binds no agent."""
        rules = standing(said.text)
        return bool(rules) and (self._serves or not said.is_named or rules[0].kind != "rule")

    def _alone(self, said: Spoken, *, ruled: bool) -> tuple[str, str] | None:
        """As it was said, and as it reads for whoever finds it alone; None where nobody could tell what it is about."""
        text, led_by = said.text, ""
        if points_out(text) and not ruled:
            if self._before is None:
                return None
            explains, led_by = self._before
            named = explained(text, explains)
            if named is not None:
                text, led_by = named, ""
        turned = text if said.speaker is None else self._turned(text, said.speaker, quoted=said.quoted, ruled=ruled)
        whole = f"{led_by} {turned or ''}".strip()
        return (text, whole) if turned and len(whole.split()) <= max(_MOST, len(turned.split())) else None

    def _turned(self, text: str, who: str, *, quoted: bool, ruled: bool) -> str | None:
        if quoted:
            return None if is_first(text) else text
        if is_addressed(text) and not ruled:
            return led(text, who) if self._serves and not is_serving(who) else None
        if standing(text) and not ruled:
            return led(text, who)
        return third(text, who)


def _is_found_by(said: Spoken) -> bool:
    """Whether whoever acts tells what they decided or found out."""
    low = lowered(said.text)
    telling = has_cue("lasting.decided", low) or has_cue("lasting.found", low)
    return telling and is_first(said.text) and not standing(said.text)


def _explains(said: Spoken) -> bool:
    """Whether what follows may be told together with it."""
    low = lowered(said.text)
    asks = low.endswith(("?", "？")) or begins_with_cue("passing.greetings", low)
    return not (asks or said.quoted or Reader.is_supposed(said.text)) and _FEWEST <= len(low.split()) <= _MOST


def _confidence(sentence: str, stated: bool, emphasis: Emphasis, *, ruled: bool) -> float | None:
    """How sure it is that the sentence states something lasting; None where it does not."""
    low = lowered(sentence)
    count = len(sentence.split())
    if ruled:
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


def _concepts(text: str, speaker: str | None) -> list[str]:
    """What it is about: what it names, then its other nouns. Whoever has no name is none unless there is no other."""
    names = [held.name for held in named(text) if held.kind != "date"]
    taken = {term for name in names for term in told(name)}
    nouns = [_uncounted(phrase) for phrase in noun_phrases(text, stating=True) if not told(phrase) & taken]
    role = (speaker or "").removeprefix("the ")
    found = [*names, *filter(None, nouns)]
    return ([concept for concept in found if concept.lower() != role] or found)[:_CONCEPTS]


def _uncounted(phrase: str) -> str:
    """`The second reason` is about a reason."""
    first, _, rest = phrase.partition(" ")
    return rest if first.lower() in words("persons", "counting") else phrase
