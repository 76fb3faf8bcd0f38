"""Names, numbers, months and weekdays of a text that none of its sources has, such as those that a model made up.

What two statements must share to say the same belongs in `particulars`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cache
from typing import NamedTuple

from pieria.language.analyser.stem import stem
from pieria.language.commonwords import COMMON
from pieria.language.letters import lowered
from pieria.language.packs import phrases, words
from pieria.language.particulars import names_time
from pieria.language.shapes import has_capital, without_ending

_TOKEN = re.compile(r"\w*\d\w*(?:[.,:/-]\w*\d\w*)*|[^\W\d_](?:[\w'’&-]*\w)?")
_PART = re.compile(r"[^\W_]+")
_BEGINS = frozenset(".!?:\n•")
_AMOUNT = re.compile(r"(\d+(?:[.,]\d+)*)(k|[a-z]{0,3})")
_THOUSANDS = re.compile(r"\d{1,3}(?:([.,])\d{3})(?:\1\d{3})*")
_DECIMAL = re.compile(r"\d+(?:[.,]\d+)?")
_MONTH = re.compile(r"\d{4}-(\d\d)\b|\b\d{1,2}\.(\d{1,2})\.")
_LONG = 8
"""Letters of a word whose ending shows that it is no name: Clement is shorter."""
_TEN, _TWENTY, _THOUSAND = 10, 20, 1000


class _Token(NamedTuple):
    word: str
    low: str
    is_first: bool
    """It may be the first of a sentence."""
    follows: bool
    """Only white space or a hyphen separates it from the token before."""


class _Known(NamedTuple):
    """What the sources have."""

    parts: Set[str]
    stems: Set[str]
    values: Set[float]
    times: Set[str]


def invented(text: str, sources: Sequence[str]) -> tuple[str, ...]:
    """Return the names, numbers, months and weekdays, in small letters, that no source has in any spelling.

    A name has a capital and is no common or everyday word.
    """
    known = _known(sources)
    tokens = list(_tokens(text))
    found = [" ".join(number) for number in _numbers(tokens) if not _is_known_number(number, known)]
    found += [token.low for token, time in _times(tokens, sure=True) if time not in known.times]
    found += [token.low for token in tokens if _is_name(token) and not _is_known(token.low, known)]
    return tuple(dict.fromkeys(found))


def _known(sources: Sequence[str]) -> _Known:
    tokens = [token for source in sources for token in _tokens(source)]
    parts = set(_PART.findall(lowered(" ".join(sources))))
    values = {float(part) for part in parts if part.isdecimal()}
    for number in _numbers(tokens):
        values |= {value for part in number for value in _values(part)} | {_sum(number)}
    months = list(_groups("months"))
    numbers = (int(one or other) for source in sources for one, other in _MONTH.findall(source))
    times = {months[number - 1] for number in numbers if 1 <= number <= len(months)}
    times |= {time for _, time in _times(tokens, sure=False)}
    return _Known(parts, {_stem(part) for part in parts}, values, times)


def _tokens(text: str) -> Iterator[_Token]:
    end = 0
    for found in _TOKEN.finditer(text):
        gap = text[end : found.start()]
        word = without_ending(found[0])
        yield _Token(word, lowered(word), not end or not _BEGINS.isdisjoint(gap), gap.strip(" -") == "")
        end = found.end()


def _has_digit(word: str) -> bool:
    return any(letter.isdecimal() for letter in word)


# --- names


def _is_name(token: _Token) -> bool:
    if len(token.word) == 1 or _has_digit(token.word) or not has_capital(token.word) or token.low in COMMON:
        return False
    return not all(_is_common(part, token.is_first) for part in _PART.findall(token.low))


def _is_common(word: str, is_first: bool) -> bool:
    if word in COMMON or word in _counts() or _stem(word) in _everyday() or word in words("everyday", "german"):
        return True
    return is_first and len(word) >= _LONG and word.endswith(tuple(words("everyday", "endings")))


@cache
def _everyday() -> frozenset[str]:
    return frozenset(_stem(word) for word in COMMON | words("everyday", "words"))


def _is_known(low: str, known: _Known) -> bool:
    return all(part in known.parts or _stem(part) in known.stems for part in _PART.findall(low))


def _stem(word: str) -> str:
    return stem(word) if word.isascii() and word.isalpha() else word


# --- numbers


def _numbers(tokens: Sequence[_Token]) -> Iterator[list[str]]:
    """Yield the parts of each number: "9,400", "b3", "ten" and "thousand", "9.4" and "million"."""
    run: list[str] = []
    for token in tokens:
        for place, part in enumerate([token.low] if _has_digit(token.word) else token.low.split("-")):
            is_joined = bool(run) and (place > 0 or token.follows)
            if part == "and" and is_joined and run[-1] in _amounts():
                continue
            is_number = _has_digit(part) or part in _counts()
            if run and not (is_number and is_joined and _continues(run[-1], part)):
                yield run
                run = []
            if is_number:
                run.append(part)
    if run:
        yield run


def _continues(before: str, part: str) -> bool:
    """Return whether the parts belong to one number: "ten thousand", "twenty five", but not "two three"."""
    if part in _amounts():
        return bool(_values(before))
    counts = _counts()
    if before in _amounts():
        return part in counts
    return counts.get(before, 0) >= _TWENTY and counts.get(part, _TEN) < _TEN


def _is_known_number(number: Sequence[str], known: _Known) -> bool:
    first, *others = number
    if others:
        return _sum(number) in known.values
    values = _values(first)
    if values:
        # "One" is a pronoun as well.
        return first == "one" or not known.values.isdisjoint(values)
    parts = _PART.findall(first)
    return all(part in known.parts or (part.isdecimal() and float(part) in known.values) for part in parts)


def _values(part: str) -> list[float]:
    """Return what a part of a number may mean: 9.400 is 9400 or 9.4. A date or an identifier means none."""
    if part in _counts():
        return [_counts()[part]]
    found = _AMOUNT.fullmatch(part)
    if not found:
        return []
    figures, unit = found.groups()
    values = [float(re.sub("[.,]", "", figures))] if _THOUSANDS.fullmatch(figures) else []
    values += [float(figures.replace(",", "."))] if _DECIMAL.fullmatch(figures) else []
    return [*values, *(value * _THOUSAND for value in values)] if unit == "k" else values


def _sum(number: Sequence[str]) -> float:
    whole, part = 0.0, 0.0
    for each in number:
        value = next(iter(_values(each)[-1:]), 0.0)
        if each not in _amounts():
            part += value
        elif value < _THOUSAND:
            part = (part or 1) * value
        else:
            whole, part = whole + (part or 1) * value, 0.0
    return whole + part


@cache
def _counts() -> Mapping[str, float]:
    """Return the values of number words. Ordinals have none: they order a summary."""
    groups = (group.split() for group in phrases("particulars", "numbers"))
    return {word: float(group[0]) for group in groups if group[0].isdecimal() for word in group[1:]} | {
        "one": 1.0,
        **_amounts(),
    }


@cache
def _amounts() -> Mapping[str, float]:
    """Return the number words that multiply what is before them."""
    groups = (group.split() for group in phrases("particulars", "amounts"))
    return {word: float(group[0]) for group in groups for word in group[1:]}


# --- months and weekdays


@cache
def _groups(name: str) -> Mapping[str, frozenset[str]]:
    """Return the words of each month or weekday by its first word."""
    groups = (group.split() for group in phrases("particulars", name))
    return {group[0].lstrip("~"): frozenset(group) for group in groups}


@cache
def _time_words() -> Mapping[str, str]:
    return {word: time for name in ("months", "weekdays") for time, group in _groups(name).items() for word in group}


def _times(tokens: Sequence[_Token], *, sure: bool) -> Iterator[tuple[_Token, str]]:
    """Yield each month and weekday. A word such as "may" must be marked as one, if `sure` by more than a capital at the
    start of a sentence.
    """
    lows = ["", *(token.low for token in tokens), ""]
    for place, token in enumerate(tokens):
        time = _time_words().get(token.low) or _time_words().get(_stem(token.low))
        doubtful = _time_words().get(f"~{token.low}")
        is_marked = token.word[0].isupper() and not (sure and token.is_first)
        if time or (doubtful and (is_marked or names_time(lows[place], lows[place + 2]))):
            yield token, time or doubtful or ""
