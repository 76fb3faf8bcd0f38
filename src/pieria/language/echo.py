"""Recognise a text that only repeats a question or a request, and so cannot answer it.

A text repeats a question, word for word or lightly reworded, if it holds nothing but questions of the same kind about
nothing more. Anything else may be the answer: "Which package manager? pnpm." Rules are English and German. When in
doubt, a text is no repetition.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import takewhile
from typing import NamedTuple

from pieria.language.analyser import STOP_WORDS, terms
from pieria.language.glance import speaker
from pieria.language.letters import lowered, spaced
from pieria.language.packs import pack
from pieria.language.sentences import sentences
from pieria.runtime.lazy import cached_property

LONGEST = 4_000
"""Characters of the longest text that is compared."""
LEAST_SHARED = 0.6
"""The least share of a question's terms that a repetition holds."""
REQUEST, YES_NO = "request", "yes-no"
_ENDING, _ROOT = 3, 5
"""Most letters in which inflected forms differ at the end, and fewest that they share at the beginning."""
_ALIKE = frozenset({"which", "how"})
"""Kinds that ask for the same: what is it called, how is it called."""
_OF_ASKING = re.compile(
    r"""\basked\b | \b(?:did|have|has|had) \s \w+ \s (?:\w+ \s)? (?:ask|wonder|request)\w*
      | \b(?:my|our|last|previous|earlier|first|which|what) \s (?:\w+ \s)? (?:questions?|prompts?|requests?)\b
      | \b(?:gefragt|fragten?|fragtest)\b
      | \b(?:meine|unsere|letzte|vorige|erste|welche)\w? \s (?:\w+ \s)? (?:fragen?|prompts?)\b""",
    re.VERBOSE,
)
"""A question about earlier questions. They are its answer."""
_CHOICE = re.compile(r"\b(?:or|oder)\b")
_CLOSING = " \t\n\"'”’»)*_"
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


class Sentence:
    """One sentence, in lower case. `kind` is what it asks for, None for a statement."""

    def __init__(self, low: str) -> None:
        self._low = low
        self._lead = _patterns().lead.match(low)
        is_marked = low.rstrip(_CLOSING).endswith(("?", "？"))
        self.is_certain = self._lead is not None or is_marked
        """It ends in a question mark, or reports a question."""
        kind = _kind(low if self._lead is None else low[self._lead.end() :], is_certain=self.is_certain)
        self.kind = "which" if kind is None and self._lead is not None and is_marked else kind

    @cached_property
    def order(self) -> tuple[str, ...]:
        return tuple(terms(self._low))

    @cached_property
    def telling(self) -> frozenset[str]:
        """The terms with content."""
        if self._lead is None:
            return frozenset(self.order) - _idle()
        return frozenset(terms(self._low[self._lead.end() :])) - _idle()

    @cached_property
    def is_negated(self) -> bool:
        words = _WORD.findall(self._low)
        return any(word in _patterns().negations or word.endswith("n't") for word in words)


class Query:
    """A question or request, ready to be compared with texts."""

    def __init__(self, sentences: Sequence[Sentence], *, is_choice: bool) -> None:
        self._asking = [one for one in sentences if one.kind is not None] or list(sentences)
        self._orders = {one.order for one in sentences}
        self._telling = frozenset[str]().union(*(one.telling for one in sentences))
        self._kinds = {one.kind for one in sentences} - {None}
        self._is_choice = is_choice
        sizes = [len(one.telling) for one in self._asking if one.telling]
        self.fewest = max(1, int(LEAST_SHARED * min(sizes, default=1)))
        """The fewest of its terms in a text that repeats it."""

    def is_repeated_by(self, text: str, *, is_said: bool = False) -> bool:
        """Return whether the text says nothing beyond the query. `is_said` marks a turn: only what was said can be a
        request, elsewhere the imperative is an instruction."""
        if len(text) > LONGEST:
            return False
        asks = False
        for one in _sentences(text if speaker(text) is None else text.partition(":")[2]):
            is_asking = one.kind is not None and (is_said or one.kind != REQUEST)
            if not ((is_asking and self._is_asked_again(one)) or one.order in self._orders):
                return False
            asks |= is_asking
        return asks

    def _is_asked_again(self, one: Sentence) -> bool:
        """Return whether this question asks for nothing more than the query."""
        if not one.telling or not self._asks_for(one) or not _holds(self._telling, one.telling):
            return False
        if one.is_negated and not any(each.is_negated for each in self._asking):
            return False
        shared = max(_share(each.telling, one.telling) for each in self._asking)
        is_strict = self._is_choice or not one.is_certain or one.kind == REQUEST
        return shared >= (1.0 if is_strict else LEAST_SHARED)

    def _asks_for(self, one: Sentence) -> bool:
        """Return whether the query asks for the same. A question of another kind may imply the answer: "Why do we use
        pnpm?" """
        if one.kind in self._kinds or (one.kind in _ALIKE and (self._is_choice or self._kinds & _ALIKE)):
            return True
        if not one.is_certain or one.kind in (REQUEST, "why"):
            return False
        return one.kind == YES_NO or self._kinds <= {REQUEST}


def query_of(question: str) -> Query | None:
    """Return the query to compare texts with. None if it has no content, or asks for earlier questions."""
    text = question[:LONGEST]
    low = lowered(text)
    if _OF_ASKING.search(low) and not _patterns().lead.match(low):
        return None
    found = list(_sentences(text))
    if not any(one.telling for one in found):
        return None
    return Query(found, is_choice=_CHOICE.search(low) is not None)


def _sentences(text: str) -> Iterator[Sentence]:
    """Yield the sentences without greetings."""
    for start, end in sentences(text):
        low = lowered(text[start:end])
        if not _patterns().greeting.fullmatch(low):
            yield Sentence(low)


def _kind(low: str, *, is_certain: bool) -> str | None:
    """Return what a sentence asks for. Without a question mark, a question must begin with its question word."""
    known = _patterns()
    found = known.opening.match(low) or (known.further_on.search(low) if is_certain else None)
    if found is not None:
        return next(kind for kind in known.kinds if found[kind] is not None)
    if is_certain and known.yes_no.match(low):
        return YES_NO
    return REQUEST if known.request.match(low) else None


def _holds(whole: frozenset[str], part: Iterable[str]) -> bool:
    return all(term in whole or any(_is_inflected(term, other) for other in whole) for term in part)


def _share(of: frozenset[str], held: frozenset[str]) -> float:
    """Return the share of the first terms that the others hold."""
    if not of:
        return 0.0
    return sum(_holds(held, [term]) for term in of) / len(of)


def _is_inflected(one: str, other: str) -> bool:
    """Return whether two words may be forms of one, such as German ones, which the analyser does not stem."""
    longest = max(len(one), len(other))
    if not (one.isalpha() and other.isalpha()):
        return False
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    return common >= max(_ROOT, longest - _ENDING)


@cache
def _idle() -> frozenset[str]:
    held = pack("echo")["words"]
    return STOP_WORDS | frozenset(terms(f"{held['german']} {held['idle']}"))


class _Patterns(NamedTuple):
    greeting: re.Pattern[str]
    lead: re.Pattern[str]
    opening: re.Pattern[str]
    further_on: re.Pattern[str]
    yes_no: re.Pattern[str]
    request: re.Pattern[str]
    kinds: tuple[str, ...]
    negations: frozenset[str]


@cache
def _patterns() -> _Patterns:
    held = {name: "".join(value.splitlines()) for name, value in pack("echo").items() if isinstance(value, str)}
    kinds: dict[str, str] = pack("echo")["kinds"]
    opener = rf"\W*(?:(?:{held['openers']})\b[\s,:;.!–-]+)*"
    word = "|".join(rf"(?P<{kind}>(?:{forms})\b)" for kind, forms in kinds.items())
    asked = rf"(?:(?:{held['before']}) )?(?:{word})(?!')"

    def made(pattern: str) -> re.Pattern[str]:
        return re.compile(spaced(pattern))

    return _Patterns(
        greeting=made(rf"\W*(?:{held['greetings']})\b\W*"),
        lead=made(rf"{opener}(?:{held['leads']})\b[\s,:]*"),
        opening=made(opener + asked),
        further_on=made(rf"(?:(?<=[,:;–-]) ?|\A{opener}(?:{held['before']}|im|am)(?: \w+){{1,4}} ){asked}"),
        yes_no=made(rf"{opener}(?:{held['yes_no']})\b(?!')"),
        request=made(rf"{opener}{held['polite']}(?:{held['requests']})\b"),
        kinds=tuple(kinds),
        negations=frozenset(held["negations"].split("|")),
    )
