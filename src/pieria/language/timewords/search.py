"""Search a text for times, and apply the words around them: before, since, between, two days after.

Each form is read alone, then its context once. Arithmetic belongs in `stretch`, words in a language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from typing import NamedTuple

from pieria.language.letters import UNSPACED, lowered
from pieria.language.timewords.language import ENGLISH, Form, Language
from pieria.language.timewords.stretch import Calendar, Stretch, third
from pieria.record.time import instant

DIRECTIONS = ("in", "before", "after")

_WORD = re.compile(rf"[^\W{UNSPACED}]+")
_DIGIT = re.compile(r"\d")
_NO_START = frozenset("@#/\\$€£_&=.+")
_HAS_A_YEAR = frozenset({"year", "turn", "year_turn"})
_LOOKED_BACK = 60
"""Characters before a form that are searched for words that change its meaning."""


class TimeWord(NamedTuple):
    """A time in `text[start:end]`: the instants from `since` up to `until`. None means unbounded.

    `relative` means that the interval depends on the clock. `yearless` means a month or day without a year, which
    recurs each year. `direction` says how it was put; the interval already reflects it.
    """

    start: int
    end: int
    since: datetime | None
    until: datetime | None
    relative: bool
    direction: str
    yearless: bool = False


@dataclass(frozen=True)
class _Core:
    """A form found in the text, with the words before it."""

    start: int
    end: int
    form: Form
    said: dict[str, str]
    stretch: Stretch
    before: re.Match[str]
    before_at: int
    """Where the text window that `before` was matched in begins."""

    @property
    def opened(self) -> bool:
        return self.before["opening"] is not None

    @property
    def counts(self) -> bool:
        groups = ("opening", "limit", "preposition", "shift", "portion")
        return not self.form.weak or any(self.before[group] for group in groups)

    @property
    def whole_start(self) -> int:
        return self.before_at + self.before.start() if self.before[0].strip() else self.start


def timewords(text: str, *, now: datetime, zone: tzinfo = UTC, language: Language = ENGLISH) -> list[TimeWord]:
    """Return the dates and relative times of a text in order, as seen at `now` in `zone`.

    A date without a year means the latest one that began by `now`. A bare number is not a date, nor is one with a
    currency, a unit or more digits.
    """
    words: list[TimeWord] = []
    low, moment = lowered(text), instant(now, "now")
    # Most texts have no word that a time begins with.
    if language.openers.isdisjoint(_WORD.findall(low)) and not _DIGIT.search(low):
        return words
    for word in _Search(low, moment, zone, language).found():
        if not words or word.start >= words[-1].end:
            words.append(word)
    return words


class _Search:
    """A search of a text in lower case."""

    def __init__(self, text: str, now: datetime, zone: tzinfo, language: Language) -> None:
        self._text = text
        self._in = language
        self._zone = zone
        self._calendar = Calendar(language, now.astimezone(zone).replace(tzinfo=None), now.replace(tzinfo=None))

    def found(self) -> Iterator[TimeWord]:
        held: _Core | None = None
        for core in self._cores():
            if held is not None and self._linked(held, core):
                yield from self._span(held, core)
                held = None
                continue
            if held is not None and not self._belongs_to(held, core):
                yield from self._single(held)
            held = core if core.counts else None
        if held is not None:
            yield from self._single(held)

    def _cores(self) -> Iterator[_Core]:
        resumed = behind = 0
        for word in _WORD.finditer(self._text):
            start = word.start()
            if start < resumed or not self._may_open(word[0]) or self._text[max(start - 1, 0)] in _NO_START:
                continue
            found = self._in.core.match(self._text, start)
            if found and found.lastgroup:
                core = self._core(found, int(found.lastgroup.removeprefix("form_")), behind)
                resumed = found.end()
                if core:
                    behind = resumed if core.counts else behind
                    yield core

    def _may_open(self, word: str) -> bool:
        openers = self._in.openers
        return word[0].isdigit() or word in openers or (word[-1].isdigit() and word[:-1] in openers)

    def _core(self, found: re.Match[str], number: int, behind: int) -> _Core | None:
        """Return the matched form, or None if it is no time. Words before it are searched from `behind` on."""
        form = self._in.forms[number]
        ending = f"_{number}"
        names = self._in.groups_of[number]
        said = {name: found[name + ending] for name in names if found[name + ending]}
        if form.reader == "year" and self._in.number_only.match(self._text, found.end()):
            return None
        stretch = self._read(form, said)
        if stretch is None:
            return None
        window_at = max(behind, found.start() - _LOOKED_BACK)
        before = self._in.before.search(self._text[window_at : found.start()])
        assert before is not None, "every part of the pattern may be missing"
        return _Core(found.start(), found.end(), form, said, stretch, before, window_at)

    def _read(self, form: Form, said: dict[str, str]) -> Stretch | None:
        """Return the stretch of a form. None if there is no such day, or if a datetime cannot hold it."""
        try:
            stretch: Stretch = getattr(self._calendar, form.reader)(said)
            self._instant(stretch.start, stretch)
            self._instant(stretch.end, stretch)
        except (ValueError, OverflowError):
            return None
        return stretch

    def _linked(self, first: _Core, second: _Core) -> bool:
        if second.start - first.end > _LOOKED_BACK:
            return False
        link = self._in.link.fullmatch(self._text, first.end, second.start)
        return link is not None and (
            first.opened or link[0].split()[:1] not in ([word] for word in self._in.loose_link)
        )

    def _belongs_to(self, first: _Core, second: _Core) -> bool:
        """Return whether a weekday only adds to the date after it, as in "on Sunday, 7 May"."""
        is_pair = first.form.reader == "weekday" and second.form.reader in ("day_of_month", "iso_day")
        return is_pair and self._text[first.end : second.start].strip(" ,") in ("", *self._in.article)

    def _span(self, first: _Core, second: _Core) -> Iterator[TimeWord]:
        """Yield the span between two times. The first may take its year from the second; a second without a year
        follows the first.
        """
        if "year" in second.said:
            first = self._in_year(first, second.said["year"])
        for year in (first.stretch.start.year, first.stretch.start.year + 1):
            if first.stretch.start >= second.stretch.end:
                second = replace(self._in_year(second, str(year)), said=second.said)
        if first.stretch.start >= second.stretch.end:
            yield from self._single(first)
            yield from self._single(second)
            return
        since, until = (
            self._instant(first.stretch.start, first.stretch),
            self._instant(second.stretch.end, second.stretch),
        )
        relative = self._is_relative(first) or self._is_relative(second)
        yearless = _is_yearless(first) and _is_yearless(second)
        yield TimeWord(first.whole_start, second.end, since, until, relative, "in", yearless)

    def _in_year(self, core: _Core, year: str) -> _Core:
        """Return the same month or day in that year, unless it has a year already."""
        if _HAS_A_YEAR.intersection(core.said) or core.form.reader not in ("month", "day_of_month"):
            return core
        said = core.said | {"year": year}
        stretch = self._read(core.form, said)
        return replace(core, said=said, stretch=stretch) if stretch else core

    def _is_relative(self, core: _Core) -> bool:
        return _is_yearless(core) or (core.form.relative and "year" not in core.said)

    def _single(self, core: _Core) -> Iterator[TimeWord]:
        try:
            stretch = self._with_neighbours(core)
            since: datetime | None = self._instant(stretch.start, stretch)
            until: datetime | None = self._instant(stretch.end, stretch)
        except (ValueError, OverflowError):
            return
        direction, edge, end = "in", "", core.end
        onward = self._in.onward_of.match(self._text, core.end)
        if core.before["limit"]:
            direction, edge = self._in.limit[" ".join(core.before["limit"].split())]
        elif core.before["opening"] and onward:
            direction, edge, end = "after", "start", onward.end()
        if direction == "before":
            since, until = None, (since if edge == "start" else until)
        elif direction == "after":
            since, until = (since if edge == "start" else until), None
        start = (
            core.start
            if core.before["limit"] is None and not (core.before["shift"] or core.before["portion"])
            else core.whole_start
        )
        yield TimeWord(start, end, since, until, self._is_relative(core), direction, _is_yearless(core))

    def _with_neighbours(self, core: _Core) -> Stretch:
        stretch, before = core.stretch, core.before
        if before["portion"]:
            stretch = third(stretch, self._in.portion[before["portion"]])
        if not before["shift"]:
            return stretch
        word = before["shift"]
        if before["of"]:
            return self._calendar.unit_of(stretch, word)
        way = self._in.offset[" ".join(before["offset"].split())]
        count = self._calendar.count_of(" ".join((before["shift_count"] or "1").split()))
        return self._calendar.offset(stretch, word, count, way)

    def _instant(self, local: datetime, of: Stretch) -> datetime:
        return local.replace(tzinfo=UTC if of.zoned else self._zone).astimezone(UTC)


def _is_yearless(core: _Core) -> bool:
    return core.form.reader in ("month", "day_of_month", "days_of_month") and "year" not in core.said
