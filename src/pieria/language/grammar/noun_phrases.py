"""Noun phrases: subjects and objects of a sentence, their owners, and lists of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pieria.language.grammar.forms import adjectives, forms
from pieria.language.grammar.tokens import Sentence
from pieria.language.packs import words

_OWNERS = {"my": "I", "our": "we"}
_POINTING = frozenset(("this", "that", "these", "those", "one", "her"))
"""Pronouns when alone, determiners before a noun."""
_FOLK = frozenset(("people", "children", "men", "women", "folks", "staff", "police", "engineers"))
_LONGEST = 8


@dataclass(frozen=True, slots=True)
class Phrase:
    """A noun phrase. `text` has no article. `first` and `after` bound its tokens."""

    text: str
    first: int
    after: int
    determiner: str = ""
    """`the`, `a`, `own`, `denied`, or empty."""
    owner: str | None = None
    owner_word: str | None = None
    """A possessive such as `his`, whose owner is in the context."""
    noun: str = ""
    """The noun in lower case, without its owner and without an `of` phrase."""
    of: Phrase | None = None
    named: bool = False
    called: str | None = None
    """The title before a name: sister in `my sister Lena`, CTO in `our CTO Maya`."""
    pronoun: bool = False

    @property
    def noun_text(self) -> str:
        """The noun as spelt, without its owner and without an `of` phrase."""
        if self.of is None:
            return self.bare
        words_before_of = len(self.bare.split()) - len(self.of.text.split()) - 1
        return " ".join(self.bare.split()[:words_before_of])

    @property
    def bare(self) -> str:
        """The text without its owner: new tracker in `our new tracker`."""
        return self.text if self.determiner != "own" else self.text.partition(" ")[2]

    @property
    def is_plain(self) -> bool:
        return bool(self.text) and len(self.text.split()) <= _LONGEST and self.determiner != "denied"


class Phrases:
    """Reads the noun phrases of one sentence."""

    def __init__(self, sentence: Sentence) -> None:
        self._in = sentence
        self.several = False
        """Whether the clause has several subjects, so that a verb after `and` has no s."""

    def is_possessive(self, place: int) -> bool:
        """Return whether the 's marks an owner, and is not a short `is`."""
        said = self._in
        if said.at(place) == "'":
            return True
        if said.at(place) != "'s" or place == 0 or said.at(place - 1) in words("words", "pronouns"):
            return False
        if not said.is_nominal(place + 1) or said.is_time(place + 1):
            return False
        form = forms().get(said.at(place + 1))
        verbal = form is not None and bool(form.kinds & {"ing", "participle"})
        return not (verbal or said.at(place + 1) in adjectives()) or self._verb_follows(place + 2)

    def _verb_follows(self, place: int) -> bool:
        said = self._in
        return any(
            said.at(at) in words("words", "be") or said.at(at) in words("words", "have")
            for at in range(place, min(place + 4, len(said)))
        )

    def is_auxiliary(self, place: int) -> bool:
        said = self._in
        word = said.at(place)
        if word in ("'s", "'"):
            return word == "'s" and not self.is_possessive(place)
        if word.endswith("n't"):
            return True
        helping = any(word in words("words", key) for key in ("be", "have", "do", "future", "modals"))
        return helping and not (place and said.tokens[place].text[0].isupper())

    def is_verb(self, place: int, first: int, several: bool = False) -> bool:
        """Return whether the word is the verb of a subject that begins at `first`."""
        said = self._in
        if self.is_auxiliary(place):
            return True
        form = forms().get(said.at(place))
        if form is None or place <= first or said.tokens[place].text[0].isupper():
            return False
        following = place + 1
        if said.at(following) in ("'s", "'") or self.is_auxiliary(following):
            return False
        if self._is_finite(following) and not said.is_name(place - 1):
            return False
        if "third" in form.kinds:
            return said.is_name(place - 1) or not self._is_finite(following + 1)
        if "past" in form.kinds:
            return not self._is_adjective(following)
        return "base" in form.kinds and (several or self._is_several(place - 1))

    def _is_finite(self, place: int) -> bool:
        form = forms().get(self._in.at(place))
        return self.is_auxiliary(place) or (form is not None and bool(form.kinds & {"third"}))

    def _is_adjective(self, following: int) -> bool:
        """Return whether nouns and then a verb follow: `the minimum supported version is`."""
        at = following
        while self._in.is_nominal(at):
            at += 1
        return at > following and self._in.at(at) in words("words", "be")

    def _is_several(self, place: int) -> bool:
        said = self._in
        word = said.at(place)
        if word in words("words", "plural_pronouns") or word in _FOLK:
            return True
        return word.endswith("s") and not word.endswith(("ss", "us", "is"))

    def listed(self, place: int, *, subject: bool) -> tuple[list[Phrase], int]:
        """Return the phrases of a list `A, B and C`, and the place after it. A list with `or` gives none.

        A list of objects ends before a phrase that is the subject of another clause, or its verb.
        """
        said = self._in
        if said.at(place) in ("both", "either", "neither"):
            place += 1
        first = self.phrase(place, subject=subject)
        if first is None:
            return [], place
        held, after = [first], first.after
        waiting: list[Phrase] = []
        at = after
        while said.at(at) in (",", "and", "&", "or") or said.low[at : at + 3] == ["as", "well", "as"]:
            last = said.at(at) != ","
            step = 3 if said.at(at) == "as" else 2 if said.at(at) == "," and said.at(at + 1) in ("and", "or") else 1
            last = last or step == 2
            following = self.phrase(at + step, subject=True, several=last)
            if following is None or (not subject and self._begins_clause(at + step, following)):
                break
            if "or" in said.low[at : at + step]:
                return [], following.after
            waiting.append(following)
            at = following.after
            if last:
                held, waiting, after = [*held, *waiting], [], at
                break
        return held, after

    def _begins_clause(self, place: int, phrase: Phrase) -> bool:
        form = forms().get(self._in.at(place))
        kinds = {"third", "past", "base"} if self.several else {"third", "past"}
        finite = form is not None and form.kinds & kinds and not self._is_capital(place)
        return bool(finite) or self.is_verb(phrase.after, phrase.first)

    def phrase(self, place: int, *, subject: bool, several: bool = False) -> Phrase | None:
        said = self._in
        word = said.at(place)
        if said.is_time(place):
            return None
        alone = word not in _POINTING or not said.is_nominal(place + 1)
        if word in words("words", "pronouns") and alone and not self._is_capital(place):
            return Phrase(said.span(place, place + 1), place, place + 1, noun=word, pronoun=True)
        determiner, owner_word, at = self._determined(place)
        owner: str | None = None
        core, begin = at, place if determiner == "own" else at
        while said.is_nominal(at) and not said.is_time(at):
            if (subject and self.is_verb(at, core, several)) or (at > core and self._is_reduced(at)):
                break
            at += 1
            if self.is_possessive(at):
                owner, owner_word = said.span(begin if determiner == "own" else core, at), None
                determiner, at = "own", at + 1
                core = at
        if at == core:
            return None
        noun, after, of = said.span(core, at), at, None
        if said.at(at) == "of":
            of = self.phrase(at + 1, subject=subject)
            after = of.after if of else at
        elif said.at(at) == "per" and said.is_nominal(at + 1):
            after = at + 2
        whole = Phrase(
            said.span(begin, after), core, after, determiner, owner or _OWNERS.get(owner_word or ""), owner_word,
            noun.lower(), of, self._is_named(core, at),
        )  # fmt: skip
        return self._introduced(whole, core, at)

    def _is_reduced(self, place: int) -> bool:
        """Return whether a participle phrase begins here: `a dog named Rex`, `a tool written in Rust`."""
        form = forms().get(self._in.at(place))
        if form is not None and "participle" in form.kinds and self._in.at(place + 1) in words("words", "prepositions"):
            return not self._is_capital(place)
        return self._in.at(place) in ("named", "called") and place + 1 < len(self._in) and self._in.is_name(place + 1)

    def _is_capital(self, place: int) -> bool:
        return place > 0 and len(self._in.at(place)) > 1 and self._in.tokens[place].text[0].isupper()

    def _determined(self, place: int) -> tuple[str, str | None, int]:
        said = self._in
        word = said.at(place)
        if self._is_capital(place):
            return "", None, place
        if word in words("words", "denying") or word in ("few", "little"):
            return "denied", None, place + 1
        if word in words("words", "possessives"):
            return "own", word, place + 1
        if word in ("a", "an", "another", "one"):
            return "a", None, place + 1
        if word == "all" and said.at(place + 1) in words("words", "possessives"):
            return "own", said.at(place + 1), place + 2
        if word in words("words", "determiners"):
            return "the", None, place + 1 + (said.at(place + 1) == "the")
        return "", None, place

    def _is_named(self, core: int, after: int) -> bool:
        said = self._in
        return said.is_name(after - 1) or said.is_name(core)

    def _introduced(self, phrase: Phrase, core: int, after: int) -> Phrase:
        """Return the name of an introduction, with its title: `my sister Lena` is Lena, called my sister."""
        said = self._in
        name = after
        titles = words("nouns", "relations") | words("nouns", "roles")
        while name > core and said.is_name(name - 1) and said.at(name - 1) not in titles:
            name -= 1
        title = said.span(core, name)
        if name in (core, after) or phrase.of is not None or not title:
            return phrase
        if title.lower().split()[-1] not in titles and title.lower() not in titles:
            return phrase
        spelt = said.span(name, after)
        return replace(phrase, text=spelt, determiner="", noun=spelt.lower(), called=title)
