"""The format of a language's time words, and how its table becomes one pattern.

A new language is one more table like `english.toml`, without new code. Calendars do not depend on language: dates are
computed in `stretch`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pieria.language.letters import UNSPACED, spaced
from pieria.runtime.lazy import cached_property


@dataclass(frozen=True)
class Form:
    """One way to write a time.

    In the pattern `<month>` matches any word of that table, and a space matches white space. `reader` names the
    method of `stretch.Calendar` that computes the time. A `weak` form counts only after a preposition: May, Friday
    and 2023 are also a verb, a greeting and a number.
    """

    reader: str
    pattern: str
    relative: bool = False
    weak: bool = False


@dataclass(frozen=True)
class Language:
    """The words of a language in lower case, and its forms, longest first."""

    forms: tuple[Form, ...]
    month: Mapping[str, int]
    weekday: Mapping[str, int]
    """Monday is 0."""
    unit: Mapping[str, str]
    """To one of `stretch.UNITS`."""
    count: Mapping[str, tuple[int, int]]
    """The least and the most it can mean: a few are two to four."""
    lately: Mapping[str, tuple[int, int]]
    """As in "the other day": the least and the most units ago."""
    ordinal: Mapping[str, int]
    season: Mapping[str, int]
    """To its first month."""
    feast: Mapping[str, tuple[int, int]]
    """To month and day."""
    near: Mapping[str, int]
    """Days from today: yesterday is -1."""
    part: Mapping[str, tuple[int, int]]
    """Parts of a day, in hours from its midnight."""
    turn: Mapping[str, int]
    """Last is -1, this is 0, next is 1."""
    rolling: Mapping[str, int]
    """As in "the past three days": -1 for past, 1 for coming."""
    passing: Mapping[str, int]
    """The rolling words that need no number: the past week."""
    portion: Mapping[str, int]
    """Early is 0, mid is 1, late is 2: a third each."""
    limit: Mapping[str, tuple[str, str]]
    """To a direction and the edge it counts from: "before March" ends at its start, "until March" at its end."""
    onward: tuple[str, ...]
    """Words after a time that make it a beginning: from May on."""
    offset: Mapping[str, int]
    """As in "two days before Christmas": -1 for before."""
    preposition: tuple[str, ...]
    """Words that let a weak form count."""
    span_opening: tuple[str, ...]
    """Between, from."""
    span_link: tuple[str, ...]
    """Words between the two ends of a span."""
    loose_link: tuple[str, ...]
    """Links that join two ends only after an opening: "in May and July" are two times."""
    counted: tuple[str, ...]
    """Words after a number that make it a count, not a year: in 2000 words."""
    article: tuple[str, ...]
    of: tuple[str, ...]

    @cached_property
    def core(self) -> re.Pattern[str]:
        """Return all forms in one pattern. Groups of form n end in _n, and `form_n` is the whole form."""
        numbered = (f"(?P<form_{number}>{self._spelt(form, number)})" for number, form in enumerate(self.forms))
        return re.compile("(?:" + "|".join(numbered) + ")" + _AFTER)

    @cached_property
    def openers(self) -> frozenset[str]:
        """Return the words that a form can begin with, besides numbers."""
        tables = (word for name in _TABLES for word in getattr(self, name))
        written = (re.match(r"(?:\(\?:)?(\w+)", form.pattern) for form in self.forms)
        return frozenset(_first_words((*tables, *self.article, *(word[1] for word in written if word))))

    @cached_property
    def before(self) -> re.Pattern[str]:
        """Return the pattern of the words before a form that change its meaning."""
        of = any_of(self.of)
        article = rf"(?:\b{any_of(self.article)}<space>)?"
        return _compiled(
            rf"""(?: \b (?: (?P<opening>{any_of(self.span_opening)}) | (?P<limit>{any_of(self.limit)})
                       | (?P<preposition>{any_of(self.preposition)}) ) <space> )?
                 (?: {article}(?: (?P<shift_count>{any_of(self.count)}|\d{{1,3}}) <space> )?
                     (?P<shift>{any_of((*self.unit, *self.weekday))}) <space>
                     (?: (?P<offset>{any_of(self.offset)}) | (?P<of>{of}) ) <space> )?
                 (?: {article}\b(?P<portion>{any_of(self.portion)}) (?: - | <space> (?: {of} <space> )? ) )?
                 {article}$"""
        )

    @cached_property
    def link(self) -> re.Pattern[str]:
        links = any_of(self.span_link)
        return re.compile(rf"\s{{0,3}}(?:{links})\s{{1,3}}(?:(?:{any_of(self.article)})\s)?|\s?-\s?")

    @cached_property
    def onward_of(self) -> re.Pattern[str]:
        return re.compile(rf"\s{any_of(self.onward)}\b")

    @cached_property
    def groups_of(self) -> tuple[tuple[str, ...], ...]:
        """Return the group names in each form's pattern."""
        return tuple(tuple(re.findall(r"<(\w+)>", form.pattern)) for form in self.forms)

    @cached_property
    def number_only(self) -> re.Pattern[str]:
        """Return the pattern of the words after a number that is not a year."""
        return re.compile(rf"\s(?:{any_of(self.counted)})\b")

    def _spelt(self, form: Form, number: int) -> str:
        def group(found: re.Match[str]) -> str:
            name = found[1]
            pattern = _NUMBERS.get(name) or any_of(getattr(self, name.removeprefix("year_"))) + r"(?!\w)"
            return f"(?P<{name}_{number}>{pattern})"

        return re.sub(r"<(\w+)>", group, spaced(form.pattern))


def _read(name: str) -> Language:
    """Return the language of the table with this name, beside this file."""
    read = tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text("utf-8"))
    parts = read.pop("parts")
    forms = [
        Form(**{**form, "pattern": re.sub(r"\{([a-z_]+)\}", lambda found: parts[found[1]], form["pattern"])})
        for form in read.pop("forms")
    ]
    tables: dict[str, Any] = {}
    for key, held in read.items():
        if isinstance(held, str):
            tables[key] = tuple(held.split())
        else:
            tables[key] = {word: _meaning(means, key) for means, words in held.items() for word in words.split("|")}
    return Language(forms=tuple(forms), **tables)


def _meaning(means: str, table: str) -> object:
    if table == "unit":
        return means
    if table == "limit":
        return tuple(means.split("-"))
    return tuple(map(int, means.split("-"))) if table in ("count", "lately", "feast", "part") else int(means)


_TABLES = (
    *("month", "weekday", "unit", "count", "lately", "ordinal", "season", "feast", "near", "part", "turn", "rolling"),
    "passing",
)
_SPACE = r"\s{1,3}"
# Not followed by more digits, a word, or the rest of an identifier.
_AFTER = rf"(?![^\W{UNSPACED}]|[.,:/]\d|-\d|%|@)"
_NUMBERS = {
    "year": r"(?:1[0-9]|20)\d\d(?!\d)",
    "anyyear": r"\d{4}",
    "last_day": r"(?:3[01]|[12]\d|0?[1-9])(?!\d)",
    "day": r"(?:3[01]|[12]\d|0?[1-9])(?!\d)",
    "number": r"\d{1,2}",
    "amount": r"\d{1,4}",
    "quarter_number": r"[1-4]",
    "half_number": r"[12]",
    "decade_year": r"(?:(?:1[0-9]|20)\d|[0-9])0",
    "hour": r"[01]\d|2[0-3]",
    "minute": r"[0-5]\d",
    "zone": r"z|[+-]\d\d:?\d\d",
}


def any_of(words: Iterable[str]) -> str:
    """Return a pattern for any of the words, longest first. A space in a word matches white space."""
    return (
        "(?:" + "|".join(re.escape(word).replace(r"\ ", _SPACE) for word in sorted(words, key=len, reverse=True)) + ")"
    )


def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern without the white space of its layout."""
    return re.compile(re.sub(r"\s+", "", pattern).replace("<space>", _SPACE))


def _first_words(words: Iterable[str]) -> Iterator[str]:
    for word in words:
        found = re.match(r"\w+", word)
        if found:
            yield found[0]


ENGLISH = _read("english")
