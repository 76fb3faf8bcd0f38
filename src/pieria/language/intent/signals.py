"""Match the groups of phrases in each sentence of a message, outside of quotations and code.

Saving and recalling are judged alike. In each sentence the strongest group counts once, limited by what speaks
against it. In a message the best sentence counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from pieria.language.intent.phrases import Asks, Group, Shape, groups, phrases, shapes
from pieria.language.letters import lowered
from pieria.language.sentences import sentences

SURE, LIKELY = 0.7, 0.4
"""Above the first the agent acts unasked; from the second on it asks the user."""
LEAST = 0.1
_LONGEST = 1_000
"""Most characters read of a sentence or line. Anything longer is not a chat message."""
_SUBSTANCE = 6
"""Fewest words of a tentative sentence that is worth asking about."""
_APART = re.compile(
    r"""
    ``` (?: (?!```) [\s\S] )*+ (?: ``` )?
  | ` [^`\n]*+ `
  | (?<![^\n]) [ \t]{0,3} > [^\n]*+
  | (?<!\w) " [^"\n]*+ "
  | “ [^“”\n]*+ ”
  | « [^«»\n]*+ »
    """,
    re.VERBOSE,
)
_LINE = re.compile(r"[^\n]+")
_CODE = re.compile(
    r"""
    [ \t]+ at [ ] .*
  | .* [{};] [ \t]*
  | [ \t]* (?: def | class | import | from | for | while | if | return | select | update | insert ) \b .* [:);] [ \t]*
  | .* \w \( [^)]* \) [ \t]* (?: : .* )?
  | \S+ (?: [ \t]{2,} \S+ )+
  | [\w.]* (?: error | exception | warning ) : .*
  | \S+ [ ] (?: err! | warn | error | info | debug ) (?! \w ) .*
  | [^=<>|&]* [=<>|&] [^=<>|&(]* [=<>|&(] .*
  | (?: \d{4}-\d\d-\d\d [ t] \d | \[ | \$ [ ] | \#! ) .*
    """,
    re.VERBOSE,
)
"""A line that is entirely code, a log entry or a trace."""
_FIGURE = re.compile(r"(?<!\w)[^\w\s]?\d")
_ASIDE = re.compile(r"[,;] +(?:and |so |but )?")


@dataclass(frozen=True, slots=True)
class Signal:
    group: Group
    said: str
    worth: float

    @property
    def is_against(self) -> bool:
        return bool(self.group.hedges) or self.group.bars < 1


@dataclass(frozen=True, slots=True)
class Judged:
    """The judgement of a sentence `text[start:end]`: its confidence and the signals behind it."""

    start: int
    end: int
    confidence: float
    strongest: tuple[Signal, ...] = ()
    others: tuple[Signal, ...] = ()

    @property
    def phrases(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(signal.said for signal in self.strongest))

    @property
    def groups(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(signal.group.name for signal in self.strongest))

    @property
    def against(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(signal.said for signal in self.others if signal.is_against))

    @property
    def is_marked(self) -> bool:
        return any(signal.group.marks for signal in self.others)


class _Sentence(NamedTuple):
    start: int
    end: int
    text: str
    shape: Shape
    names: bool
    """Whether it has a known name or a figure."""
    beside: bool
    """Whether the message also asks for something."""


def judged(text: str, asks: Asks, names: Iterable[str] = ()) -> list[Judged]:
    """Return a judgement per sentence. A signal that bars the whole message applies to every sentence."""
    found = [(sentence, tuple(_signals(sentence, asks))) for sentence in _sentences(said_in(text), asks, names)]
    barring = tuple(signal for _, signals in found for signal in signals if signal.group.whole)
    return [_judged(sentence, signals, barring) for sentence, signals in found]


def best_of(sentences: list[Judged]) -> Judged:
    """Return the first sentence with the highest confidence."""
    return max(sentences, key=lambda one: one.confidence, default=Judged(0, 0, LEAST))


def said_in(text: str) -> str:
    """Return the text in lower case, same length, with quotations and code blanked."""
    plain = _APART.sub(_blank, lowered(text))
    return _LINE.sub(_without_code, plain) if "\n" in plain.strip() else plain


def _blank(found: re.Match[str]) -> str:
    return "".join("\n" if letter == "\n" else " " for letter in found[0])


def _without_code(line: re.Match[str]) -> str:
    is_code = len(line[0]) <= _LONGEST and _CODE.fullmatch(line[0])
    return _blank(line) if is_code else line[0]


def _sentences(plain: str, asks: Asks, names: Iterable[str]) -> list[_Sentence]:
    bounds = [bound for whole in sentences(plain) for bound in (_cut(plain, *whole) if asks == "saving" else [whole])]
    read = [plain[start : min(end, start + _LONGEST)] for start, end in bounds]
    shaped = [_shape(sentence) for sentence in read]
    known = [re.compile(rf"(?<!\w){re.escape(lowered(name))}(?!\w)") for name in names]
    beside = any(shape != "statement" for shape in shaped)
    return [
        _Sentence(*bound, text, shape, any(name.search(text) for name in (_FIGURE, *known)), beside)
        for bound, text, shape in zip(bounds, read, shaped, strict=True)
    ]


def _cut(plain: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the statement and a question that ends it separately: "I use Vue, which router is best?" """
    cuts = [start, end]
    if not any(said.match(plain, start, end) for said in phrases("shapes", "leaning")):
        asides = (found.end() for found in _ASIDE.finditer(plain, start, end))
        question = next((aside for aside in asides if _opens(plain[aside:end], "question")), None)
        cuts[1:1] = [] if question is None else [question]
    yield from pairwise(cuts)


def _opens(sentence: str, shape: Shape) -> bool:
    return any(begins.match(sentence) for named, begins in shapes() if named == shape)


def _shape(sentence: str) -> Shape:
    if sentence.rstrip("\"')*_!” ").endswith(("?", "？")):
        return "question"
    return next((shape for shape, begins in shapes() if begins.match(sentence)), "statement")


def _signals(sentence: _Sentence, asks: Asks) -> Iterator[Signal]:
    for group in groups(asks):
        found = group.pattern.search(sentence.text) if sentence.shape in group.within else None
        if found:
            worth = group.naming if sentence.names and group.naming else group.speaks
            yield Signal(group, " ".join(found["said"].split()), min(worth, group.beside) if sentence.beside else worth)


def _judged(sentence: _Sentence, signals: tuple[Signal, ...], barring: tuple[Signal, ...]) -> Judged:
    best = max((signal.worth for signal in signals), default=0.0)
    strongest = tuple(signal for signal in signals if best and signal.worth == best)
    others = tuple(signal for signal in (*signals, *barring) if signal not in strongest)
    is_firm = any(signal.group.firm for signal in strongest)
    against = [signal.group for signal in others if signal.group.firm or not is_firm]
    says_enough = best > 0 or len(sentence.text.split()) >= _SUBSTANCE
    hedges = [group.hedges for group in against if group.hedges and says_enough]
    bars = [group.bars for group in against if (best < group.under or group.firm) and not (hedges and group.yields)]
    confidence = min([*(hedges or [max(best, LEAST)]), *bars])
    return Judged(sentence.start, sentence.end, confidence, strongest, others)
