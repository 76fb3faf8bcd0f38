"""Linear models that judge one sentence: whether it is of a wanted kind, and of which.

Holds the features, the scoring and the weights, a file for each model. `training` generates the weights.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from math import exp
from typing import NamedTuple

SCALE = 64
"""The file stores weights as integers, multiplied by this."""
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*|\d+|[^\w\s]")
_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Scripts with longer or unseparated words, read in pairs of characters."""
_PIECES = (3, 4, 5)
_HEAD = 3
_LENGTHS = 6


class Model(NamedTuple):
    """The weights of each feature, for wanted sentences and for each kind."""

    wanted: dict[str, int]
    kinds: dict[str, list[int]]
    names: list[str]
    """The kinds, in the order of their weights."""


class Judgement(NamedTuple):
    kind: str
    probability: float


def judge(model: Model, found: Sequence[str], least: float) -> Judgement | None:
    """Return the kind of a sentence with these features, or None below the probability `least`."""
    sure = probability(found, model.wanted)
    if sure < least:
        return None
    totals = [sum(column) for column in zip(*(model.kinds[each] for each in found if each in model.kinds), strict=True)]
    return Judgement(model.names[totals.index(max(totals))] if totals else model.names[0], sure)


def probability(found: Sequence[str], wanted: dict[str, int]) -> float:
    """Return the probability that a sentence with these features is wanted."""
    return 1 / (1 + exp(-sum(wanted[each] for each in found if each in wanted) / SCALE))


def features(sentence: str, said_as: str = "", about: Iterable[str] = ()) -> list[str]:
    """Return the features of a sentence without duplicates.

    A sentence said in the way `said_as` has every word twice: as any sentence has it, and as said so. `about` are
    further features of the place where it was said.
    """
    return list(dict.fromkeys((*_features(_tokens(sentence), said_as), *about)))


def _features(tokens: Sequence[str], said_as: str) -> Iterator[str]:
    yield ""  # The bias: every sentence has it, and its weights say how common each answer is.
    yield f"length {min(len(tokens) // 4, _LENGTHS)}"
    for place, token in enumerate(tokens):
        yield token
        if place < _HEAD:
            yield f"head {token}"
        if token[0].isalpha():
            yield from _pieces(f"<{token}>")
    for first, second in pairwise(["^", *tokens, "$"]):
        yield f"{first} {second}"
    if said_as:
        yield said_as
        for place, token in enumerate(tokens):
            yield f"{said_as} {token}"
            if place < _HEAD:
                yield f"{said_as} head {token}"


def _pieces(word: str) -> Iterator[str]:
    for size in _PIECES:
        for place in range(len(word) - size + 1):
            yield f"-{word[place : place + size]}"


def _tokens(sentence: str) -> list[str]:
    found: list[str] = []
    for match in _WORD.finditer(unicodedata.normalize("NFKC", sentence).lower().replace("’", "'")):
        token = match[0]
        if _UNSPACED.search(token):
            found += [token[place : place + 2] for place in range(max(1, len(token) - 1))]
        else:
            found.append("0" if token.isdigit() else token)
    return found


@cache
def load_model(name: str) -> Model:
    """Return the model of the file `NAME_weights.json`."""
    return Model(**json.loads(files("pieria.language").joinpath(f"{name}_weights.json").read_text(encoding="utf-8")))
