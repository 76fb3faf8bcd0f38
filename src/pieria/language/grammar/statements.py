"""Statements of a text: resolves `she`, dates and confidence, and rejects what is no statement."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pieria.language.grammar import Triple
from pieria.language.grammar.noun_phrases import Phrase
from pieria.language.grammar.verb_groups import Group
from pieria.language.packs import pack, words

_PLAIN, _MEANT, _GUESSED = 0.9, 0.8, 0.7
_LONGEST = 10
"""Words of a subject or object; more are no name."""
_SPAN = re.compile(r" (to|until|till|through|and) ")
_PEOPLE = frozenset(("he", "she"))
_THINGS = frozenset(("it",))

_PASSING = frozenset(("current", "latest", "new", "official", "exact", "full", "main", "own", "present"))
_MEMBERS = {"part": "part_of", "member": "member_of", "fan": "likes", "citizen": "citizen_of", "resident": "lives_in"}
_CHERISHED = frozenset(("favourite", "favorite", "preferred", "best"))
_NO_WORD = re.compile(r"[^\w]+")

Stated = tuple[str, str, str]


class Statements:
    """Collects the statements of a text, sentence by sentence."""

    def __init__(self) -> None:
        self._done: dict[tuple[str, str, str], Triple] = {}
        self._open: list[Triple] = []
        self._since: str | None = None
        self._until: str | None = None
        self._fronted: tuple[str, str] | None = None
        self._sure = _PLAIN
        self._guessed: set[str] = set()
        self.topic: Phrase | None = None
        self.count = 0
        """Clauses that state something, also those that no pattern draws reliably."""

    def triples(self) -> list[Triple]:
        self.end()
        return list(self._done.values())

    # --- a clause

    def open(self, when: str, word: str = "") -> None:
        """Keep a time that precedes the next clause."""
        self._fronted = (word, when)

    def begin(self, group: Group) -> None:
        self.end()
        self._sure = _MEANT if group.future else _PLAIN

    def end(self) -> None:
        """Finish a clause. Its times apply to all its statements."""
        for triple in self._open:
            key = (triple.subject, triple.predicate, triple.object)
            self._done.setdefault(key, replace(triple, since=self._since, until=self._until))
        if self._open:
            self._fronted = None
        self._open, self._since, self._until = [], None, None

    def held(self, word: str, when: str, *, starts: bool) -> None:
        """Add a time to the current clause."""
        first, link, last = _SPAN.split(when, maxsplit=1) if _SPAN.search(when) else (when, "", "")
        if link and word in ("from", "between", ""):
            self._since, self._until = first, last
        elif word in ("until", "till"):
            self._until = when
        elif word in ("since", "from") or starts:
            self._since = when
        elif word == "to" and self._since is not None:
            self._until = when

    # --- statements

    def add(self, subjects: Sequence[Phrase], predicate: str, objects: Sequence[Phrase]) -> None:
        for subject in subjects:
            for object_ in self._known(objects):
                if subject.is_plain and object_.is_plain:
                    self._state(subject.text, predicate, object_.text)
        for phrase in objects:
            self.equal(introduced(phrase))

    def named(self, subjects: Sequence[Phrase], predicate: str, names: Sequence[Phrase]) -> None:
        """Add a name: `The service is called Heron`. With `Karim's wife is called Leila`, add the relation."""
        for subject in subjects:
            told = subject.owner is not None and is_relation(subject.noun)
            for name in names:
                whose = list(equated(subject, name, "", (), several=False)) if told else []
                self.equal(whose or [(subject.text, predicate, name.text)])

    def time(self, subjects: Sequence[Phrase], predicate: str, when: str) -> None:
        for subject in subjects:
            if subject.is_plain:
                self._state(subject.text, predicate, when)

    def happening(self, subjects: Sequence[Phrase], when: str, word: str) -> None:
        """Add a time that belongs to somebody: `Helen's birthday is on 3 March`."""
        for subject in subjects:
            if subject.pronoun or word in ("since", "until", "from", "before", "after"):
                continue
            if subject.owner is not None and (not word or time_noun(subject.noun)):
                self._state(subject.owner, f"has_{subject.noun.replace(' ', '_')}", when)
            else:
                self.count += 1

    def equal(self, stated: Sequence[Stated] | Iterator[Stated]) -> None:
        for triple in stated:
            self._state(*triple)

    def _state(self, subject: str, predicate: str, object_: str) -> None:
        fits = all(0 < len(name.split()) <= _LONGEST for name in (subject, object_))
        if not fits or subject.casefold() == object_.casefold() or subject.lower() == "you":
            return
        self.count += 1
        sure = min(self._sure, _GUESSED) if subject in self._guessed else self._sure
        self._open.append(Triple(subject, predicate, object_, sure))
        if self._fronted is not None and self._since is None:
            self._since = self._since_when(predicate)

    def _since_when(self, predicate: str) -> str | None:
        """Return the fronted time if the statement begins then: In May she moved to Oslo."""
        word, when = self._fronted or ("", "")
        begins = predicate in ("joined", "left", "bought", "chose", "switched_to", "married_to")
        return when if word == "since" or begins else None

    # --- pronouns

    def resolved(self, subjects: Sequence[Phrase]) -> list[Phrase]:
        """Return the subjects that have a name; `she` becomes the last topic."""
        found: list[Phrase] = []
        for subject in subjects:
            phrase = self._meant(subject)
            if phrase is None or phrase.determiner == "denied":
                continue
            self.equal(introduced(phrase))
            if not found and not phrase.pronoun and (self.topic is None or phrase.named):
                self.topic = phrase
            found.append(phrase)
        return found

    def _known(self, phrases: Sequence[Phrase]) -> list[Phrase]:
        return [known for phrase in phrases if (known := self._meant(phrase)) is not None]

    def _meant(self, phrase: Phrase) -> Phrase | None:
        if phrase.pronoun and phrase.noun in words("words", "unresolvable"):
            return self._topical(phrase.noun)
        if phrase.owner_word in ("his", "her", "its", "their") and phrase.owner is None:
            owner = self._topical({"his": "he", "her": "she", "its": "it"}.get(phrase.owner_word, "they"))
            return phrase if owner is None else replace(phrase, owner=owner.text)
        return phrase

    def _topical(self, pronoun: str) -> Phrase | None:
        topic = self.topic
        if topic is None or pronoun not in _PEOPLE | _THINGS:
            return None
        is_person = topic.named and topic.determiner == "" and len(topic.text.split()) <= 3
        if is_person != (pronoun in _PEOPLE):
            return None
        self._guessed.add(topic.text)
        return topic


def equated(subject: Phrase, said: Phrase, word: str, where: Sequence[Phrase], *, several: bool) -> Iterator[Stated]:
    """Yield the statements of `subject is said`, with `where` after `word`: a designer at Acme."""
    owner = _owner(subject)
    if owner is not None and not said.pronoun:
        yield owner, _has(subject.noun, several=several), said.text
        return
    if said.pronoun or not said.text:
        return
    owner = _owner(said)
    role = _is_role(said.noun)
    if said.determiner == "own" and owner is None:
        return
    if said.of is not None and said.noun.split()[-1] in _MEMBERS:
        yield subject.text, _MEMBERS[said.noun.split()[-1]], said.of.text
    elif owner is not None and _tells_whose(said, owner):
        yield owner, _has(said.noun, several=several), subject.text
    elif role and (subject.named or subject.pronoun):
        yield from _employed(subject.text, said, word, where)
    elif owner is not None or said.determiner == "a" or (several and said.noun.endswith("s")):
        return  # a kind: most such sentences say what somebody thinks of a thing
    elif subject.named and said.text.isdigit():
        yield subject.text, "has_age", said.text
    elif said.determiner == "the" or said.named or any(map(str.isdigit, said.text)):
        yield subject.text, "is", said.text


def _tells_whose(said: Phrase, owner: str) -> bool:
    """Return whether the phrase is a relation to its owner, not a kind: my sister, but not our new manager."""
    if is_relation(said.noun) and not (owner == "we" and _is_role(said.noun)):
        return True
    if owner in ("I", "we"):
        return bool(_CHERISHED.intersection(said.noun.split()))
    made = said.of is None or not _is_role(said.noun) or _is_among(said.noun, "makers")
    return made and said.determiner in ("own", "the", "a", "")


def _employed(who: str, said: Phrase, word: str, where: Sequence[Phrase]) -> Iterator[Stated]:
    """Yield role and employer: `the CEO of Acme`, `a designer at Acme`."""
    held = said.of is not None and said.of.named and not said.of.determiner and _is_among(said.noun, "offices")
    yield who, "has_role", said.noun_text if held else said.bare
    there = [said.of] if held and said.of is not None else []
    there += where if word in ("at", "for") else []
    for place in there:
        if place.named:
            yield who, "works_at", place.text


def _owner(phrase: Phrase) -> str | None:
    """Return the owner: Maya in Maya's sister, France in the capital of France."""
    if phrase.owner is not None:
        return phrase.owner
    if phrase.of is None or phrase.of.pronoun:
        return None
    whose = phrase.determiner == "the" or is_relation(phrase.noun) or _is_role(phrase.noun)
    return phrase.of.text if whose else None


def is_relation(noun: str) -> bool:
    return _is_among(noun, "relations")


def _is_role(noun: str) -> bool:
    return _is_among(noun, "roles")


def _is_among(noun: str, key: str) -> bool:
    held = words("nouns", key)
    return noun in held or noun.rsplit(maxsplit=1)[-1] in held


def mutual(subjects: Sequence[Phrase], said: Phrase) -> list[Stated]:
    """Return the relation between two subjects: `Karim and Leila are siblings`."""
    single = said.noun.removesuffix("s")
    if len(subjects) != 2 or said.owner is not None or single not in words("nouns", "relations"):
        return []
    return [(subjects[0].text, f"has_{single.replace(' ', '_').replace('-', '_')}", subjects[1].text)]


def _has(noun: str, *, several: bool) -> str:
    spelt = [word for word in noun.split() if word not in _PASSING] or noun.split()
    if several and spelt[-1].endswith("s") and not spelt[-1].endswith("ss"):
        spelt[-1] = spelt[-1][:-3] + "y" if spelt[-1].endswith("ies") else spelt[-1][:-1]
    return f"has_{_NO_WORD.sub('_', ' '.join(spelt)).strip('_')}"


def introduced(phrase: Phrase) -> Iterator[Stated]:
    """Yield the statement of an introduction: `my sister Lena`, `Acme's CTO Maya`, `CEO Tim Cook`."""
    if phrase.called is None:
        return
    title = phrase.called
    if _is_role(title.lower()) and not is_relation(title.lower()):
        yield phrase.text, "has_role", title
    elif phrase.owner is not None:
        yield phrase.owner, _has(title.lower(), several=False), phrase.text


def time_noun(noun: str) -> bool:
    return noun.split()[-1:] != [] and noun.rsplit(maxsplit=1)[-1] in pack("nouns")["times"]
