"""Standing rules: sentences that state a lasting instruction or preference, or what should be known about a person.

Exists so that "always answer in metric units" is found when something is to be done, though no word of the request is
in it. Careful rather than complete: what is asked, told, quoted, or code does not count, and only what is said in the
first or second person does. How people put it is a table in `standing_forms`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from itertools import chain, islice, pairwise
from typing import NamedTuple

from pieria.record.analyser import query_terms, terms
from pieria.record.commonwords import TIMES
from pieria.record.lettering import lowered
from pieria.record.pasted import is_within, merged, pasted
from pieria.record.sentences import Sentence, sentences
from pieria.record.standing_clauses import CLAUSE, CLAUSE_HEADS, CLAUSES, CUES, ONCE, clause_forms
from pieria.record.standing_clauses import LEAD as CLAUSE_LEAD
from pieria.record.standing_forms import HEADS, LEAD, ONE_OFF, REPORTED, forms
from pieria.record.standing_tongues import asks_for_good, may_ask

KINDS = ("rule", "preference", "profile")


class Rule(NamedTuple):
    """What the sentence `text[start:end]` lays down, and the terms of what it is about."""

    kind: str
    start: int
    end: int
    terms: tuple[str, ...]


_HEADING = re.compile(r"[^\W\d_]+")
_TAG = re.compile(r"(?:\bok|\bokay|\balright|, right)\?\Z")
"""What ends an instruction as if it were a question."""
_WORD = re.compile(r"[^\W\d_]+")
_LONGEST = 1_000
"""Characters of a sentence: a longer one is no instruction but a text."""
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


def standing(text: str, *, in_passing: bool = False) -> list[Rule]:
    """The standing rules of a text in their order: each kind is one of `KINDS`.

    Those that are put in passing, in the middle of a sentence or in other languages than English, cost more to find.
    """
    low = text.lower() if text.isascii() else lowered(text)
    words = set(_WORD.findall(low)) if in_passing else set[str]()
    is_english, is_other = not CUES.isdisjoint(words), in_passing and may_ask(low, words)
    if not (is_english or is_other or _begins(low)):
        return []
    found = [
        rule
        for sentence in sentences(text)
        if sentence.end - sentence.start <= _LONGEST
        and (rule := _stated(text, low, sentence) or _asked(text, low, sentence, is_english, is_other))
    ]
    if not found:
        return []
    apart, others = _apart(text, low), _others(low, _OWN, frozenset())
    hidden = _without(low, merged([*apart, *(turn for turn in others if _is_name(low, turn[0]))]))
    return [
        again
        for rule in found
        if not is_within(rule.start, apart) and not is_within(rule.start, others)
        for again in [
            _stated(text, low, Sentence(rule.start, rule.end))
            or _asked(text, hidden, Sentence(rule.start, rule.end), is_english, is_other)
        ]
        if again
    ]


def own_sentences(text: str, announcing: Set[str] = frozenset()) -> list[Sentence]:
    """Those that whoever writes says himself: no code, nothing quoted, nobody's turn in a dialogue, nothing endless.

    `announcing` are words before a colon, in lower case, that are no speaker either.
    """
    return list(_own(text, text.lower() if text.isascii() else lowered(text), frozenset(), announcing))


def _own(text: str, low: str, own: Set[str], announcing: Set[str] = frozenset()) -> Iterator[Sentence]:
    apart = _apart(text, low)
    others = _others(low, own, announcing)
    for sentence in sentences(text):
        if sentence.end - sentence.start > _LONGEST:
            continue
        if not is_within(sentence.start, apart) and not is_within(sentence.start, others):
            yield sentence


def _apart(text: str, low: str) -> list[tuple[int, int]]:
    return merged([*(found.span() for found in _APART.finditer(low)), *pasted(text)])


def _without(low: str, apart: list[tuple[int, int]]) -> str:
    """The text with a word that means nothing for each place that is quoted, pasted or code."""
    kept, at = [], 0
    for start, end in apart:
        kept += [low[at:start], "x" * (end - start)]
        at = end
    return "".join([*kept, low[at:]])


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


def _asked(text: str, low: str, sentence: Sentence, is_english: bool, is_other: bool) -> Rule | None:
    """What one of its clauses lays down, or the whole in another language."""
    start, end = sentence
    if _is_question(low, start, end) or REPORTED.search(low, start, end):
        return None
    if (
        is_english
        and not CUES.isdisjoint(_WORD.findall(low, start, end))
        and not ONE_OFF.search(low, start, end)
        and not ONCE.search(low, start, end)
    ):
        for place in _clauses(low, start, end):
            head = _HEADING.match(low, place, end)
            found = clause_forms().match(low, place, end) if head and head[0] in CLAUSE_HEADS else None
            if found and (found["called"] is None or _is_called_by_name(text, found.end(), end)):
                kind = "profile" if found["profile"] else "rule" if found["rule"] else "preference"
                return Rule(kind, start, end, _topic(text[place:end]))
    if is_other and asks_for_good(low[start:end]):
        return Rule("rule", start, end, _topic(text[start:end]))
    return None


def _clauses(low: str, start: int, end: int) -> Iterator[int]:
    """Where its clauses begin, with and without what leads to them."""
    begins = [start, *(found.end() for found in islice(CLAUSE.finditer(low, start, end), CLAUSES))]
    for begin in begins:
        lead = LEAD.match(low, begin, end)
        place = lead.end() if lead else begin
        further = CLAUSE_LEAD.match(low, place, end)
        yield from {begin, place, further.end() if further else place}


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
