"""Standing rules: sentences that state a lasting instruction or preference, or what should be known about a person.

Exists so that "always answer in metric units" is found when something is to be done, though no word of the request is
in it. Careful rather than complete: what is asked, told, quoted, or code does not count, and only what is said in the
first or second person does. How people put it is a table in `standing_forms`. What a person says in other ways is
judged by `rule_model`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from itertools import chain, pairwise
from typing import NamedTuple

from pieria.record.analyser import query_terms, terms
from pieria.record.commonwords import TIMES
from pieria.record.letters import lowered
from pieria.record.pasted import is_within, merged, overlaps, pasted
from pieria.record.rule_model import LASTING as KINDS
from pieria.record.rule_model import NOTE, PROMPT, lasting_kind
from pieria.record.sentences import Sentence, sentences
from pieria.record.standing_forms import HEADS, LEAD, ONE_OFF, REPORTED, forms

__all__ = ["KINDS", "Rule", "own_sentences", "said_as", "standing"]


class Rule(NamedTuple):
    """What the sentence `text[start:end]` lays down, and the terms of what it is about."""

    kind: str
    start: int
    end: int
    terms: tuple[str, ...]


_TAG = re.compile(r"(?:\bok|\bokay|\balright|, right)\?\Z")
"""What ends an instruction as if it were a question."""
_LONGEST = 1_000
"""Characters of a sentence: a longer one is no instruction but a text."""
_JUDGED = 300
"""Sentences of a text that the model reads. A text of more is a document, and counts by its plain forms alone."""
_PROMPTED = ("turn", "observation")
"""Kinds that hold what somebody said amid work. All others were stored on purpose."""
_APART = re.compile(
    r"""
    (?<![^\n]) [ \t]{0,3} (?: ``` (?: (?!```) [\s\S] )*+ (?: ``` )? | ~~~ (?: (?!~~~) [\s\S] )*+ (?: ~~~ )? )
  | (?<![^\n]) [ \t]{0,3} > [^\n]*+
  | " [^"\n]*+ (?: " | (?=\n) | \Z )
  | “ [^“”\n]*+ ”?
  | « [^«»\n]*+ »?
  | 「 [^「」\n]*+ 」?
    """,
    re.VERBOSE,
)
_HEAD = r"\s*+ (?: ([^\W\d_]++) | (?= [-*•+\d] ) )"
_FIRST = re.compile(_HEAD, re.VERBOSE)
_NEXT = re.compile(rf"""[.!?…。！？｡\n\r\u2028\u2029] ["'”’»)\]*_」』）】]*+ {_HEAD}""", re.VERBOSE)
"""Wherever a sentence may begin, and some places more, with its first word or before a bullet or a number."""
_SPEAKER = re.compile(
    r"(?<![^\n])(?:\[[^\]\n]{1,40}\]\s{0,3})?[*_]{0,2}([^\W\d][\w .'-]{0,40})[*_]{0,2}:[*_]{0,2}[ \t]|\n[ \t]*+\n"
)
_NAME_WORDS = 3
_NO_NAME = frozenset(["rule", "rules", "for", "in", "from", "all", "every", "my", "our", "this", "thing", "things"])
"""What a speaker's name has at most, and what it does not hold."""
_OWN = frozenset({"user", "human", "me"})
_TIMELY = "i if when asap back later maybe at on in once after before crazy tomorrow today tonight"
_NO_NAMES = TIMES | frozenset(_TIMELY.split())
_IDLE = frozenset(
    terms(
        "always never now future forward onward prefer preference favourite remember note mind rather going please"
        " rule sure make"
    )
)
"""What says that a statement lasts, and nothing of what it is about."""
_ANNOUNCING = frozenset(
    """note|quick note|please note|ps|p.s|fyi|btw|important|update|reminder|heads up|to be clear|for future reference
    rule|rules|my rule|my rules|house rule|house rules|ground rule|ground rules|standing rule|standing rules
    instruction|instructions|standing instruction|standing instructions|standing order|standing orders
    preference|preferences|remember|please remember|keep in mind|one thing|another thing|one more thing
    my rule is|my rules are|our rule is|our rules are""".replace("\n    ", "|").split("|")
)
"""What is put before a colon and is no speaker."""


def said_as(kind: str) -> str:
    """Return how a person's memory of this kind was said: `PROMPT` or `NOTE`."""
    return PROMPT if kind in _PROMPTED else NOTE


def standing(text: str, said: str | None = None) -> list[Rule]:
    """Return the standing rules of a text in their order.

    With `said`, which is `PROMPT` or `NOTE`, the text is a person's, and what no plain form tells goes to the model.
    """
    low = text.lower() if text.isascii() else lowered(text)
    if said is None and not _begins(low):
        return []
    within = list(sentences(text))
    by_model = said if len(within) <= _JUDGED else None
    found = [
        rule
        for sentence in within
        if sentence.end - sentence.start <= _LONGEST and (rule := _laid_down(text, text, low, sentence, by_model))
    ]
    if not found:
        return []
    brought = pasted(text)
    apart, others = _apart(low, brought), _others(low, _OWN, frozenset())
    hidden = merged([*apart, *(turn for turn in others if _is_name(low, turn[0]))])
    shown, shown_low = _without(text, hidden), _without(low, hidden)
    return [
        again
        for rule in found
        if not is_within(rule.start, apart) and not is_within(rule.start, others)
        for place in [Sentence(rule.start, rule.end)]
        # Somebody else's words in the middle of a sentence would be told along with it.
        for again in [_laid_down(text, shown, shown_low, place, None if overlaps(*place, brought) else by_model)]
        if again
    ]


def _laid_down(text: str, shown: str, low: str, sentence: Sentence, said: str | None) -> Rule | None:
    """Return what a sentence lays down. `shown` is the text without what is quoted or pasted."""
    rule = _stated(text, low, sentence)
    if rule is not None or said is None:
        return rule
    start, end = sentence
    kind = lasting_kind(shown[start:end], said)
    return None if kind is None else Rule(kind, start, end, _topic(text[start:end]))


def own_sentences(text: str, announcing: Set[str] = frozenset()) -> list[Sentence]:
    """Those that whoever writes says himself: no code, nothing quoted, nobody's turn in a dialogue, nothing endless.

    `announcing` are words before a colon, in lower case, that are no speaker either.
    """
    return list(_own(text, text.lower() if text.isascii() else lowered(text), frozenset(), announcing))


def _own(text: str, low: str, own: Set[str], announcing: Set[str] = frozenset()) -> Iterator[Sentence]:
    apart = _apart(low, pasted(text))
    others = _others(low, own, announcing)
    for sentence in sentences(text):
        if sentence.end - sentence.start > _LONGEST:
            continue
        if not is_within(sentence.start, apart) and not is_within(sentence.start, others):
            yield sentence


def _apart(low: str, brought: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return where a text is quoted or code, short quotations too, or brought from elsewhere."""
    return merged([*(found.span() for found in _APART.finditer(low)), *brought])


def _without(text: str, apart: list[tuple[int, int]]) -> str:
    """Return the text with a word that means nothing in place of what is quoted, pasted or code."""
    kept, at = [], 0
    for start, end in apart:
        kept += [text[at:start], "x" * (end - start)]
        at = end
    return "".join([*kept, text[at:]])


def _is_name(low: str, start: int) -> bool:
    """Whether a turn is one of somebody: “Maya: …”, and not “a rule for all deploys: …”."""
    name = low[max(start - 1, 0) : start + 60].partition(":")[0].split()
    return len(name) <= _NAME_WORDS and _NO_NAME.isdisjoint(name)


def _begins(low: str) -> bool:
    """Whether anything begins like a rule: told soon, of hardly any text it is true."""
    begins, lead = forms().match, LEAD.match
    first = _FIRST.match(low)
    for found in chain([first] if first else [], _NEXT.finditer(low)):
        head = found[1]
        if head is not None and head not in HEADS:
            continue
        place = found.end() if head is None else found.start(1)
        led = lead(low, place)
        if begins(low, led.end() if led else place):
            return True
    return False


def _others(low: str, own: Set[str], announcing: Set[str]) -> list[tuple[int, int]]:
    """Where others than those of these names have their turn in a conversation, up to a blank line or the next turn."""
    marks = [(found.start(), (found[1] or "").strip(" ")) for found in _SPEAKER.finditer(low)]
    marks = [(start, name) for start, name in marks if name not in _ANNOUNCING and name not in announcing]
    turns = pairwise([*marks, (len(low), "")])
    # The first sentence of a turn begins with the name, and so like no rule but “my rules are simple: …”.
    return [(start + 1, end) for (start, name), (end, _) in turns if name and name not in own]


def _is_question(low: str, start: int, end: int) -> bool:
    ending = low[max(start, end - 12) : end].rstrip("\"')*_!”")
    return ending.endswith(("?", "？")) and _TAG.search(ending) is None


def _stated(text: str, low: str, sentence: Sentence) -> Rule | None:
    """What a sentence lays down by how it begins."""
    start, end = sentence
    if _is_question(low, start, end):
        return None
    lead = LEAD.match(low, start, end)
    found = forms().match(low, lead.end() if lead else start, end)
    if not found or REPORTED.search(low, found.start(), end):
        return None
    kind = "profile" if found["profile"] else "rule" if found["rule"] else "preference"
    if kind != "rule" and ONE_OFF.search(low, found.start(), end):
        return None
    if found["called"] is not None and not _is_called_by_name(text, found.end(), end):
        return None
    return Rule(kind, start, end, _topic(text[found.start() : end]))


def _is_called_by_name(text: str, start: int, end: int) -> bool:
    """Call me Maya; not: call me Monday, call me later."""
    name = re.match(r"[\"'“‘]?([^\W\d_][\w.'-]*)", text[start:end])
    if not name:
        return False
    word = name[1].rstrip(".").lower()
    by = re.match(r"by my \w+ ?name", text[start:end].lower())
    return by is not None or (name[1][0].isupper() and word not in _NO_NAMES)


def _topic(statement: str) -> tuple[str, ...]:
    return tuple(found.term for found in query_terms(statement) if not found.stop and found.term not in _IDLE)
