"""Clauses: reads triples of subject, predicate and object from one sentence after another.

The parser is shallow: it reads phrases, one verb, and what follows by its prepositions. It skips a sentence that
supposes, denies, asks or reports, and a clause whose verb is not in the pack.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace

from pieria.language.grammar import Triple
from pieria.language.grammar.forms import Frame, adjectives, forms, frames, past_of
from pieria.language.grammar.noun_phrases import Phrase, Phrases
from pieria.language.grammar.statements import Stated, Statements, equated, mutual
from pieria.language.grammar.times import times
from pieria.language.grammar.tokens import LONGEST, Sentence
from pieria.language.grammar.verb_groups import Group, VerbGroups
from pieria.language.letters import lowered
from pieria.language.packs import phrases, words
from pieria.language.sentences import sentences

_STOPS = frozenset(
    (",", ";", ":", "and", "but", "—", "–", "(", ")", "-", "while", "although", "which", "who", "because")
)
_LED = 12
"""Words of an adverbial that may come before a clause, up to the comma."""

_SHORTEST_SENTENCE, _LONGEST_SENTENCE = 8, 600
"""Characters; a longer sentence is no plain statement."""


class Clauses:
    """Reads one sentence into `statements`, which also resolves `she` and `it`."""

    def __init__(self, sentence: Sentence, statements: Statements) -> None:
        self._in = sentence
        self._phrases = Phrases(sentence)
        self._groups = VerbGroups(sentence, self._phrases)
        self._states = statements
        self._subjects: list[Phrase] = []
        self._last: list[Phrase] = []

    def read(self) -> Phrase | None:
        """Add the sentence's statements, and return its first subject."""
        at = 2 if self._in.at(1) == ":" else 0
        first: Phrase | None = None
        while at < len(self._in):
            at = max(self._clause(at), at + 1)
            first = first or (self._subjects[0] if self._subjects else None)
        return first

    def _clause(self, place: int) -> int:
        said = self._in
        at = self._begun(place)
        word = said.at(at)
        if said.is_time(at):
            when, after = said.time_at(at)
            self._states.open(when)
            return after
        if word in ("who", "which", "that") and self._last:
            held, self._subjects = self._subjects, self._last
            after = self._predicate(at + 1)
            self._subjects = held
            return after
        if word in words("words", "subordinators") and word not in ("so", "once"):
            return self._behind_comma(at)
        if word in words("words", "prepositions"):
            return self._fronted(at)
        if self._subjects and self._phrases.is_verb(at, at - 1, several=self._phrases.several):
            return self._predicate(at)
        return self._with_subject(at)

    def _begun(self, place: int) -> int:
        said = self._in
        while place < len(said) and (
            not said.is_nominal(place)
            and (
                not any(map(str.isalnum, said.at(place)))
                or said.at(place) in words("words", "conjunctions")
                or said.is_adverb(place)
            )
        ):
            place += 1
        return place

    def _behind_comma(self, place: int) -> int:
        said = self._in
        while place < len(said) and said.at(place) not in (",", ";"):
            place += 1
        return place

    def _fronted(self, place: int) -> int:
        """Read an opening adverbial such as `In May, …` or `At work, …`, and return the place after it."""
        said = self._in
        if said.is_time(place + 1):
            when, after = said.time_at(place + 1)
            self._states.open(when, said.at(place))
            return after
        comma = self._behind_comma(place)
        return comma if comma - place <= _LED else len(said)

    def _with_subject(self, place: int) -> int:
        subjects, after = self._phrases.listed(place, subject=True)
        if not subjects:
            return self._skipped(max(after, place))
        self._subjects = self._states.resolved(subjects)
        self._phrases.several = len(subjects) > 1 or subjects[0].noun in words("words", "plural_pronouns")
        after = self._modified(after)
        return self._predicate(after)

    def _modified(self, after: int) -> int:
        """Skip what separates a subject from its verb: an apposition, a relative clause or a location."""
        said = self._in
        if said.at(after) == "(":
            closed = [at for at in range(after, min(after + _LED, len(said))) if said.at(at) == ")"]
            after = closed[0] + 1 if closed else after
        if said.at(after) in words("words", "prepositions") and not said.is_time(after):
            behind = self._phrases.phrase(after + 1, subject=True)
            if behind is not None and self._groups.at(behind.after) is not None:
                self._widen(behind.after)
                after = behind.after
        if said.at(after) == "," and said.at(after + 1) in ("who", "which"):
            return self._resumed(self._predicate(after + 2))
        if said.at(after) in ("who", "that"):
            return self._resumed(self._predicate(after + 1))
        form = forms().get(said.at(after + 1))
        if said.at(after) == "," and form is not None and form.kinds == {"participle"} | (form.kinds & {"past"}):
            return self._resumed(self._reduced(after + 1))
        if said.at(after) == ",":
            named, end = self._phrases.listed(after + 1, subject=True)
            if named and len(self._subjects) == 1 and (named[0].determiner or self._is_role(named[0])):
                return self._apposed(named[0], end)
            if named and len(self._subjects) == 1 and self._subjects[0].owner is not None and said.at(end) == ",":
                self._equate(named, end, Group("be", end))
                self._subjects = named
                return end + 1
        return after

    def _widen(self, after: int) -> None:
        """Extend the subject by its location: `the server in Frankfurt`. A name is not extended."""
        if len(self._subjects) == 1 and not self._subjects[0].named and not self._subjects[0].pronoun:
            held = self._subjects[0]
            self._subjects = [replace(held, text=self._in.span(held.first, after), after=after)]

    def _is_role(self, phrase: Phrase) -> bool:
        return phrase.noun.split()[-1] in words("nouns", "roles")

    def _apposed(self, phrase: Phrase, after: int) -> int:
        if self._is_role(phrase) or self._subjects[0].owner is not None:
            after = self._equate([phrase], after, Group("be", after))
        return after + 1 if self._in.at(after) == "," else after

    def _resumed(self, after: int) -> int:
        return after + 1 if self._in.at(after) == "," else after

    def _predicate(self, place: int) -> int:
        group = self._groups.at(place)
        if group is None:
            return self._reduced(place)
        self._states.begin(group)
        if group.kind == "unknown" or group.denied or not self._subjects:
            return self._skipped(group.after)
        if group.kind == "be":
            return self._be(group)
        lemma = group.lemma
        frame = adjectives()[lemma[1:]] if lemma.startswith("=") else frames().get(lemma)
        if frame is None or group.kind == "meant" or (group.future and group.kind == "verb"):
            if group.kind == "meant" or lemma in words("words", "stating"):
                self._count(group.after, passive=group.kind == "passive")
            return self._skipped(group.after)
        return self._stated(group, frame)

    def _reduced(self, place: int) -> int:
        """Read a participle without its `is`: `the parser written by Naomi is …`."""
        form = forms().get(self._in.at(place))
        if form is None or "participle" not in form.kinds or form.lemma not in frames() or not self._subjects:
            return self._skipped(place)
        group = Group("passive", place + 1, form.lemma)
        self._states.begin(group)
        return self._stated(group, frames()[form.lemma])

    def _count(self, after: int, *, definite: bool = False, passive: bool = False) -> None:
        """Count a clause with an object as a statement, without drawing it. After a passive, only `by` names one."""
        objects, after = self._objects(after)
        if not objects and self._in.at(after) in (("by",) if passive else words("words", "prepositions")):
            objects, _ = self._complement(after)
        self._states.count += any(each.is_plain and (not definite or _is_definite(each)) for each in objects)

    def _skipped(self, place: int) -> int:
        """Return the next place where a clause may begin."""
        said = self._in
        while place < len(said) and said.at(place) not in _STOPS:
            place += 1
        self._states.end()
        return place

    # --- statements of a verb

    def _stated(self, group: Group, frame: Frame) -> int:
        objects: list[Phrase] = []
        after, passive = group.after, group.kind == "passive"
        if not passive or frame.naming:
            objects, after = self._acted(*self._objects(after))
        done_to = self._subjects if passive else objects
        if frame.naming and passive:
            self._states.named(self._subjects, frame.naming, objects)
        elif frame.object and not passive:
            self._states.add(self._subjects, self._tensed(frame.object, group, frame), objects)
        elif objects:
            self._states.count += 1
        if frame.plain and passive:
            self._plain(group, frame)
        self._last = objects[-1:] or self._last
        return self._behind(after, group, frame, done_to)

    def _plain(self, group: Group, frame: Frame) -> None:
        word = group.lemma.removeprefix("=")
        if word == "married" and len(self._subjects) == 2:
            self._states.add(self._subjects[:1], frame.theme["to"], self._subjects[1:])
        elif frame.plain and self._in.at(group.after) not in frame.theme:
            self._states.add(self._subjects, frame.plain, [Phrase(word, 0, 0)])

    def _objects(self, place: int) -> tuple[list[Phrase], int]:
        said = self._in
        while said.is_adverb(place):
            place += 1
        if said.at(place) in words("words", "prepositions") or said.is_time(place):
            return [], place
        return self._phrases.listed(place, subject=False)

    def _acted(self, objects: list[Phrase], after: int) -> tuple[list[Phrase], int]:
        """Join an activity with its place into one object: to like `working from home`."""
        said = self._in
        form = forms().get(objects[0].noun) if len(objects) == 1 else None
        within = said.at(after) in words("words", "prepositions") and said.at(after) not in ("over", "to", "since")
        if form is None or "ing" not in form.kinds or not within or said.is_time(after + 1):
            return objects, after
        where = self._phrases.phrase(after + 1, subject=False)
        if where is None:
            return objects, after
        whole = replace(objects[0], text=said.span(objects[0].first, where.after), after=where.after)
        return [whole], where.after

    def _tensed(self, predicate: str, group: Group, frame: Frame) -> str:
        """Return the predicate in the past form if the clause is past: `worked_at` for `works_at`."""
        first, _, rest = predicate.partition("_")
        form = forms().get(first)
        past = group.past or (frame.done and (group.perfect or group.kind == "passive"))
        if frame.starts or not past or form is None or form.kinds != {"third"}:
            return predicate
        spelt = past_of(form.lemma)
        return f"{spelt}_{rest}" if rest else spelt

    def _behind(self, after: int, group: Group, frame: Frame, done_to: Sequence[Phrase]) -> int:
        """Read the prepositions and times after the verb."""
        said = self._in
        while after < len(said):
            word = said.at(after)
            if said.is_time(after):
                when, after = said.time_at(after)
                self._timed("", when, group, frame, done_to)
            elif word in words("words", "prepositions") and said.is_time(after + 1):
                when, after = said.time_at(after + 1)
                self._timed(word, when, group, frame, done_to)
            elif word in words("words", "prepositions") or word == "as":
                objects, behind = self._complement(after)
                if not objects:
                    return self._skipped(after)
                self._slot(word, objects, group, frame, done_to)
                after = behind
            elif said.is_adverb(after):
                after += 1
            elif self._is_participle(after):
                return self._skipped(after)
            else:
                break
        self._states.end()
        return after

    def _complement(self, place: int) -> tuple[list[Phrase], int]:
        """Return what follows a preposition, unless it is an action: `to use`, `by using`."""
        form = forms().get(self._in.at(place + 1))
        done = form is not None and not self._in.tokens[place + 1].text[0].isupper()
        acting = form is not None and "ing" in form.kinds and self._in.is_nominal(place + 2)
        if done and form and (("base" in form.kinds and self._in.at(place) == "to") or acting):
            return [], place
        return self._phrases.listed(place + 1, subject=False)

    def _slot(self, word: str, objects: list[Phrase], group: Group, frame: Frame, done_to: Sequence[Phrase]) -> None:
        done = frame.by or (self._tensed(frame.object, group, frame) if frame.object else None)
        if group.kind == "passive" and word == "by" and done:
            self._states.add(objects, done, self._subjects)
        elif done_to and word in frame.theme and (word != "with" or group.kind == "passive"):
            self._states.add(done_to, frame.theme[word], objects)
        elif group.kind == "verb" and word in frame.agent and (frame.also or not done_to):
            self._states.add(self._subjects, self._tensed(frame.agent[word], group, frame), objects)
        self._last = objects[-1:]

    def _timed(self, word: str, when: str, group: Group, frame: Frame, done_to: Sequence[Phrase]) -> None:
        """Add a time: as the object of a statement, or as the start or end of its validity."""
        place = frame.theme.get(word) if done_to else frame.agent.get(word)
        if place is not None and word in ("to", "for", "until", "on", "at", "by") and place != "located_in":
            self._states.time(done_to or self._subjects, place, when)
        elif frame.when and word not in ("since", "until", "till"):
            self._states.time(done_to or self._subjects, self._tensed(frame.when, group, frame), when)
        else:
            self._states.held(word, when, starts=frame.starts)

    # --- statements of "is"

    def _be(self, group: Group) -> int:
        said = self._in
        after = group.after
        if said.is_time(after) or (said.at(after) in words("words", "prepositions") and said.is_time(after + 1)):
            when, behind = said.time_at(after if said.is_time(after) else after + 1)
            self._states.happening(self._subjects, when, "" if said.is_time(after) else said.at(after))
            return behind
        if group.past or said.at(after) in words("words", "prepositions"):
            self._count(after, definite=True)
            return self._skipped(after)
        if said.low[after + 1 : after + 3] == ["years", "old"] and said.at(after).isdigit():
            self._states.add(self._subjects, "has_age", [Phrase(said.span(after, after + 1), after, after + 1)])
            return after + 3
        objects, behind = self._phrases.listed(after, subject=False)
        if not objects:
            return self._skipped(after)
        self._states.count += _is_definite(objects[0])
        self._last = self._subjects[-1:]
        if self._is_participle(behind):
            self._states.equal(self._equal(objects, group))
            return self._reduced(behind)
        return self._equate(objects, behind, group)

    def _is_participle(self, place: int) -> bool:
        form = forms().get(self._in.at(place))
        return form is not None and "participle" in form.kinds

    def _equal(self, objects: list[Phrase], group: Group) -> list[Stated]:
        return [
            triple
            for subject in self._subjects
            for held in objects
            for triple in equated(subject, held, "", (), several=group.several)
        ]

    def _equate(self, objects: list[Phrase], after: int, group: Group) -> int:
        said = self._in
        where: list[Phrase] = []
        if said.at(after) in ("at", "for", "in") and not said.is_time(after + 1):
            where, behind = self._phrases.listed(after + 1, subject=False)
            word = said.at(after)
            after = behind if where else after
        else:
            word = ""
        both = mutual(self._subjects, objects[0])
        self._states.equal(both)
        for subject in self._subjects if not both else ():
            for held in objects:
                self._states.equal(equated(subject, held, word, where, several=group.several))
        return self._behind(after, group, Frame(), [])


def triples(text: str) -> list[Triple]:
    """Return what the plain sentences of a text state, as far as it is reliable enough for facts."""
    return [triple for triple in stated(text) if triple.predicate not in words("predicates", "undrawn")]


def stated(text: str) -> list[Triple]:
    """Return the same with all that helps to tell names and contradictions."""
    low = lowered(text)
    found = times(text)
    starts = [start for start, _ in found]
    reader = Reader()
    for start, end in sentences(text):
        if end - start >= _SHORTEST_SENTENCE:
            inside = found[bisect_left(starts, start) : bisect_right(starts, end)]
            spans = [(first - start, after - start) for first, after in inside]
            reader.read_spelt(text[start:end], low[start:end], spans)
    return reader.stated.triples()


def _is_definite(phrase: Phrase) -> bool:
    return phrase.named or phrase.determiner in ("a", "the", "own") or any(map(str.isdigit, phrase.text))


class Reader:
    """Reads sentences in order, and keeps the topic of the one before."""

    def __init__(self) -> None:
        self.stated = Statements()

    def read(self, sentence: str) -> bool:
        """Read a sentence and return whether it states anything."""
        return self.read_spelt(sentence, lowered(sentence), times(sentence))

    def read_spelt(self, text: str, low: str, spans: Iterable[tuple[int, int]]) -> bool:
        said = None if _asks_or_runs_on(text) else Sentence(text, low, spans)
        if said is None or len(said) > LONGEST or _supposes(said):
            self.stated.topic = None
            return False
        before = self.stated.count
        self.stated.topic = Clauses(said, self.stated).read() or self.stated.topic
        self.stated.end()
        return self.stated.count > before

    @staticmethod
    def is_supposed(sentence: str) -> bool:
        return _supposes(Sentence(sentence, lowered(sentence)))


def _asks_or_runs_on(text: str) -> bool:
    return len(text) > _LONGEST_SENTENCE or text.rstrip("\"')*_!”").endswith(("?", "？"))


def _supposes(sentence: Sentence) -> bool:
    """Return whether the sentence only supposes, reports or wishes."""
    supposing = words("words", "supposing")
    for at, token in enumerate(sentence.tokens):
        named = at > 0 and token.text[:1].isupper()
        if token.low in supposing and not named:
            return True
    spelt = f" {' '.join(sentence.low)} "
    return any(f" {phrase} " in spelt for phrase in phrases("words", "supposing_phrases"))
