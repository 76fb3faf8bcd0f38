"""Find the words, numbers, pictures and unspaced runs of a folded text.

This is the only pass over a text. Every pattern must be linear: bound each repetition, or consume what it has
scanned. How a word splits into parts belongs in `words`.
"""

from __future__ import annotations

import re

from pieria.language.analyser.shapes import IDEOGRAPH, PICTURE, REGIONAL, SIGN, SYLLABLE, shape_of
from pieria.language.analyser.words import MOMENT, Placed, Words

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
