"""A linear model that decides whether a person's sentence states something lasting.

Holds the features, the scoring and the weights. `training/rules.py` generates the weights. Which sentences are a
person's own is decided in `standing_rules`.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from math import exp
from typing import NamedTuple

PROMPT, NOTE = "prompt", "note"
"""How a person says something: typed to an agent during work, or stored on purpose."""
LASTING = ("rule", "preference", "profile")
WEIGHTS = "rule_weights.json"
SCALE = 64
"""The file stores weights as integers, multiplied by this."""
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*|\d+|[^\w\s]")
_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Scripts with longer or unseparated words, read in pairs of characters."""
_PIECES = (3, 4, 5)
_HEAD = 3
_LENGTHS = 6


class Model(NamedTuple):
    """The weights of each feature, for lasting statements and for each kind, and the least probability that counts."""

    lasting: dict[str, int]
    kinds: dict[str, list[int]]
    threshold: float


def lasting_kind(sentence: str, said_as: str) -> str | None:
    """Return the kind of lasting statement that a sentence makes, one of `LASTING`, or None."""
    model = load_model()
    found = features(sentence, said_as)
    if probability(found, model.lasting) < model.threshold:
        return None
    totals = [sum(column) for column in zip(*(model.kinds[each] for each in found if each in model.kinds), strict=True)]
    return LASTING[totals.index(max(totals))] if totals else LASTING[0]


def probability(found: Sequence[str], lasting: dict[str, int]) -> float:
    """Return the probability that a sentence with these features states something lasting."""
    return 1 / (1 + exp(-sum(lasting[each] for each in found if each in lasting) / SCALE))


def features(sentence: str, said_as: str) -> list[str]:
    """Return the features of a sentence without duplicates."""
    return list(dict.fromkeys(_features(_tokens(sentence), said_as)))


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
    if said_as == NOTE:
        yield "note"
        for place, token in enumerate(tokens):
            yield f"note {token}"
            if place < _HEAD:
                yield f"note head {token}"


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
def load_model() -> Model:
    return Model(**json.loads(files("pieria.language").joinpath(WEIGHTS).read_text(encoding="utf-8")))
