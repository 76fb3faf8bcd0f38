"""What a reply says, as values: numbers within their bounds, lists of a sensible length, words as the text has them."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Iterable, Sequence
from typing import TypeVar, get_args

from pieria.models.mind import Mode

log = logging.getLogger(__name__)
T = TypeVar("T")

MODES: dict[str, Mode] = {mode: mode for mode in get_args(Mode)}
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_LOWEST, _HIGHEST = 1, 10
"""Of a grade."""


def leading_number(text: str) -> float | None:
    """What the text begins with, within 0..1."""
    found = _NUMBER.match(text)
    return min(max(float(found[0]), 0.0), 1.0) if found else None


def mode_named(text: str) -> Mode | None:
    return MODES.get(text.lower())


def lines(text: str) -> list[str]:
    return [line for written in text.splitlines() if (line := written.strip())]


def tidy(text: str) -> str:
    """Without space around it, and without halves of characters and NUL, which no memory can hold."""
    return text.encode("utf-8", "replace").decode().replace("\0", "").strip()


def tidied(texts: Iterable[object]) -> list[str]:
    """The texts that are not blank, each once; what is no text is none."""
    return list(dict.fromkeys(text for item in texts if isinstance(item, str) and (text := tidy(item))))


def confidence(number: object) -> float:
    """Within 0..1. What says nothing of the kind takes nothing away from what was stated: 1."""
    if (
        isinstance(number, bool)
        or not isinstance(number, int | float)
        or (isinstance(number, float) and math.isnan(number))
    ):
        return 1.0
    return float(min(max(number, 0), 1))


def places(numbers: object, count: int) -> tuple[int, ...]:
    """The steps with these numbers, counted from 1, as places from 0; what numbers no step is passed over."""
    listed = numbers if isinstance(numbers, list) else ()
    known = {number - 1 for number in listed if type(number) is int and 1 <= number <= count}
    return tuple(sorted(known))


def graded(grade: int | float) -> float:
    """1 to 10 as 0 to 1, with four places."""
    return round((min(max(grade, _LOWEST), _HIGHEST) - _LOWEST) / (_HIGHEST - _LOWEST), 4)


def bounded(step: str, items: Sequence[T], most: int) -> list[T]:
    """The first of a list, which is longer only where a model runs on."""
    if len(items) > most:
        log.warning("%s: the reply lists %d items; the first %d were taken", step, len(items), most)
    return list(items[:most])


def within_words(text: str, most: int) -> str:
    """So many words at most; where some were cut, it ends in an ellipsis."""
    words = list(re.finditer(r"\S+", text))
    return text if len(words) <= most else f"{text[: words[most - 1].end()]} …"


def snake(predicate: str) -> str:
    return re.sub(r"\W+", "_", predicate.lower()).strip("_")


def spelt_in(text: str) -> str:
    """The text as names are looked for in it: whatever its capitals and spaces are."""
    return " ".join(text.casefold().split())
