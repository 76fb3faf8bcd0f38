"""Converts parts of replies to values: bounded numbers, bounded lists, and names as the text spells them."""

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
"""The range of a grade."""


def leading_number(text: str) -> float | None:
    """Return the number at the beginning of the text, limited to 0..1, or None."""
    found = _NUMBER.match(text)
    return min(max(float(found[0]), 0.0), 1.0) if found else None


def mode_named(text: str) -> Mode | None:
    return MODES.get(text.lower())


def lines(text: str) -> list[str]:
    return [line for written in text.splitlines() if (line := written.strip())]


def tidy(text: str) -> str:
    """Return the text without outer whitespace, lone surrogates and NUL, which cannot be stored."""
    return text.encode("utf-8", "replace").decode().replace("\0", "").strip()


def tidied(texts: Iterable[object]) -> list[str]:
    """Return the distinct texts that are not blank. Drops items that are not texts."""
    return list(dict.fromkeys(text for item in texts if isinstance(item, str) and (text := tidy(item))))


def confidence(number: object) -> float:
    """Return the number limited to 0..1; anything else counts as 1, because the statement was made."""
    if (
        isinstance(number, bool)
        or not isinstance(number, int | float)
        or (isinstance(number, float) and math.isnan(number))
    ):
        return 1.0
    return float(min(max(number, 0), 1))


def places(numbers: object, count: int) -> tuple[int, ...]:
    """Return step numbers, counted from 1, as indices from 0. Drops numbers out of range."""
    listed = numbers if isinstance(numbers, list) else ()
    known = {number - 1 for number in listed if type(number) is int and 1 <= number <= count}
    return tuple(sorted(known))


def graded(grade: int | float) -> float:
    """Return a grade from 1 to 10 as a number from 0 to 1, with four decimals."""
    return round((min(max(grade, _LOWEST), _HIGHEST) - _LOWEST) / (_HIGHEST - _LOWEST), 4)


def bounded(step: str, items: Sequence[T], most: int) -> list[T]:
    """Return the first `most` items, and log if there were more."""
    if len(items) > most:
        log.warning("%s: the reply lists %d items; the first %d were taken", step, len(items), most)
    return list(items[:most])


def within_words(text: str, most: int) -> str:
    """Return at most this many words, with an ellipsis if the text was cut."""
    words = list(re.finditer(r"\S+", text))
    return text if len(words) <= most else f"{text[: words[most - 1].end()]} …"


def snake(predicate: str) -> str:
    return re.sub(r"\W+", "_", predicate.lower()).strip("_")


def spelt_in(text: str) -> str:
    """Return the text in the form for finding names: case-folded, with single spaces."""
    return " ".join(text.casefold().split())
