"""Tokens: where in a folded text its words, numbers, pictures and unspaced runs stand.

Exists as the one pass over a text. Every pattern is linear: what repeats is bounded or consumes what it has looked at.
How a word falls into parts belongs to `words`.
"""

from __future__ import annotations

import re

from pieria.record.analyser.shapes import IDEOGRAPH, PICTURE, REGIONAL, SIGN, SYLLABLE, shape_of
from pieria.record.analyser.words import MOMENT, Placed, Words

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
    """Every term of a folded text with its place; `asked` gives what a question looks up instead of what is indexed."""
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
    """Characters and overlapping pairs. A question looks up the pairs, and single ideographs that stand alone."""
    clusters = [found.span() for found in _CLUSTER.finditer(shape, start, end)]
    before = start
    for first, after in clusters:
        if first > start:
            words.add(folded[before:after], before, after)
        if not asked or len(clusters) == 1 or _stands_alone(shape, first, after):
            words.add(folded[first:after], first, after)
        before = first


def _stands_alone(shape: str, first: int, after: int) -> bool:
    """Whether an ideograph has none beside it: in Japanese that is a word, with its particles around it."""
    beside = shape[max(first - 1, 0) : first] + shape[after : after + 1]
    return shape[first] == IDEOGRAPH and IDEOGRAPH not in beside
