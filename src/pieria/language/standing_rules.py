"""Find standing rules: sentences with a lasting instruction, a preference, or a fact about a person.

Recall adds them when something is to be done, because a request shares no word with "always answer in metric units".
Questions, reports, quotations and code do not count, and a rule speaks in the first or second person. Phrases
belong in `standing_forms`; `rule_model` judges other wordings of a person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from itertools import chain, pairwise
from typing import NamedTuple

from pieria.language.analyser import query_terms, terms
from pieria.language.commonwords import TIMES
from pieria.language.letters import lowered
from pieria.language.pasted import is_within, merged, overlaps, pasted
from pieria.language.rule_model import LASTING as KINDS
from pieria.language.rule_model import NOTE, PROMPT, lasting_kind
from pieria.language.sentences import Sentence, sentences
from pieria.language.standing_forms import HEADS, LEAD, ONE_OFF, REPORTED, forms

__all__ = ["KINDS", "Rule", "own_sentences", "said_as", "standing"]


class Rule(NamedTuple):
    """What the sentence `text[start:end]` lays down, with the terms of its topic."""

    kind: str
    start: int
    end: int
    terms: tuple[str, ...]


_TAG = re.compile(r"(?:\bok|\bokay|\balright|, right)\?\Z")
"""A tag that ends an instruction like a question."""
_LONGEST = 1_000
"""Most characters of a sentence that can be an instruction."""
_JUDGED = 300
"""Most sentences for the model. A longer text is a document, and only the phrases of `standing_forms` count."""
_PROMPTED = ("turn", "observation")
"""Kinds with words said during work. All other kinds were stored on purpose."""
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
"""Every position where a sentence may begin, and some more, with the first word or before a bullet or number."""
_SPEAKER = re.compile(
    r"(?<![^\n])(?:\[[^\]\n]{1,40}\]\s{0,3})?[*_]{0,2}([^\W\d][\w .'-]{0,40})[*_]{0,2}:[*_]{0,2}[ \t]|\n[ \t]*+\n"
)
_NAME_WORDS = 3
_NO_NAME = frozenset(["rule", "rules", "for", "in", "from", "all", "every", "my", "our", "this", "thing", "things"])
"""Most words of a speaker's name, and words that it never contains."""
_OWN = frozenset({"user", "human", "me"})
_TIMELY = "i if when asap back later maybe at on in once after before crazy tomorrow today tonight"
_NO_NAMES = TIMES | frozenset(_TIMELY.split())
_IDLE = frozenset(
    terms(
        "always never now future forward onward prefer preference favourite remember note mind rather going please"
        " rule sure make"
    )
)
"""Terms that make a statement lasting but are not its topic."""
_ANNOUNCING = frozenset(
    """note|quick note|please note|ps|p.s|fyi|btw|important|update|reminder|heads up|to be clear|for future reference
    rule|rules|my rule|my rules|house rule|house rules|ground rule|ground rules|standing rule|standing rules
    instruction|instructions|standing instruction|standing instructions|standing order|standing orders
    preference|preferences|remember|please remember|keep in mind|one thing|another thing|one more thing
    my rule is|my rules are|our rule is|our rules are""".replace("\n    ", "|").split("|")
)
"""Words before a colon that are not a speaker."""


def said_as(kind: str) -> str:
    """Return how a person's memory of this kind was said: `PROMPT` or `NOTE`."""
    return PROMPT if kind in _PROMPTED else NOTE


def standing(text: str, said: str | None = None) -> list[Rule]:
    """Return the standing rules of a text in order.

    Give `said`, `PROMPT` or `NOTE`, only for a person's text. The model then judges sentences that match no phrase.
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
        # If a sentence contains pasted words, the model must not judge it: they would become part of the rule.
        for again in [_laid_down(text, shown, shown_low, place, None if overlaps(*place, brought) else by_model)]
        if again
    ]


def _laid_down(text: str, shown: str, low: str, sentence: Sentence, said: str | None) -> Rule | None:
    """Return the rule in a sentence, or None. `shown` is the text without quoted or pasted parts."""
    rule = _stated(text, low, sentence)
    if rule is not None or said is None:
        return rule
    start, end = sentence
    kind = lasting_kind(shown[start:end], said)
    return None if kind is None else Rule(kind, start, end, _topic(text[start:end]))


def own_sentences(text: str, announcing: Set[str] = frozenset()) -> list[Sentence]:
    """Return the sentences that are the writer's own: no code, quotations, turns of others, or overlong sentences.

    `announcing` are further words, in lower case, that are not a speaker before a colon.
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
    """Return the spans that are quoted, code, or pasted. Short quotations count too."""
    return merged([*(found.span() for found in _APART.finditer(low)), *brought])


def _without(text: str, apart: list[tuple[int, int]]) -> str:
    """Return the text with quoted, pasted and code spans filled with a meaningless letter."""
    kept, at = [], 0
    for start, end in apart:
        kept += [text[at:start], "x" * (end - start)]
        at = end
    return "".join([*kept, text[at:]])


def _is_name(low: str, start: int) -> bool:
    """Return whether a turn begins with a speaker's name: “Maya: …”, but not “a rule for all deploys: …”."""
    name = low[max(start - 1, 0) : start + 60].partition(":")[0].split()
    return len(name) <= _NAME_WORDS and _NO_NAME.isdisjoint(name)


def _begins(low: str) -> bool:
    """Return whether any sentence may begin like a rule. A cheap test that rules out most texts."""
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
    """Return the turns of speakers not in `own`. A turn ends at a blank line or at the next turn."""
    marks = [(found.start(), (found[1] or "").strip(" ")) for found in _SPEAKER.finditer(low)]
    marks = [(start, name) for start, name in marks if name not in _ANNOUNCING and name not in announcing]
    turns = pairwise([*marks, (len(low), "")])
    # Skip the first character: the first sentence of a turn begins with the name, so it matches no rule, except “my
    # rules are simple: …”.
    return [(start + 1, end) for (start, name), (end, _) in turns if name and name not in own]


def _is_question(low: str, start: int, end: int) -> bool:
    ending = low[max(start, end - 12) : end].rstrip("\"')*_!”")
    return ending.endswith(("?", "？")) and _TAG.search(ending) is None


def _stated(text: str, low: str, sentence: Sentence) -> Rule | None:
    """Return the rule that the beginning of a sentence states, or None."""
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
    """Return whether a name follows: “call me Maya”, but not “call me Monday” or “call me later”."""
    name = re.match(r"[\"'“‘]?([^\W\d_][\w.'-]*)", text[start:end])
    if not name:
        return False
    word = name[1].rstrip(".").lower()
    by = re.match(r"by my \w+ ?name", text[start:end].lower())
    return by is not None or (name[1][0].isupper() and word not in _NO_NAMES)


def _topic(statement: str) -> tuple[str, ...]:
    return tuple(found.term for found in query_terms(statement) if not found.stop and found.term not in _IDLE)
