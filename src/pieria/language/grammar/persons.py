"""Converts sentences from the first to the third person, so that a fact names its speaker.

`I prefer tea` has no value without its speaker. If a form is ambiguous, the sentence stays unchanged and gets `… says:`
in front.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from pieria.language.analyser.stem import IRREGULAR
from pieria.language.commonwords import OPENINGS
from pieria.language.grammar.forms import Form, forms, third_of
from pieria.language.grammar.noun_phrases import Phrases
from pieria.language.grammar.tokens import Sentence
from pieria.language.letters import lowered
from pieria.language.packs import words

_LONGEST = 1_000
"""Characters of a sentence to convert."""
_SINGLE = frozenset(("i", "me", "my", "mine", "myself"))
_PLURAL = frozenset(("we", "us", "our", "ours", "ourselves", "let's"))
_ADDRESSED = frozenset(("you", "your", "yours", "yourself", "yourselves"))
_QUOTED = re.compile(
    r"`[^`]*`|\"[^\"]*\"|“[^“”]*”|„[^„“”]*[“”]|«[^«»]*»|(?<![\w'])'[^'\n]+'(?!\w)|(?<!\w)‘[^‘’\n]+’(?!\w)"
)
_PERSONAL = re.compile(rf"\b(?:{'|'.join(sorted(_SINGLE | _PLURAL | _ADDRESSED))})\b", re.IGNORECASE)
_THIRD = {
    "am": "is", "'m": " is", "have": "has", "'ve": " has", "haven't": "hasn't", "do": "does", "don't": "doesn't",
    "'ll": " will",
}  # fmt: skip
_ENDING_CLAUSE = frozenset((";", ":", "—", "–", "(", "who", "which", "that", "because", "so", "where", "while", "if"))
_LINKS = frozenset((",", "and", "but", "or", "then", "&"))
_BEFORE_MINE = frozenset(("is", "was", "are", "were", "than", "like"))
_BEHIND_MINE = frozenset(("", ".", ",", "!", ";", "and", "but", "is", "was"))
_INVERTING = ("be", "have", "do", "modals", "future")
_NEARLY_NOT = frozenset(("never", "rarely", "seldom", "hardly", "scarcely", "barely", "not"))


class _Unsure(Exception):
    """A form is ambiguous."""


class _Edit(NamedTuple):
    start: int
    end: int
    new: str


def capital(name: str) -> str:
    return name[:1].upper() + name[1:]


def is_first(text: str) -> bool:
    """Return whether the text has a first-person pronoun outside quotes."""
    return not (_SINGLE | _PLURAL).isdisjoint(_outside(text))


def is_addressed(text: str) -> bool:
    """Return whether the text has a second-person pronoun outside quotes."""
    return not _ADDRESSED.isdisjoint(_outside(text))


def third(text: str, who: str) -> str:
    """Return the sentence of `who` in the third person, or led by its speaker if that is unsafe."""
    low = _outside(text)
    if _SINGLE.isdisjoint(low) and _PLURAL.isdisjoint(low):
        return text
    try:
        if not _PLURAL.isdisjoint(low) or text.isupper():
            raise _Unsure
        return _Turning(text, who).turned()
    except _Unsure:
        return led(text, who)


def led(text: str, who: str) -> str:
    """Return the sentence with its speaker in front. A common first word becomes lower case."""
    first = re.split(r"[\s,'’]", text, maxsplit=1)[0]
    small = first.lower() in OPENINGS and first != "I"
    return f"{capital(who)} says: {text[:1].lower() + text[1:] if small else text}"


def _outside(text: str) -> list[str]:
    if len(text) > _LONGEST or not _PERSONAL.search(text):
        return [word.lower() for word in _PERSONAL.findall(text)]
    said = Sentence(text, lowered(text))
    quoted = _quoted(said)
    return [token.low for at, token in enumerate(said.tokens) if not quoted[at] and token.text != "US"]


def _quoted(said: Sentence) -> list[bool]:
    spans = [found.span() for found in _QUOTED.finditer(said.text)]
    held, at = [], 0
    for token in said.tokens:
        while at < len(spans) and spans[at][1] <= token.start:
            at += 1
        held.append(token.quoted or (at < len(spans) and spans[at][0] <= token.start))
    return held


class _Turning:
    """Converts one sentence."""

    def __init__(self, text: str, who: str) -> None:
        if len(text) > _LONGEST:
            raise _Unsure
        self._in = Sentence(text, lowered(text))
        self._quoted = _quoted(self._in)
        self._phrases = Phrases(self._in)
        self._who = who
        self._first = next((at for at, token in enumerate(self._in.tokens) if token.text[0].isalnum()), 0)

    def turned(self) -> str:
        text, after, parts = self._in.text, 0, list[str]()
        for edit in sorted(self._edits()):
            parts += [text[after : edit.start], edit.new]
            after = edit.end
        return "".join([*parts, text[after:]])

    def _edits(self) -> Iterator[_Edit]:
        said = self._in
        for at, word in enumerate(said.low):
            if self._quoted[at] or word not in _SINGLE:
                continue
            if word == "i":
                yield from self._subject(at)
            elif word == "me":
                yield self._name(at)
            elif self._owns(at):
                yield self._name(at, "'s")
            elif word == "myself" and at:
                yield self._put(at, "themselves")
            else:
                raise _Unsure

    def _owns(self, at: int) -> bool:
        """Return whether `my` or `mine` is a possessive: my house, but not `my goodness`."""
        before, behind = self._in.at(at - 1) if at else "", self._in.at(at + 1)
        if self._in.at(at) == "my":
            return behind not in words("persons", "exclaimed")
        owned = before == "of" or (before in _BEFORE_MINE and behind in _BEHIND_MINE)
        return owned and self._in.at(at) == "mine"

    def _name(self, at: int, ending: str = "") -> _Edit:
        return self._put(at, (capital(self._who) if at == self._first else self._who) + ending)

    def _put(self, at: int, new: str) -> _Edit:
        return _Edit(self._in.tokens[at].start, self._in.tokens[at].end, new)

    # --- "I" and its verbs

    def _subject(self, at: int) -> Iterator[_Edit]:
        said = self._in
        before = said.at(at - 1) if at else ""
        inverted = any(before in words("words", key) for key in _INVERTING) or before.endswith("n't")
        if inverted or before in words("persons", "numbered"):
            raise _Unsure
        yield self._name(at)
        if before in ("and", "or", "nor", "&") and self._is_joined(at - 1):
            if said.at(at + 1) in ("am", "'m"):
                raise _Unsure
            return
        place = self._verb_place(at + 1)
        helped, edits = self._agreeing(place)
        yield from edits
        yield from self._following(place + 1, helped=helped)

    def _is_joined(self, link: int) -> bool:
        """Return whether a second subject precedes `and I`: `Ben and I use Vim`."""
        said, start = self._in, link
        while start > 0 and said.at(start - 1) not in (",", ";", ":", "that", "because"):
            start -= 1
        while start < link and (said.is_adverb(start) or said.at(start) in words("words", "conjunctions")):
            start += 1
        phrase = self._phrases.phrase(start, subject=True)
        return phrase is not None and phrase.after == link

    def _verb_place(self, place: int) -> int:
        said = self._in
        while said.is_adverb(place) or said.at(place) in _NEARLY_NOT:
            place += 1
        return place

    def _agreeing(self, place: int) -> tuple[bool, list[_Edit]]:
        """Return whether the verb is an auxiliary before a base form, and the edits for the third person."""
        said, word = self._in, self._in.at(place)
        if word in _THIRD:
            helps = word in ("do", "don't") and self._is_base(self._verb_place(place + 1))
            return helps or word == "'ll", [self._put(place, _THIRD[word])]
        if word == "'d":
            return True, [self._put(place, self._would(place))]
        if word in ("was", "wasn't", "had", "hadn't"):
            return False, []
        if word in words("words", "modals") or word in ("will", "shall", "did") or self._is_denied(word):
            return True, []
        spelt = _spelt(word)
        if spelt is None or place >= len(said):
            raise _Unsure
        return False, [] if spelt == word else [self._put(place, spelt)]

    def _is_denied(self, word: str) -> bool:
        return word == "cannot" or (word.endswith("n't") and word not in ("ain't", "aren't", "isn't", "weren't"))

    def _is_base(self, place: int) -> bool:
        form = _forms(self._in.at(place))
        return form is not None and "base" in form.kinds

    def _would(self, place: int) -> str:
        following = self._in.at(self._verb_place(place + 1))
        form = _forms(following)
        if following in ("be", "rather", "love", "like", "prefer") or (form and "base" in form.kinds):
            return " would"
        if following in ("better", "been") or (form and "participle" in form.kinds):
            return " had"
        raise _Unsure

    def _following(self, place: int, *, helped: bool) -> Iterator[_Edit]:
        """Yield edits for further verbs of the same subject: `I live in Oslo and work at Acme`."""
        said, plain = self._in, True
        fronted = said.at(self._first) in words("words", "subordinators")
        while place < len(said):
            word = said.at(place)
            if self._quoted[place] or word not in _LINKS or (fronted and word == ","):
                if word in _ENDING_CLAUSE or (fronted and word == ",") or (word == "i" and not self._quoted[place]):
                    return
                plain &= not self._is_base(place) or self._quoted[place]
                place += 1
                continue
            at = self._verb_place(place + 1)
            place += 1
            if said.at(at) in ("am", "don't", "haven't"):
                yield self._put(at, _THIRD[said.at(at)])
            elif said.at(at) == "do" and said.at(at + 1) == "not":
                yield self._put(at, "does")
            elif self._is_base(at) and not helped and said.tokens[at].text.islower():
                spelt = _spelt(said.at(at))
                if spelt is None or not plain or not (said.at(at) == "have" or self._opens_object(at + 1)):
                    raise _Unsure
                yield self._put(at, spelt)
            else:
                continue
            place = at + 1

    def _opens_object(self, place: int) -> bool:
        """Return whether the word can follow a verb, but not a noun."""
        said = self._in
        listed = ("determiners", "possessives", "prepositions", "pronouns")
        return place < len(said) and any(said.at(place) in words("words", key) for key in listed)


_PLAIN = {"am": Form("be", frozenset(("base",)))}


def _forms(word: str) -> Form | None:
    known = forms().get(word) or _PLAIN.get(word)
    if known is None and word in words("persons", "acting"):
        return Form(word, frozenset(("base",)))
    return known


def _spelt(word: str) -> str | None:
    """Return the verb in the third person, or None if its tense is ambiguous or the verb unknown."""
    form = _forms(word)
    if form is None:
        return word if word in IRREGULAR or (word.endswith("ed") and len(word) > 4) else None
    if "past" in form.kinds and "base" not in form.kinds:
        return word
    if IRREGULAR.get(word, form.lemma) != form.lemma:
        return word
    if "base" not in form.kinds or "participle" in form.kinds or word == "be":
        return None
    return third_of(form.lemma)
