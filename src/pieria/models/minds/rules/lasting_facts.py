"""Lasting facts of an episode: statements on people, projects, preferences and decisions that can be read alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from pieria.language.grammar.clauses import Reader
from pieria.language.grammar.names import named
from pieria.language.grammar.persons import is_addressed, is_first, led, third
from pieria.language.grammar.pronouns import explained, points_out, shows, stood_in
from pieria.language.letters import lowered
from pieria.language.packs import words
from pieria.language.remarks import AGENT as BY_AGENT
from pieria.language.remarks import LEAST, PERSON, READ, judgements
from pieria.language.standing_rules import standing
from pieria.models.mind import Proposition, StepSeen
from pieria.models.minds.rules.emphasis import KEPT, NONE, Emphasis
from pieria.models.minds.rules.pieces import begins_with_cue, has_cue, length, noun_phrases, told
from pieria.models.minds.rules.procedures import is_instruction
from pieria.models.minds.rules.speech import USER, Spoken, is_serving, spoken

_FEWEST, _MOST = 3, 45
"""Words of a fact."""
_TELLING = 10
"""Words of a sentence that says something even if what it points at is unknown."""
_ROW = 60
"""Words of a fact that several sentences make."""
_LONGEST = 1_000
"""Characters of a fact."""
_CONCEPTS = 6
_REFERENCE = 5
"""The fewest digits of a number that a fact can be looked up by."""
_COMPARED = 100
"""The most statements to compare one with."""
_HELD, _STATED = 1.0, 0.9
STATED_WORTH = 0.02
"""The least probability that a sentence which states something outright is worth keeping."""

AGENT = "the agent"
"""The speaker of actions, as worded within a sentence."""


def lasting(goal: str, steps: Sequence[StepSeen], emphasis: Emphasis = NONE) -> list[Proposition]:
    """Return the facts, each once, with their steps. Of two that say the same, the fuller one is kept.

    Facts about the goal come first.
    """
    found: dict[frozenset[str], Proposition] = {}
    told_by = [(list(spoken(step.observation)), list(spoken(step.action, AGENT))) for step in steps]
    serves = len({said.speaker for observed, _ in told_by for said in observed if said.is_named}) < 2
    for place, (observed, acted) in enumerate(told_by):
        seen = _Reading(emphasis, serves=serves).facts(observed, READ)
        done = _Reading(emphasis, serves=serves).facts(acted, BY_AGENT)
        for proposition in (*seen, *done):
            key = told(proposition.text)
            held = found.setdefault(key, proposition)
            if held.steps[-1:] != (place,):
                found[key] = replace(held, steps=(*held.steps, place))
    kept = [found[key] for key in _fullest(list(found))]
    about = told(goal)
    return sorted(kept, key=lambda proposition: not (about & told(proposition.text)))


def _fullest(keys: Sequence[frozenset[str]]) -> Iterator[frozenset[str]]:
    """Yield the keys that are no proper subset of another one.

    A superset has the key's rarest term, so only keys with that term are compared.
    """
    holding: dict[str, list[frozenset[str]]] = {}
    for key in keys:
        for term in key:
            holding.setdefault(term, []).append(key)
    for key in keys:
        rarest = min((holding[term] for term in key), key=len, default=[])
        if not any(key < other for other in rarest[:_COMPARED]):
            yield key


class _Fact(NamedTuple):
    """A sentence that states a fact, with its place in the text."""

    place: int
    text: str
    speaker: str | None
    sure: float
    alone: bool
    """Whether it states a relation or a rule, which needs no other sentence."""

    @property
    def lead(self) -> str:
        """How the text begins if it repeats its speaker's words."""
        return led("", self.speaker) if self.speaker else ""

    def follows(self, row: Sequence[_Fact]) -> bool:
        """Return whether the sentence goes on with the matter of those before it in the paragraph."""
        if self.speaker != row[-1].speaker or (self.alone and row[-1].alone) or row[-1].text in self.text:
            return False
        return sum(length(fact.text) for fact in row) + length(self.text) <= _ROW

    @property
    def own(self) -> str:
        return self.text.removeprefix(self.lead)


class _Reading:
    """Reads the facts of one text. With `serves`, a named speaker is talking to the agent, not to another person."""

    def __init__(self, emphasis: Emphasis, *, serves: bool) -> None:
        self._emphasis = emphasis
        self._serves = serves
        self._reader = Reader()
        self._before: tuple[str, str] | None = None
        """The sentence before: with its pronouns replaced, and as a fact. None if it explains nothing."""

    def facts(self, said: Sequence[Spoken], said_by: str) -> Iterator[Proposition]:
        """Yield the facts of what was said. `said_by` says whose words those without a speaker are.

        What one speaker says in a paragraph makes one fact, unless each sentence stands alone: the reason follows the
        choice, the cure the cause.
        """
        row: list[_Fact] = []
        for place, fact in self._stated(said, said_by):
            if row and (any(each.opens_line for each in said[row[-1].place + 1 : place + 1]) or not fact.follows(row)):
                yield from self._whole(row)
                row = []
            row.append(fact)
        if row:
            yield from self._whole(row)

    def _whole(self, row: Sequence[_Fact]) -> Iterator[Proposition]:
        text = row[0].text
        for fact in row[1:]:
            text = f"{text} {fact.own}"
        concepts = tuple(_concepts(text, row[0].speaker))
        found = self._emphasis.weighed(Proposition(text, concepts, max(fact.sure for fact in row)))
        yield from filter(None, [found])

    def _stated(self, said: Sequence[Spoken], said_by: str) -> Iterator[tuple[int, _Fact]]:
        by = [PERSON if each.speaker == USER else said_by for each in said]
        worth = judgements([each.text for each in said], by)
        for place, (each, judged) in enumerate(zip(said, worth, strict=True)):
            if not each.goes_on or len(each.text) > _LONGEST:
                self._reader, self._before = Reader(), None
            if judged is None or len(each.text) > _LONGEST or (said_by == BY_AGENT and standing(each.text)):
                continue
            ruled = self._rules(each)
            if not ruled and is_instruction(each.text):
                # It is a procedure.
                self._before = None
                continue
            alone = None if shows(each.text) else self._alone(each, ruled=ruled)
            stated = self._reader.read(each.text)
            if not stated and alone is not None and points_out(each.text):
                stated = Reader().read(stood_in(alone[0]))
            stated = _is_reported(each) or (stated and said_by != BY_AGENT)
            sure = _confidence(
                each.text, judged.probability, LEAST[by[place]], self._emphasis, stated=stated, ruled=ruled
            )
            self._before = alone if alone and _explains(each) else None
            if sure and alone:
                yield place, _Fact(place, alone[1], each.speaker, sure, stated or ruled)

    def _rules(self, said: Spoken) -> bool:
        """Return whether the sentence sets a rule. A rule between two persons does not bind the agent."""
        rules = standing(said.text)
        return bool(rules) and (self._serves or not said.is_named or rules[0].kind != "rule")

    def _alone(self, said: Spoken, *, ruled: bool) -> tuple[str, str] | None:
        """Return the sentence with its pronouns replaced, and as a fact that can be read alone.

        Returns None if its subject stays unknown.
        """
        text, led_by = said.text, ""
        if points_out(text) and not ruled:
            if self._before is None:
                return (text, text) if length(text) >= _TELLING else None
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


def _is_reported(said: Spoken) -> bool:
    """Return whether the speaker reports a decision or a finding of their own."""
    low = lowered(said.text)
    return is_first(said.text) and (has_cue("lasting.decided", low) or has_cue("lasting.found", low))


def _explains(said: Spoken) -> bool:
    """Return whether the sentence may be repeated to explain the next one."""
    low = lowered(said.text)
    asks = low.endswith(("?", "？")) or begins_with_cue("passing.greetings", low)
    return not (asks or said.quoted or Reader.is_supposed(said.text)) and _FEWEST <= len(low.split()) <= _MOST


def _confidence(
    sentence: str, worth: float, least: float, emphasis: Emphasis, *, stated: bool, ruled: bool
) -> float | None:
    """Return the confidence that the sentence states something lasting, or None if it does not."""
    if ruled:
        return _HELD
    low = lowered(sentence)
    if not _FEWEST <= length(sentence) <= _MOST or low.endswith(("?", "？")):
        return None
    if worth >= least:
        return round(max(worth, _STATED if stated else 0.0), 4)
    if has_cue("passing.momentary", low) or Reader.is_supposed(sentence):
        return None
    if stated and worth >= STATED_WORTH:
        return _STATED
    return KEPT if emphasis.keeps(sentence) else None


def _concepts(text: str, speaker: str | None) -> list[str]:
    """Return the subjects of a fact: first names, then other nouns.

    A speaker's role counts only if there is no other subject.
    """
    names = [held.name for held in named(text) if held.kind != "date" and _is_subject(held.name)]
    taken = {term for name in names for term in told(name)}
    nouns = [_uncounted(phrase) for phrase in noun_phrases(text, stating=True) if not told(phrase) & taken]
    role = (speaker or "").removeprefix("the ")
    found = [*names, *filter(_is_subject, nouns)]
    return ([concept for concept in found if concept.lower() != role] or found)[:_CONCEPTS]


def _is_subject(phrase: str) -> bool:
    """Return whether the phrase names more than an amount or a link between sentences. A long number is a reference."""
    spelt = re.split(r"[\W\d_]+", phrase.lower())
    is_reference = sum(map(str.isdigit, phrase)) >= _REFERENCE
    return is_reference or any(word and word not in words("words", "subjectless") for word in spelt)


def _uncounted(phrase: str) -> str:
    """Return the phrase without an ordinal: `second reason` becomes `reason`."""
    first, _, rest = phrase.partition(" ")
    return rest if first.lower() in words("persons", "counting") else phrase
