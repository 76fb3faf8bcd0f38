"""Requests to an agent: the bare request, its type of work, and the decisions in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from pieria.language.consent import is_consent
from pieria.language.standing_rules import own_sentences, standing
from pieria.models.mind import TITLE
from pieria.models.minds.rules.pieces import sentences_of
from pieria.record.clip import clipped

_READ = 6_000
"""Characters read of a prompt: the rest is likely pasted."""
_COURTESY = (
    "hi|hello|hey|(?:good )?morning|ok(?:ay)?|great|good|perfect|nice|cool|thanks?(?: you)?|thx|hm+|right|alright|well"
    "|so|now|next(?: up)?|then|and|also|but|please|pls|just|maybe|one (?:more|other) thing|quick(?: question)?"
    "|(?:can|could|would|will) you(?: please)?(?: (?:find out|look into|look at|check|tell me))?(?: why)?"
    "|i(?:'d| would) like you to|i (?:want|need) you to|we (?:need|have) to|you (?:should|can|may)|let'?s"
    "|go ahead(?: and)?|try to|help me(?: to)?"
)
_PASSING = re.compile(rf"\A(?:{_COURTESY})(?![\w'’])[\s,.!:–—-]*", re.IGNORECASE)
_POLITE = re.compile(r"\b(?:can|could|would|will) you\b[^?]*\?\s*\Z", re.IGNORECASE)
_TURNING = re.compile(
    r"\A(?:(?:actually|no|nope|wait|sorry|ok(?:ay)?|yes|yep|sure|agreed|hm+|oh|but)[\s,.!:–—-]+)+", re.I
)
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

_TAKE = "(?:use|take|choose|pick|keep|adopt|drop|prefer|support|switch to|move to|stick (?:to|with)|go (?:with|for))"
_AUXILIARY = "(?:'ll| will| shall|'re going to| are going to| should| must| want to| have to| need to)"
_DECIDED = re.compile(
    rf"\b(?:let'?s|let us) (?:{_TAKE}|stay|not|leave|postpone|skip)\b"
    rf"|\bwe{_AUXILIARY} (?:only )?(?:{_TAKE}|stay)\b|\bwe (?:stay|keep|drop|stick (?:to|with)|go with)\b"
    r"|\b(?:we|i)(?:'ve| have)? (?:decided|agreed|settled|chose|chosen)\b|\bi(?:'d| would)? (?:rather|prefer)\b"
    r"|\b(?:the decision|decision|agreed|decided) ?(?:is|:)|\b(?:instead of|rather than)\b"
    rf"|\A(?:yes|yep|agreed|ok|okay|sure|right)[,.!]? +(?:please )?{_TAKE}\b"
    rf"|\A{_TAKE}\b[^?]*\b(?:not|instead|rather)\b"
    r"|\b(?:must|should) (?:not|never|always|only)\b|\bno longer\b|\b(?:not )?any ?more\b",
    re.IGNORECASE,
)
_CORRECTING = re.compile(
    r"\A(?:no\b(?! (?:problem|worries|idea))|nope|actually|wait|stop|undo|revert|that'?s (?:wrong|not)"
    r"|not (?:like )?that|don'?t|do not|never)|\b(?:revert|undo|take) (?:that|it|this)\b"
    r"|\byou (?:forgot|missed|should not have|shouldn'?t have)\b|\bi (?:meant|said|did not mean|didn'?t mean)\b",
    re.IGNORECASE,
)
_ASKING = re.compile(r"[?？]['\")\]*_]*\Z")

_IDLE = re.compile(
    "(?:done|fixed|ok(?:ay)?|sure|understood|great|perfect|noted|absolutely|of course|certainly|fine|i will"
    "|you'?re (?:absolutely )?right|all (?:done|set|good)|great question|good (?:question|point|catch)"
    "|i'll do (?:that|so))[.!:,]*",
    re.IGNORECASE,
)
"""Opening phrases of a reply that carry no information."""


class Decision(NamedTuple):
    """A decision in its original words. `manner` is `rule` for a lasting one, `correction` or `choice`."""

    text: str
    manner: str


def request(asked: str) -> str:
    """Return the request without greetings and courtesies; empty for mere consent."""
    if is_consent(asked):
        return ""
    for sentence in sentences_of(asked[:_READ]):
        bare = _bare(sentence)
        if _POLITE.search(sentence):
            bare = bare.rstrip("?").rstrip()
        if len(bare.split()) >= 2 and not is_consent(bare):
            return bare
    return ""


def title(text: str) -> str:
    """Return the text as a title: capitalised, without a full stop, and short."""
    text = re.sub(r",? please(?=,|\Z)", "", _TRAILING.sub("", text.strip())) or text.strip()
    if text[:1].islower() and not re.match(r"\S*[_/.(]", text):
        text = text[0].upper() + text[1:]
    return clipped(text, TITLE)


def decided(text: str) -> str:
    """Return the decision as a title, without its opening words."""
    bare = _bare(_TURNING.sub("", text))
    return title(bare if len(bare.split()) > 1 else text)


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


def decisions(asked: str) -> list[Decision]:
    """Return the decisions of a prompt, in its own words.

    Adjacent sentences form one decision, with the manner of the first.
    """
    found: list[Decision] = []
    open_one = False
    begin = asked[:_READ]
    for sentence in (said for start, end in own_sentences(begin) for said in sentences_of(begin[start:end])):
        manner = _manner(sentence)
        if manner and found and open_one:
            found[-1] = Decision(f"{found[-1].text} {sentence}", found[-1].manner)
        elif manner:
            found.append(Decision(sentence, manner))
        elif found and open_one and not _ASKING.search(sentence) and len(sentence.split()) <= 20:
            # The reason often follows.
            found[-1] = Decision(f"{found[-1].text} {sentence}", found[-1].manner)
            open_one = False
            continue
        open_one = manner is not None
    return found


def _manner(sentence: str) -> str | None:
    if _ASKING.search(sentence):
        return None
    if standing(sentence) or standing(_bare(sentence)):
        return "rule"
    bare = re.sub(r"\A(?:ok(?:ay)?|hm+|well|oh|and|but|so|sorry)[,.! ]+", "", sentence, flags=re.IGNORECASE)
    if _CORRECTING.search(bare) and len(bare.split()) > 2:
        return "correction"
    return "choice" if _DECIDED.search(bare) else None


def _bare(sentence: str) -> str:
    while True:
        shorter = _PASSING.sub("", sentence, count=1)
        if shorter == sentence or not shorter:
            return _TRAILING.sub("", sentence)
        sentence = shorter


def closing(text: str, words: int) -> str:
    """Return the last sentences of an earlier reply, as context for a decision."""
    kept: list[str] = []
    for sentence in reversed(list(sentences_of(text[-_READ:]))):
        if kept and sum(len(each.split()) for each in kept) + len(sentence.split()) > words:
            break
        kept.insert(0, sentence)
    return clipped(" ".join(kept), 8 * words)


def headline(text: str) -> str:
    """Return the first informative sentence of a reply."""
    return next(_sentences(text), "")


def opening(text: str, length: int) -> str:
    """Return the first informative sentences of a reply, at most `length` characters."""
    kept = ""
    for sentence in _sentences(text):
        if kept and len(kept) + len(sentence) + 1 > length:
            break
        kept = f"{kept} {sentence}".strip()
    return clipped(kept, length)


def _sentences(text: str) -> Iterator[str]:
    for sentence in sentences_of(text[:_READ]):
        if not _IDLE.fullmatch(sentence) and not sentence.startswith("```"):
            yield sentence
