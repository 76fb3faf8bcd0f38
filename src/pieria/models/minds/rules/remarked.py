"""Notes from words of work: what a person or an agent said that is worth keeping, each with its reason and limits.

A trained model finds the sentences (`language.remarks`); the pack `notes` has the few words that always count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from pieria.language.letters import lowered
from pieria.language.note_words import any_phrase, holds, is_owed, names_last_day, rare_terms, states_number
from pieria.language.packs import phrases
from pieria.language.remarks import AGENT, PERSON, remarks
from pieria.language.sentences import Sentence, sentences
from pieria.language.standing_rules import own_sentences, standing
from pieria.models.minds.rules.asked import bare_request, capitalised, is_question, title, without_opening
from pieria.models.minds.rules.choices import named_choice, names_option
from pieria.models.minds.rules.pieces import bare, told

TYPES = {
    "debt": "debt", "rule": "decision", "decision": "decision", "plan": "plan", "howto": "howto",
    "preference": "decision", "fact": "fact", "cause": "fact",
}  # fmt: skip
"""The type of a note by the kind of its strongest remark, strongest first."""
LABELS = ("rule", "preference", "cause")
LONGEST = 320
"""Characters of a note."""
FULL, BARE = 200, 0.5
"""Characters of a note that has its reason and its limits, and the share of its worth that a note without them has."""
DEBT = "debt"
"""The kind of remarks that are notes of their own: each is done at its own time."""
SHARED = 2
"""Terms that a sentence shares with those before if it goes on with them."""
TELLING = 4
"""Informative terms of a sentence that can be understood alone."""
_READ = 6_000
"""Characters read of a text: the rest is likely pasted."""
_RANK = list(TYPES)
_DIGIT = re.compile(r"\d")
_TO = re.compile(r"\A[\s:：,–—-]*(?:(?:to|that|about|dass|daran|que|de)\s+)?")
_LABEL = re.compile(r"\A[^\W\d_]+(?: [^\W\d_]+)?:\s+(?=\S)")
"""A word or two before a colon: “Cause: …”."""


class Said(NamedTuple):
    """A note's type, title and text, and its label: the kind of the remark if the type does not say it.

    `opens` means that it has the first sentence, which may answer a question; `is_sure` that it counts without the
    model, by its words.
    """

    type: str
    title: str
    text: str
    label: str
    opens: bool
    is_sure: bool
    worth: float = 1.0
    """How probably it is worth keeping, from 0 to 1."""


@dataclass(slots=True)
class _Group:
    """Adjacent sentences on one thing, and the kinds of those that are remarks."""

    said: list[str] = field(default_factory=list)
    kinds: list[str | None] = field(default_factory=list)
    opens: bool = False
    is_sure: bool = False
    """Whether a sentence makes a note without the model, by its words."""
    worth: float = 0.0
    """The highest probability of its remarks."""

    def add(self, sentence: str, kind: str | None) -> None:
        self.said.append(sentence)
        self.kinds.append(kind)

    @property
    def kind(self) -> str:
        return min((kind for kind in self.kinds if kind), key=_RANK.index)

    @property
    def terms(self) -> frozenset[str]:
        return told(" ".join(self.said))

    @property
    def is_telling(self) -> bool:
        """Return whether it can be understood alone: a choice by its rare words."""
        is_choice = TYPES[self.kind] == "decision" and len(rare_terms(" ".join(self.said))) >= SHARED
        return is_choice or len(self.terms) >= TELLING

    def has_room(self, sentence: str) -> bool:
        return sum(map(len, self.said)) + len(sentence) <= LONGEST

    def note(self) -> Said:
        kind = self.kind
        said = [_unled(without_opening(self.said[0])), *self.said[1:]]
        lead = said[self.kinds.index(kind)]
        if len(told(lead)) < TELLING:
            lead = max(said, key=lambda each: len(told(each)))
        text = capitalised(" ".join(said))
        name = bare_request(_LABEL.sub("", lead) if kind == "cause" else lead)
        label = kind if kind in LABELS else ""
        worth = 1.0 if self.is_sure else self.worth * _fullness(text)
        return Said(TYPES[kind], title(name), text, label, self.opens, self.is_sure, worth)


def _fullness(text: str) -> float:
    """Return how much a note says beside its point: reasons make it longer, and limits have numbers or bind always."""
    signs = (min(1.0, len(text) / FULL), bool(_DIGIT.search(text)), holds("binding", lowered(text)))
    return BARE + (1 - BARE) * sum(signs) / len(signs)


def person_notes(text: str, before: str) -> list[Said]:
    """Return notes from a person's own sentences. `before` is what the agent said before."""
    text = text[:_READ]
    chosen = named_choice(text, before)
    own = own_sentences(chosen, frozenset((*phrases("notes", "owed"), *phrases("notes", "remember"))))
    is_choice = chosen != text or names_option(text, before)
    return list(_notes(chosen, own, PERSON, before, is_choice=is_choice))


def agent_notes(text: str) -> list[Said]:
    """Return notes from the words of an agent."""
    return list(_notes(text, list(sentences(text)), AGENT, ""))


def _notes(
    text: str, within: Sequence[Sentence], said_by: str, before: str, *, is_choice: bool = False
) -> Iterator[Said]:
    judged = {(one.start, one.end): one for one in remarks(text, said_by, before=before)}
    group = _Group()
    last = ""
    for place, (start, end) in enumerate(within):
        sentence = bare(" ".join(text[start:end].split()))
        remark = judged.get((start, end))
        kind = remark and remark.kind
        surely = _surely(sentence, kind, is_choice=is_choice and place == 0) if said_by == PERSON else None
        if said_by == PERSON:
            kind = None if is_question(sentence) else surely or _likely(sentence, kind)
        else:
            kind = "cause" if _starts("cause").match(lowered(sentence)) else _owed_or_told(kind, sentence)
        if group.said and group.has_room(sentence) and _belongs(group, sentence, kind):
            group.add(sentence, kind)
        else:
            yield from _closed(group, before)
            group = _Group(opens=place == 0)
            if kind is not None:
                needs_more = _leans(sentence) or len(told(sentence)) < TELLING
                if needs_more and len(told(last)) >= SHARED and not is_question(last):
                    group.add(last, None)
                group.add(sentence, kind)
        if remark is not None and group.said[-1:] == [sentence]:
            group.worth = max(group.worth, remark.sure)
        group.is_sure |= surely is not None and group.said[-1:] == [sentence]
        last = sentence if group.said[-1:] != [sentence] else ""
    yield from _closed(group, before)


def _closed(group: _Group, before: str) -> Iterator[Said]:
    """Yield the note of a group, unless it is too short to be understood without what was said around it."""
    answers = group.opens and is_question(before)
    if group.said and (group.is_sure or group.is_telling or (answers and group.terms)):
        yield group.note()


def _surely(sentence: str, kind: str | None, *, is_choice: bool) -> str | None:
    """Return the kind of a person's sentence that is kept without the model, by its words; None for others."""
    low = lowered(sentence)
    if is_question(sentence):
        return None
    if holds("owed", low):
        return "debt"
    if _is_rule(sentence) or holds("lasting", low):
        return "rule"
    if is_owed(sentence):
        return "debt"
    led = _starts("remember").match(low)
    if led:
        rest = sentence[led.end() :].lstrip(" :,–—-")
        return "rule" if _is_rule(rest) else "debt" if names_last_day(rest) else kind or "fact"
    if is_choice or holds("choosing", low) or _replaces(low):
        return "decision"
    return "fact" if states_number(sentence) else None


def _replaces(low: str) -> bool:
    """Return whether a sentence puts one thing in the place of another: `drop arq, celery it is`."""
    discards = _starts("discarding").match(low)
    rest = low[discards.end() :].partition(",")[2].strip() if discards else ""
    return bool(told(rest)) and not (_leans(rest) or holds("passing", rest))


def _likely(sentence: str, kind: str | None) -> str | None:
    """Return the kind of a person's sentence that a model finds worth keeping, corrected by its words."""
    low = lowered(sentence)
    if kind in ("fact", "plan", "cause") and holds("reversing", low):
        return "decision"
    is_passing = kind == "rule" and holds("passing", low) and not holds("binding", low)
    return None if is_passing else _owed_or_told(kind, sentence)


def _owed_or_told(kind: str | None, sentence: str) -> str | None:
    """Return the kind, or `fact` instead of a debt if no word of the sentence says that something is to be done."""
    is_debt = kind != DEBT or is_owed(sentence) or holds("must", lowered(sentence))
    return kind if is_debt else "fact"


def _is_rule(sentence: str) -> bool:
    return any(len(rule.terms) >= SHARED for rule in standing(sentence))


def _belongs(group: _Group, sentence: str, kind: str | None) -> bool:
    """Return whether a sentence gives the reason, the limit or the rest of what the group says."""
    if is_question(sentence):
        return False
    if group.said[-1].endswith((":", "：")):
        return True
    terms = told(sentence)
    if kind is None:
        # What follows a cause is often the remedy.
        needed = 1 if group.kind == "cause" else SHARED
        return bool(terms) and (_leans(sentence) or len(terms & group.terms) >= needed)
    if _starts("apart").match(lowered(sentence)):
        return False
    return len(terms) < TELLING or DEBT not in (kind, group.kind)


def _leans(sentence: str) -> bool:
    return _starts("leaning").match(lowered(sentence)) is not None


def _unled(sentence: str) -> str:
    """Return the sentence without a request to remember it, or to be reminded of it."""
    led = _starts("remember").match(lowered(sentence)) or _starts("owed").match(lowered(sentence))
    rest = _TO.sub("", sentence[led.end() :]) if led else ""
    return rest if len(told(rest)) >= 2 else sentence


@cache
def _starts(key: str) -> re.Pattern[str]:
    return re.compile(rf"(?:(?:ok(?:ay)?|and|also|und|et|y|e|btw|please|bitte)[\s,.!:–—-]+)*(?:{any_phrase(key)})")
