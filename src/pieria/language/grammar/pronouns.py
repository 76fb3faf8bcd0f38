"""Pronouns: replaced by a name if it is unambiguous, otherwise explained by the sentence before.

A fact must be readable alone. A sentence with an unexplained pronoun is no fact.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pieria.language.grammar.forms import forms
from pieria.language.grammar.names import named
from pieria.language.grammar.noun_phrases import Phrase, Phrases
from pieria.language.grammar.tokens import LONGEST, Sentence
from pieria.language.letters import lowered
from pieria.language.packs import words

_SHOWING = re.compile(r"(?:this|that|these|those|there|here|such)\b", re.IGNORECASE)
_COUNTING = re.compile(r"the\b", re.IGNORECASE)
_PEOPLE = frozenset(("he", "she", "him", "her", "his", "hers"))
_THINGS = frozenset(("it", "its"))
_SEVERAL = frozenset(("they", "them", "their", "theirs"))
_ANY = _PEOPLE | _THINGS | _SEVERAL
_OBJECTS = frozenset(("it", "him", "them"))
_OWNERS = frozenset(("his", "her", "its"))
_BETWEEN = frozenset((",", ";", ":", "and", "but", "or", "that", "which", "who", "so", "because", "than"))
_AT = frozenset(("at", "in", "near", "on", "into", "onto", "inside", "via", "per"))
_EMPTY = re.compile(r"(?:it|there)\b(?:'s)?[^,;]{0,60}\b(?:to|that)\b", re.IGNORECASE)
_STANDING_IN = {"he": "Someone", "she": "Someone", "it": "The thing", "they": "The people", "its": "The thing's"} | {
    own: "Someone's" for own in ("his", "her", "their")
}
_POINTING = re.compile(rf"\b(?:{'|'.join(sorted(_ANY))})\b", re.IGNORECASE)
_LONGER = {"'s": " is", "'ll": " will"}


class _Mention(NamedTuple):
    phrase: Phrase
    is_person: bool
    """Whether it may be a person."""
    is_thing: bool
    """Whether it may be a thing."""
    is_several: bool


def shows(text: str) -> bool:
    """Return whether the text begins by pointing: this is, the second is."""
    if not _COUNTING.match(text):
        return _SHOWING.match(text) is not None
    said = Sentence(text, lowered(text))
    return said.at(1) in words("persons", "counting") and (said.at(2) == "one" or _is_clause(said, 2))


def stood_in(text: str) -> str:
    """Return the text with a placeholder for its first pronoun, so that its statement can be parsed."""
    found = _POINTING.match(text)
    word = found[0].lower() if found else ""
    return _STANDING_IN[word] + text[len(word) :] if word in _STANDING_IN else text


def points_out(text: str) -> bool:
    """Return whether the text has a pronoun that may refer to something outside the text."""
    if not _POINTING.search(text):
        return False
    said = Sentence(text, lowered(text))
    places = [at for at, word in enumerate(said.low) if word in _ANY]
    if not places:
        return False
    if len(said) > LONGEST:
        return True
    mentions = list(_mentions(said, frozenset(), frozenset()))
    fronted = said.at(0) in words("words", "subordinators")
    return any(not _is_told(said, at, mentions, fronted=fronted) for at in places)


def _is_told(said: Sentence, at: int, mentions: Sequence[_Mention], *, fronted: bool) -> bool:
    word = said.at(at)
    fitting = [
        mention
        for mention in mentions
        if (fronted or mention.phrase.after <= at)
        and (mention.is_person if word in _PEOPLE else mention.is_thing if word in _THINGS else True)
    ]
    owns = word in _OWNERS and said.is_nominal(at + 1)
    if len(fitting) == 1 and not fronted and word in _OBJECTS | {"her"} and not owns:
        # A reflexive would show one person: `Ben saw him` has two.
        between = said.low[fitting[0].phrase.after : at]
        return not _BETWEEN.isdisjoint(between)
    return bool(fitting)


def explained(text: str, before: str) -> str | None:
    """Return the text with a name for its first pronoun, if the sentence before has exactly one match."""
    said = Sentence(text, lowered(text))
    word = said.at(0)
    owns = word in _OWNERS and said.is_nominal(1)
    if not (word in ("he", "she", "it") or owns) or _EMPTY.match(text) or len(said) > LONGEST:
        return None
    meant = _meant(before, person=word not in _THINGS)
    ending = "'s" if owns else _longer(said)
    if meant is None or ending is None:
        return None
    rest = text[said.tokens[1].end if not owns and said.at(1) in _LONGER else said.tokens[0].end :]
    told = f"{meant}{ending}{rest}"
    return None if points_out(told) else told


def _longer(said: Sentence) -> str | None:
    """Return the long form of a short `is` or `will`, or None if `'s` may be `has`."""
    short = said.at(1)
    if short not in _LONGER:
        return None if short.startswith("'") else ""
    form = forms().get(said.at(2))
    done = short == "'s" and (said.at(2) == "been" or (form is not None and "participle" in form.kinds))
    return None if done else _LONGER[short]


def _meant(text: str, *, person: bool) -> str | None:
    said = Sentence(text, lowered(text))
    if len(said) > LONGEST:
        return None
    kinds = {each.name.casefold(): each.kind for each in named(text)}
    people = frozenset(name for name, kind in kinds.items() if kind == "person")
    others = frozenset(name for name, kind in kinds.items() if kind not in ("person", "name"))
    mentions = list(_mentions(said, people, others))
    fitting = [one for one in mentions if (one.is_person if person else one.is_thing)]
    if len(fitting) != 1 or fitting[0].is_several or not _is_clause(said, mentions[0].phrase.after):
        return None
    phrase = fitting[0].phrase
    if phrase.determiner in ("denied",) or phrase.of is not None:
        return None
    bare = phrase.determiner == "" and not phrase.named
    if bare or phrase.owner_word in _OWNERS | {"their"}:
        return None
    whole = f"The {phrase.text}" if phrase.determiner in ("the", "a") else phrase.text
    return whole[:1].upper() + whole[1:]


def _is_clause(said: Sentence, place: int) -> bool:
    """Return whether a known verb follows the first phrase. Otherwise the end of that phrase is unknown."""
    helping = any(said.at(place) in words("words", key) for key in ("be", "have", "do", "modals", "future", "adverbs"))
    return helping or said.at(place).endswith("n't") or said.at(place) in forms()


def _mentions(said: Sentence, people: frozenset[str], others: frozenset[str]) -> Iterator[_Mention]:
    """Yield what the sentence mentions. `people` and `others` are names of known kinds."""
    phrases = Phrases(said)
    at, found, after = 0, 0, -1
    while at < len(said):
        # The word right after a phrase is its verb.
        phrase = None if said.is_time(at) or at == after else phrases.phrase(at, subject=True)
        if phrase is None or phrase.pronoun or phrase.after <= at:
            at += 1
            continue
        before = said.at(at - 1) if at else ""
        if not (found and before in words("words", "be") and phrase.determiner in ("a", "") and not phrase.named):
            found += 1
            yield _mention(phrase, before, people, others)
            yield from (_mention(inner, "", people, others) for inner in _within(phrase))
        at = after = phrase.after


def _within(phrase: Phrase) -> Iterator[Phrase]:
    """Yield the owner and the `of` phrase."""
    if phrase.owner is not None and phrase.owner not in ("I", "we"):
        is_name = phrase.owner.rsplit(maxsplit=1)[-1][0].isupper()
        yield Phrase(phrase.owner, phrase.first, phrase.after, noun=phrase.owner.lower(), named=is_name)
    if phrase.of is not None:
        yield phrase.of


def _mention(phrase: Phrase, before: str, people: frozenset[str], others: frozenset[str]) -> _Mention:
    name = phrase.text.casefold()
    noun = phrase.noun.split()[-1] if phrase.noun else ""
    known = name in people
    called = phrase.named and phrase.determiner in ("", "own")
    may_be = _is_human(noun) or noun.endswith(tuple(words("persons", "person_endings"))) or called
    person = known or (name not in others and before not in _AT and may_be)
    return _Mention(
        phrase,
        person,
        not known and (phrase.named or not _is_human(noun)),
        phrase.noun.endswith("s") and not phrase.noun.endswith(("ss", "us", "is")) and not phrase.named,
    )


def _is_human(noun: str) -> bool:
    held = words("persons", "people") | words("nouns", "roles") | words("nouns", "relations")
    return noun in held and noun not in words("nouns", "pets")
