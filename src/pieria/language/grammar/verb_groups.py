"""Verb groups, such as has moved, is being built, decided to use, does not run: the verb, and whether it is stated."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pieria.language.grammar.forms import adjectives, forms, frames
from pieria.language.grammar.noun_phrases import Phrases
from pieria.language.grammar.tokens import Sentence
from pieria.language.packs import pack, words


@dataclass(frozen=True, slots=True)
class Group:
    """`kind` is `verb`, `passive`, `be`, `meant` or `unknown`. `after` is the place behind the group."""

    kind: str
    after: int
    lemma: str = ""
    denied: bool = False
    past: bool = False
    future: bool = False
    perfect: bool = False
    several: bool = False


_NEEDING = frozenset(("going", "agree", "agrees", "agreed", "like", "likes"))
"""A noun may follow these words as well: going to town, agreed to terms."""


class VerbGroups:
    """Reads the verb groups of one sentence."""

    def __init__(self, sentence: Sentence, phrases: Phrases) -> None:
        self._in = sentence
        self._phrases = phrases

    def at(self, place: int) -> Group | None:
        said = self._in
        group = Group("", place)
        state = ""
        idiom = pack("words")["idioms"].get(" ".join(said.low[place : place + 2]))
        if idiom:
            return replace(group, kind="verb", lemma=idiom, after=place + 2)
        while True:
            at = group.after
            word = said.at(at)
            if self._in.is_adverb(at):
                group = replace(group, after=at + 1)
            elif word in words("words", "denying") or word.endswith("n't"):
                group = replace(group, after=at + 1, denied=True, future=group.future or word == "won't")
                state = state or ("be" if word in ("isn't", "aren't", "wasn't", "weren't") else "")
            elif word in words("words", "modals"):
                group = replace(group, after=at + 1, denied=True)
                state = "do"
            elif word in words("words", "future"):
                group = replace(group, after=at + 1, future=True)
                state = "do"
            elif word in words("words", "be") and self._is_short_be(at):
                several = word in ("are", "were", "'re")
                group = replace(group, after=at + 1, past=word in ("was", "were") or group.past, several=several)
                state = "be"
            elif word in words("words", "have") and self._helps(at + 1, ("participle",)):
                group = replace(group, after=at + 1, perfect=True)
                state = "have"
            elif word in words("words", "do") and self._helps(at + 1, ("base",)):
                group = replace(group, after=at + 1, past=word == "did")
                state = "do"
            else:
                return self._main(group, state)

    def _is_short_be(self, place: int) -> bool:
        return self._in.at(place) != "'s" or not self._phrases.is_possessive(place)

    def _helps(self, place: int, kinds: tuple[str, ...]) -> bool:
        """Return whether a form of this kind follows, after adverbs and negations."""
        said = self._in
        while self._in.is_adverb(place) or said.at(place) in words("words", "denying"):
            place += 1
        form = forms().get(said.at(place))
        if said.at(place) in ("been", "had") and "participle" in kinds:
            return True
        if form is None or not form.kinds & set(kinds) or said.tokens[place].text[0].isupper():
            return False
        return form.lemma != "have" or "base" in kinds

    def _main(self, group: Group, state: str) -> Group | None:
        said = self._in
        at = group.after
        word = said.at(at)
        form = forms().get(word)
        if state == "be":
            return self._behind_be(group)
        if self._is_meant(at, finite=state != "do"):
            return replace(group, kind="meant", after=at + 3)
        if form is None or not form.kinds - {"ing"}:
            return replace(group, kind="unknown") if state else None
        if word in words("words", "starting") or word in ("stop", "stopped", "stops"):
            following = forms().get(said.at(at + 1))
            if following is not None and "ing" in following.kinds:
                ended = word.startswith("stop")
                return self._verb(group, at + 1, following.lemma, denied=ended)
        if word in words("words", "get"):
            return self._became(replace(group, after=at + 1, past=True))
        past = state == "" and "past" in form.kinds and "base" not in form.kinds
        if state == "" and form.kinds == {"participle"}:
            return None
        return self._verb(group, at, form.lemma, past=past)

    def _verb(self, group: Group, place: int, lemma: str, *, past: bool = False, denied: bool = False) -> Group:
        whole = f"{lemma} {self._in.at(place + 1)}"
        after = place + 2 if whole in frames() else place + 1
        lemma = whole if whole in frames() else lemma
        return replace(
            group, kind="verb", after=after, lemma=lemma, past=past or group.past, denied=denied or group.denied
        )

    def _is_meant(self, place: int, *, finite: bool) -> bool:
        """Return whether an action is only intended: `plans to visit`, `decided to use`."""
        said = self._in
        if said.at(place) not in words("words", "intending") or said.at(place + 1) != "to":
            return False
        if said.at(place) == "going" and finite:
            return False
        word = said.at(place + 2)
        verb = forms().get(word)
        certain = said.at(place) not in _NEEDING or said.at(place + 3) in words("words", "determiners")
        if verb is None and certain and said.is_nominal(place + 2) and word.isalpha():
            return not said.tokens[place + 2].text[0].isupper()
        return verb is not None and "base" in verb.kinds

    def _behind_be(self, group: Group) -> Group:
        said = self._in
        at = group.after
        if self._is_meant(at, finite=False):
            return replace(group, kind="meant", after=at + 3)
        form = forms().get(said.at(at))
        if form is not None and "ing" in form.kinds and form.lemma != "be":
            return self._verb(group, at, form.lemma)
        return self._became(group)

    def _became(self, group: Group) -> Group:
        said = self._in
        at = group.after
        form = forms().get(said.at(at))
        capital = at < len(said) and at > 0 and said.tokens[at].text[0].isupper()
        if said.at(at) in adjectives() and not capital and not said.is_nominal(at + 1):
            return replace(group, kind="passive", after=at + 1, lemma=f"={said.at(at)}")
        if form is not None and "participle" in form.kinds and not capital:
            return replace(self._verb(group, at, form.lemma), kind="passive")
        return replace(group, kind="be")
