"""The tokenizer: turn a text into terms, quickly.

Every written text passes through here, so the analysis of each space-delimited word is cached. A query marks its stop
words, and returns quoted phrases apart. Every pattern must be linear: bound each repetition, or consume what it has
scanned.
"""

from __future__ import annotations

import re
from collections.abc import Container
from functools import lru_cache
from typing import NamedTuple

from pieria.language.analyser.characters import IDEOGRAPH, PICTURE, REGIONAL, SIGN, SYLLABLE, shape_of
from pieria.language.analyser.fold import fold, fold_aligned
from pieria.language.analyser.stem import stem
from pieria.language.analyser.words import LONGEST, MOMENT, Placed, Words

_SPACELESS = re.compile(r"\S+")
_SIMPLE = re.compile(r"""[("'\[{*]*([A-Z]?[a-z]+|[A-Z]+s?)[.,;:!?)"'\]}*]*""")
"""An ordinary word with its punctuation. Most words match and need no further analysis."""
_ESCAPE = "\x1b"
_COLOURING = re.compile(r"\x1b\[[0-?]*+[ -/]*+[@-~]")
"""Terminal control sequences (CSI), such as colours. They show nothing and may occur inside a word. Any other escape
character separates words.
"""

_TOKEN = re.compile(
    rf"""
    (?P<moment> (?<![A-Za-z0-9]) {MOMENT} (?! [-_'@.:/\\]? [A-Za-z0-9] ) )
  | (?P<grouped> (?<![A-Za-z0-9]) [$]? [0-9]{{1,3}} (?: ,[0-9]{{3}} ){{1,8}} (?: \.[0-9]{{1,9}} )? [$%]?
                 (?! ,?[A-Za-z0-9] ) )
  | (?P<compound> (?: (?<![A-Za-z0-9.#@$:]) (?: [.#@$] | :: ) )?
                  [A-Za-z0-9]+
                  (?: (?: _+ | ::? | [-'@.] | [/\\]{{1,2}} ) [A-Za-z0-9]+ ){{0,100}}
                  (?: \+\+ | \+(?![A-Za-z0-9=]) | (?<= [0-9] ) [%$] | (?<= (?<![A-Za-z0-9]) [A-Za-z] ) [#] )? )
  | (?P<unspaced> [{IDEOGRAPH}{SYLLABLE}{SIGN}]+ )
  | (?P<picture> {PICTURE} | {REGIONAL}{{1,2}} )
    """,
    re.VERBOSE,
)
_CLUSTER = re.compile(rf"[{IDEOGRAPH}{SYLLABLE}]{SIGN}*|{SIGN}+")

_PHRASE = re.compile(
    r"""
    (?<![A-Za-z0-9]) ["＂] ([^"＂]*) ["＂]
  | [“„] ([^“”„]+) [”“]
  | « ([^«»]+) »
  | 「 ([^「」]+) 」
  | 『 ([^『』]+) 』
    """,
    re.VERBOSE,
)

_WORDS = """
a an the this that these those
i me my mine myself we us our ours ourselves you your yours yourself yourselves
he him his himself she her hers herself it its itself they them their theirs themselves
one ones someone somebody something anyone anybody anything everyone everybody everything
am is are was were be been being do does did doing done have has had having
can could may might must shall should will would ought
cant couldnt dont doesnt didnt hadnt hasnt havent isnt arent wasnt werent shouldnt wont wouldnt aint
and or but nor so if then than because while although though unless whether
as at by for from in into of off on onto to with without within about above across after against along among
around before behind below beneath beside besides between beyond during except near over per since through
throughout toward towards under until up upon via
what when where which who whom whose why how
not no yes there here too also just very really only even ever still such both each either neither
any some all most more much many other another own same
get got let lets tell please hey hi
"""

STOP_WORDS = frozenset(stem(word) for word in _WORDS.split())
"""Stemmed, so that they compare with terms."""


class Span(NamedTuple):
    """A term and its position in the text: `text[start:end]`."""

    term: str
    start: int
    end: int


class _Memory:
    """A two-generation cache of analysed words. A full `recent` replaces `earlier`, which is dropped.

    Thread-safe without a lock: each step replaces one reference. Threads may repeat work but never get a wrong
    result.
    """

    size = 100_000
    longest = 40

    def __init__(self) -> None:
        self.recent: dict[str, tuple[str, ...]] = {}
        self.earlier: dict[str, tuple[str, ...]] = {}

    def learn(self, word: str) -> tuple[str, ...]:
        found = self.earlier.get(word)
        if found is None:
            found = _analysed(word)
        if len(word) <= self.longest:
            if len(self.recent) >= self.size:
                self.earlier, self.recent = self.recent, {}
            self.recent[word] = found
        return found


_memory = _Memory()


def terms(text: str) -> list[str]:
    """Return the terms of any text in order, with repetitions."""
    if _ESCAPE in text:
        text = _COLOURING.sub("", text).replace(_ESCAPE, " ")
    found: list[str] = []
    recent = _memory.recent
    for word in text.split():
        known = recent.get(word)
        found += _memory.learn(word) if known is None else known
    return found


def _analysed(word: str) -> tuple[str, ...]:
    found = _ascii(word, asked=False) if word.isascii() else tokens(fold(word))
    return tuple([term for term, _, _ in found])


def _ascii(word: str, *, asked: bool) -> list[Placed]:
    simple = _SIMPLE.fullmatch(word)
    if simple and len(word) <= LONGEST:
        return [(stem(simple[1].lower()), simple.start(1), simple.end(1))]
    return tokens(word, asked=asked)


def marks(text: str, wanted: Container[str]) -> list[tuple[int, str]]:
    """Return (start of the word, term) for each wanted term. Faster than `spans`, but less precise."""
    if _ESCAPE in text:
        return [(span.start, span.term) for span in spans(text) if span.term in wanted]
    found: list[tuple[int, str]] = []
    recent = _memory.recent
    for match in _SPACELESS.finditer(text):
        held = recent.get(match[0])
        for term in _memory.learn(match[0]) if held is None else held:
            if term in wanted:
                found.append((match.start(), term))
    return found


def spans(text: str) -> list[Span]:
    """Return the terms of a text, each with its slice of the original text."""
    return placed(text, asked=False)


def placed(text: str, *, asked: bool) -> list[Span]:
    """Return `spans` of a text. With `asked`, return the terms that a query looks up instead."""
    if _ESCAPE in text:
        return _placed_in_colours(text, asked=asked)
    found: list[Span] = []
    for match in _SPACELESS.finditer(text):
        word, offset = match[0], match.start()
        held = _placed_lately(word, asked) if len(word) <= _Memory.longest else _placed(word, asked=asked)
        found += [Span(term, offset + start, offset + end) for term, start, end in held]
    return found


def _placed_in_colours(text: str, *, asked: bool) -> list[Span]:
    """Return `placed` of a text with escape sequences, with positions in the original text."""
    plain: list[str] = []
    origins: list[int] = []
    start = 0
    for start_of_next, end in (*(found.span() for found in _COLOURING.finditer(text)), (len(text), len(text))):
        plain.append(text[start:start_of_next].replace(_ESCAPE, " "))
        origins += range(start, start_of_next)
        start = end
    return [
        Span(term, origins[first], origins[after - 1] + 1) for term, first, after in placed("".join(plain), asked=asked)
    ]


@lru_cache(maxsize=20_000)
def _placed_lately(word: str, asked: bool) -> tuple[Placed, ...]:
    return tuple(_placed(word, asked=asked))


def _placed(word: str, *, asked: bool) -> list[Placed]:
    if word.isascii():
        return _ascii(word, asked=asked)
    folded, starts, ends = fold_aligned(word)
    return [(term, starts[start], ends[end - 1]) for term, start, end in tokens(folded, asked=asked)]


def tokens(folded: str, *, asked: bool = False) -> list[Placed]:
    """Return every term of a folded text with its position: terms to index, or with `asked` terms to look up."""
    shape = shape_of(folded)
    words = Words(folded, shape)
    read = {"moment": words.moment, "grouped": words.grouped, "compound": words.compound, "picture": words.picture}
    for found in _TOKEN.finditer(shape):
        if found.lastgroup == "unspaced":
            _unspaced(words, folded, shape, *found.span(), asked=asked)
        else:
            read[found.lastgroup or ""](*found.span())
    return words.found


def _unspaced(words: Words, folded: str, shape: str, start: int, end: int, *, asked: bool) -> None:
    """Add characters and overlapping pairs. A query looks up the pairs, and ideographs without a neighbour."""
    clusters = [found.span() for found in _CLUSTER.finditer(shape, start, end)]
    before = start
    for first, after in clusters:
        if first > start:
            words.add(folded[before:after], before, after)
        if not asked or len(clusters) == 1 or _stands_alone(shape, first, after):
            words.add(folded[first:after], first, after)
        before = first


def _stands_alone(shape: str, first: int, after: int) -> bool:
    """Return whether an ideograph has no ideograph beside it. In Japanese it is then a word, followed by particles."""
    beside = shape[max(first - 1, 0) : first] + shape[after : after + 1]
    return shape[first] == IDEOGRAPH and IDEOGRAPH not in beside


class QueryTerm(NamedTuple):
    """A term of a query. `stop` marks a stop word, which a query with other terms can drop."""

    term: str
    stop: bool


def query_terms(text: str) -> list[QueryTerm]:
    """Return each term of a query once, in order. If all are stop words, the caller must search for them."""
    shouted = text.isupper()
    stops: dict[str, bool] = {}
    for term, start, end in placed(text, asked=True):
        is_acronym = end - start > 1 and not shouted and text[start:end].isupper()
        stops[term] = stops.get(term, True) and term in STOP_WORDS and not is_acronym
    return [QueryTerm(term, stop) for term, stop in stops.items()]


def phrases(text: str) -> list[list[str]]:
    """Return the terms of each quoted passage.

    A text that contains the passage has these terms in the same order, next to each other.
    """
    found = [terms(match[match.lastindex or 0]) for match in _PHRASE.finditer(text)]
    return [phrase for phrase in found if phrase]
