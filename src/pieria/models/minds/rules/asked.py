"""Requests to an agent and its replies: the bare request, its type of work, and what a reply says first."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pieria.language.consent import is_consent
from pieria.models.mind import TITLE
from pieria.models.minds.rules.pieces import sentences_of
from pieria.record.clip import clipped

_READ = 6_000
"""Characters read of a prompt: the rest is likely pasted."""
_COURTESY = (
    "hi|hello|hey|(?:good )?morning|ok(?:ay)?|great|good|perfect|nice|cool|thanks?(?: you)?|thx|hm+|right|alright|well"
    "|oh|ah|wait|btw|by the way|super|noted|sorry"
    "|so|now|next(?: up)?|then|and|also|but|please|pls|just|maybe|one (?:more|other) thing|quick(?: question)?"
    "|(?:can|could|would|will) you(?: please)?(?: (?:find out|look into|look at|check|tell me))?(?: why)?"
    "|i(?:'d| would) like you to|i (?:want|need) you to|we (?:need|have) to|you (?:should|can|may)|let'?s"
    "|go ahead(?: and)?|try to|help me(?: to)?"
)
_PASSING = re.compile(rf"\A(?:{_COURTESY})(?![\w'’])[\s,.!:–—-]*", re.IGNORECASE)
_POLITE = re.compile(r"\b(?:can|could|would|will) you\b[^?]*\?\s*\Z", re.IGNORECASE)
_TRAILING = re.compile(
    r"(?:(?<!for)[\s,]+(?:please|pls|then|now|thanks|thank you|ok\?|make it so))+[.!]*\Z|[\s.!,;:]+\Z", re.I
)
_WORK = (
    ("bugfix", r"fix|repair|mend|debug|solve|resolve|crash\w*|broken|bugs?|hotfix|flicker\w*|fail(?:s|ing|ed|ure)?"),
    ("refactor", r"refactor|rename|extract|restructure|reorgani[sz]e|clean ?up|simplify|split|move|inline|dedupe|tidy"),
    ("feature", r"add|implement|create|introduce|build|support|write|enable|allow|new|make .{1,40} possible"),
)
_OPENING = tuple((type, re.compile(rf"\A(?:{words})\b", re.IGNORECASE)) for type, words in _WORK)
_HOLDING = tuple((type, re.compile(rf"\b(?:{words})\b", re.IGNORECASE)) for type, words in _WORK[:2])

_ASKING = re.compile(r"[?？]['\")\]*_]*\Z")

_IDLE = re.compile(
    "(?:done|fixed|ok(?:ay)?|sure|understood|great|perfect|noted|absolutely|of course|certainly|fine|i will"
    "|you'?re (?:absolutely )?right|all (?:done|set|good)|great question|good (?:question|point|catch)"
    "|i'll do (?:that|so))[.!:,]*",
    re.IGNORECASE,
)
"""Opening phrases of a reply that carry no information."""


def request(asked: str) -> str:
    """Return the request without greetings and courtesies; empty for mere consent."""
    if is_consent(asked):
        return ""
    for sentence in sentences_of(asked[:_READ]):
        bare = bare_request(sentence)
        if _POLITE.search(sentence):
            bare = bare.rstrip("?").rstrip()
        if len(bare.split()) >= 2 and not is_consent(bare):
            return bare
    return ""


def title(text: str) -> str:
    """Return the text as a title: capitalised, without a full stop, and short."""
    text = re.sub(r",? please(?=,|\Z)", "", _TRAILING.sub("", text.strip())) or text.strip()
    return clipped(capitalised(text), TITLE)


def capitalised(text: str) -> str:
    """Return the text with a capital at its beginning, unless it begins with an identifier."""
    return text[0].upper() + text[1:] if text[:1].islower() and not re.match(r"\S*[_/.(]", text) else text


def work_of(asked: str) -> str | None:
    """Return the type of the requested work, or None if no word shows it."""
    bare = request(asked)
    for type, opening in _OPENING:
        if opening.match(bare):
            return type
    for type, holding in _HOLDING:
        if holding.search(bare):
            return type
    return None


def is_question(asked: str) -> bool:
    return _ASKING.search(asked.strip()) is not None


def bare_request(sentence: str) -> str:
    """Return the sentence without greetings, courtesies and closing words."""
    return _TRAILING.sub("", without_opening(sentence))


def without_opening(sentence: str) -> str:
    """Return the sentence without greetings and courtesies at its beginning."""
    while True:
        shorter = _PASSING.sub("", sentence, count=1)
        if shorter == sentence or not shorter:
            return sentence
        sentence = shorter


def last_question(text: str) -> str:
    """Return the last sentence of a reply if it asks something."""
    said = list(sentences_of(text[-_READ:]))[-1:]
    return said[0] if said and is_question(said[0]) else ""


def opening(text: str, length: int) -> str:
    """Return the first informative sentences of a reply, at most `length` characters."""
    kept = ""
    for sentence in statements(text):
        if kept and len(kept) + len(sentence) + 1 > length:
            break
        kept = f"{kept} {sentence}".strip()
    return clipped(kept, length)


def statements(text: str) -> Iterator[str]:
    """Yield the informative sentences of a reply."""
    for sentence in sentences_of(text[:_READ]):
        if not (_IDLE.fullmatch(sentence) or is_question(sentence) or sentence.startswith("```")):
            yield sentence
