"""Find what is worth keeping in the words of a day's work: decisions, plans, debts, rules, facts, causes and ways.

A trained model judges each sentence by its words, its speaker and its place. Who spoke, and which words are a person's
own, is decided by the caller.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pieria.language.sentence_model import Judgement, features, judge, load_model
from pieria.language.sentences import Sentence, sentences

MODEL = "remark"
KINDS = ("decision", "plan", "debt", "rule", "preference", "fact", "cause", "howto")
PERSON, AGENT, READ = "", "agent", "read"
"""Whose words they are: a person's, the agent's, or what the agent read: output, pages, mails."""
LEAST = {PERSON: 0.65, AGENT: 0.4, READ: 0.4}
"""The least probability that counts. Of a person's sentences the training has more that are worth keeping than life."""
LONGEST = 600
"""Characters of a sentence that can be a remark: a longer one is hardly prose."""
MOST = 400
"""Sentences judged of one text."""
_CODE = re.compile(r"(?<![^\n])[ \t]{0,3}(```|~~~)[\s\S]*?(?:\1|\Z)")
_ENDS = " .!…。！"
_LETTER = re.compile(r"[^\W\d_]")
_ASKS = re.compile(r"[?？]['\")\]*_」]*\Z")
_UNITS = "eur|euros?|usd|chf|kg|km|gb|mb|ms|min|h|days?|weeks?|months?"
_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_SIGNS = {
    "has digits": re.compile(r"\d"),
    "has an amount": re.compile(rf"[€$£%]|\d\s?(?:{_UNITS})\b", re.IGNORECASE),
    "has a name": re.compile(r"(?<=[\w,;] )[A-ZÄÖÜÉ]\w+"),
    "has code": re.compile(r"`|\w_\w|\w\(\)|(?<!\w)--?\w|\w/\w|\w\.\w{2,4}\b"),
    "has a time": re.compile(
        rf"\b\d{{1,2}}[:.]\d\d\b|\b\d{{1,2}}\.\s?\d{{1,2}}\.|\b\d{{4}}-\d\d|\b(?:{_MONTHS})[a-z]*\b", re.IGNORECASE
    ),
    "has a colon": re.compile(r"\w: "),
    "asks": _ASKS,
}
"""What shows in a sentence beside its words."""


class Remark(NamedTuple):
    """The sentence `text[start:end]`, of one of `KINDS`, and the probability that it is worth keeping."""

    kind: str
    start: int
    end: int
    sure: float


def remarks(text: str, said_by: str, *, before: str = "") -> list[Remark]:
    """Return the remarks in order. `before` is what another said just before."""
    model = load_model(MODEL)
    found = []
    for sentence, shown in judged_sentences(text, said_by, before):
        judged = judge(model, shown, LEAST[said_by])
        if judged is not None:
            found.append(Remark(judged.kind, *sentence, judged.probability))
    return found


def judgements(said: Sequence[str], said_by: Sequence[str]) -> list[Judgement | None]:
    """Return for each sentence of a text what it is worth, whatever its probability; None if it is no prose."""
    model = load_model(MODEL)
    shown = [_features(said, place, said_by[place], "") if _is_prose(each) else None for place, each in enumerate(said)]
    return [None if found is None else judge(model, found, 0.0) for found in shown]


def judged_sentences(text: str, said_by: str, before: str = "") -> Iterator[tuple[Sentence, list[str]]]:
    """Yield the sentences that the model judges, with their features."""
    code = [found.span() for found in _CODE.finditer(text)]
    within = [each for each in sentences(text) if not any(start <= each.start < end for start, end in code)][:MOST]
    said = [text[slice(*each)] for each in within]
    for place, sentence in enumerate(within):
        if _is_prose(said[place]):
            yield sentence, _features(said, place, said_by, before)


def _is_prose(sentence: str) -> bool:
    return len(sentence) <= LONGEST and _LETTER.search(sentence) is not None


def _features(said: Sequence[str], place: int, said_by: str, before: str) -> list[str]:
    # Whether people end a sentence with a full stop says how they write, not what they say.
    return features(said[place].rstrip(_ENDS), said_by, _about(said, place, before))


def _about(said: Sequence[str], place: int, before: str) -> Iterator[str]:
    yield from (name for name, sign in _SIGNS.items() if sign.search(said[place]))
    if place == 0:
        yield "first"
        if _ASKS.search(before.rstrip()):
            yield "answers"
    else:
        yield "after a question" if _ASKS.search(said[place - 1]) else "after a sentence"
    if place == len(said) - 1:
        yield "only" if place == 0 else "last"
