"""Lasting facts of an episode: statements on people, projects, preferences and decisions that can be read alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from pieria.language.commonwords import COMMON
from pieria.language.grammar.clauses import Reader
from pieria.language.grammar.names import named
from pieria.language.grammar.persons import is_addressed, is_first, led, third
from pieria.language.grammar.pronouns import explained, points_out, shows, stood_in
from pieria.language.letters import lowered
from pieria.language.packs import pack, words
from pieria.language.sentences import sentences
from pieria.language.standing_rules import standing
from pieria.models.mind import Proposition, StepSeen
from pieria.models.minds.rules.emphasis import KEPT, NONE, Emphasis
from pieria.models.minds.rules.pieces import bare, begins_with_cue, has_cue, noun_phrases, told

_FEWEST, _MOST = 3, 45
"""Words of a fact."""
_LONGEST = 1_000
"""Characters of a fact."""
_CONCEPTS = 6
_COMPARED = 100
"""The most statements to compare one with."""
_HELD, _STATED, _CUED = 1.0, 0.9, 0.7

_MARK = re.compile(
    r"""
    (?: [\[(]? (?P<when> (?: \d{4}-\d\d-\d\d [T ,]{1,2} )? \d{1,2}:\d\d (?: :\d\d )? (?: \s?[AaPp][Mm] )? ) [\])]?
        (?: \s? [-–] )? \s{1,3} )?
    (?: < (?P<chat> [\w.-]{1,30} ) > (?= \s )
      | [*_]{0,2} (?P<name> [^\W\d_] [\w.'’-]{0,30} (?: [ ] [^\W\d_] [\w.'’-]{0,30} ){0,2} )
        (?: [ ] \( (?P<who> [^()\n]{1,40} ) \) )? [*_]{0,2} : [*_]{0,2} (?= \s | \Z ) )
    """,
    re.VERBOSE,
)
_NAME = re.compile(r"[^\W\d_][\w.'’-]*(?: [^\W\d_][\w.'’-]*){0,2}")
_NO_NAME_ENDS = ("tion", "sion", "ment", "ness", "ity", "ing", "ance", "ence", "ture", "ship", "ism")
_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"'})

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


class _Reading:
    """Reads the facts of one text. With `serves`, a named speaker is talking to the agent, not to another person."""

    def __init__(self, emphasis: Emphasis, *, serves: bool) -> None:
        self._emphasis = emphasis
        self._serves = serves
        self._reader = Reader()
        self._before: tuple[str, str] | None = None
        """The sentence before: with its pronouns replaced, and as a fact. None if it explains nothing."""

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
    """Return whether the speaker reports a decision or a finding."""
    low = lowered(said.text)
    telling = has_cue("lasting.decided", low) or has_cue("lasting.found", low)
    return telling and is_first(said.text) and not standing(said.text)


def _explains(said: Spoken) -> bool:
    """Return whether the sentence may be repeated to explain the next one."""
    low = lowered(said.text)
    asks = low.endswith(("?", "？")) or begins_with_cue("passing.greetings", low)
    return not (asks or said.quoted or Reader.is_supposed(said.text)) and _FEWEST <= len(low.split()) <= _MOST


def _confidence(sentence: str, stated: bool, emphasis: Emphasis, *, ruled: bool) -> float | None:
    """Return the confidence that the sentence states something lasting, or None if it does not."""
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
    """Return the subjects of a fact: first names, then other nouns.

    A speaker's role counts only if there is no other subject.
    """
    names = [held.name for held in named(text) if held.kind != "date"]
    taken = {term for name in names for term in told(name)}
    nouns = [_uncounted(phrase) for phrase in noun_phrases(text, stating=True) if not told(phrase) & taken]
    role = (speaker or "").removeprefix("the ")
    found = [*names, *filter(None, nouns)]
    return ([concept for concept in found if concept.lower() != role] or found)[:_CONCEPTS]


def _uncounted(phrase: str) -> str:
    """Return the phrase without an ordinal: `second reason` becomes `reason`."""
    first, _, rest = phrase.partition(" ")
    return rest if first.lower() in words("persons", "counting") else phrase


class Spoken(NamedTuple):
    """A sentence without marks, its speaker as worded within a sentence, and whether it continues the one before.

    With `quoted`, it is in quotation marks that begin or end outside it: the words are another person's.
    """

    text: str
    speaker: str | None
    goes_on: bool
    quoted: bool

    @property
    def is_named(self) -> bool:
        return self.speaker is not None and not self.speaker.startswith("the ")


def is_serving(speaker: str) -> bool:
    """Return whether the speaker is the assistant, the agent or the system."""
    return speaker.removeprefix("the ") in words("persons", "serving")


def spoken(text: str, speaker: str | None = None) -> Iterator[Spoken]:
    """Yield the sentences. `speaker` is the speaker of sentences without a name in front."""
    unnamed = speaker
    known: set[str] = set()
    goes_on, open_quote, after = False, False, 0
    for start, end in sentences(text):
        opens_line = after == 0 or "\n" in text[after:start]
        open_quote, after = open_quote and not opens_line, end
        said = " ".join(text[start:end].split())
        cited = opens_line and said.startswith(">")
        mark = _MARK.match(bare(said))
        turn = _turn(mark, known, opens_line=opens_line) if mark else None
        if turn is not None and mark is not None:
            said, goes_on = bare(said)[mark.end() :], False
            speaker = turn
            known.add(turn)
        elif opens_line and mark and _is_unknown(mark):
            speaker, goes_on = unnamed, False
        said = bare(said.strip())
        began = open_quote
        open_quote ^= said.translate(_QUOTES).count('"') % 2 == 1
        if said:
            yield Spoken(said, None if cited else speaker, goes_on and not cited, cited or began or open_quote)
            goes_on = not cited


def _turn(mark: re.Match[str], known: set[str], *, opens_line: bool) -> str | None:
    """Return the speaker of a mark, or None if it marks no turn. Within a line, only a known name or a role counts."""
    if mark["chat"]:
        return mark["chat"] if opens_line else None
    name = mark["name"]
    role = _roles().get(name.lower())
    if role is not None:
        return mark["who"] if mark["who"] and _is_name(mark["who"]) else role
    timed = mark["when"] is not None and name.lower() not in _labels()
    if name in known or (opens_line and (timed or _is_name(name))):
        return name
    return None


def _is_name(name: str) -> bool:
    parts = name.split()
    return (
        _NAME.fullmatch(name) is not None
        and all(part[0].isupper() for part in parts)
        and not any(part.lower() in _labels() for part in parts)
        and not parts[0].lower().endswith(_NO_NAME_ENDS)
        and not (len(name) > 4 and name.isupper())
    )


def _is_unknown(mark: re.Match[str]) -> bool:
    """Return whether the mark may name another speaker or a label."""
    name = mark["name"] or ""
    return name[:1].isupper() and " " not in name and name.lower() not in words("persons", "announcing")


@cache
def _roles() -> Mapping[str, str]:
    return {role: said for said, listed in pack("persons")["speakers"].items() for role in listed.split()}


@cache
def _labels() -> frozenset[str]:
    return COMMON | words("persons", "labels") | words("persons", "announcing")
