"""Types of options and arguments: numbers, times, choices, mappings, and texts that may come from a pipe.

An unreadable value is passed on unchanged: the bank reports it together with all other violations.
"""

from __future__ import annotations

import os
import re
import sys
from calendar import monthrange
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import click
from click.shell_completion import CompletionItem

from pieria.errors import InputError
from pieria.record.check import TEXT_LIMIT
from pieria.record.json_text import parsed
from pieria.record.time import iso, system_clock

_UNITS = {
    "s": "seconds", "sec": "seconds", "second": "seconds",
    "m": "minutes", "min": "minutes", "minute": "minutes",
    "h": "hours", "hr": "hours", "hour": "hours",
    "d": "days", "day": "days",
    "w": "weeks", "wk": "weeks", "week": "weeks",
    "mo": "months", "month": "months",
    "y": "years", "yr": "years", "year": "years",
}  # fmt: skip
_DAYS = {"today": 0, "yesterday": -1, "tomorrow": 1}
_PART = r"(\d{1,9}) ?([a-z]{1,7})"
_RELATIVE = re.compile(rf"(?P<ahead>\+ ?|in )?(?P<back>- ?)?(?P<parts>{_PART}(?: ?{_PART})*)(?P<ago> ago)?")


class Number(click.ParamType):  # type: ignore[type-arg]
    name = "number"

    def __init__(self, read: Callable[[str], float] = float) -> None:
        self._read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return self._read(value)
        except ValueError:
            return value


NUMBER, WHOLE = Number(), Number(int)


class Time(click.ParamType):  # type: ignore[type-arg]
    """A time. With `ahead` it is usually in the future, so a duration needs a direction."""

    name = "time"
    expects = "a date"

    def __init__(self, *, ahead: bool = False) -> None:
        self._ahead = ahead
        self.hint = (
            "Write 2026-01-31, 2026-01-31T09:30Z, +30d (in 30 days) or 30d ago."
            if ahead
            else "Write 2026-01-31, 2026-01-31T09:30Z, 2h, 7d, yesterday or +30d (in 30 days)."
        )

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return read_time(value, system_clock(), undirected=not self._ahead) if isinstance(value, str) else value


TIME, TIME_AHEAD = Time(), Time(ahead=True)


class OneOf(click.ParamType):  # type: ignore[type-arg]
    """A choice of names. The shell completes them; the bank checks the value."""

    name = "name"

    def __init__(self, *names: str) -> None:
        self.names = names

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:
        return "|".join(self.names) if len(self.names) < 5 else None

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(name) for name in self.names if name.startswith(incomplete)]


class Pairs(click.ParamType):  # type: ignore[type-arg]
    """A mapping, as `key=text`, `key:=JSON`, or a whole JSON object."""

    name = "key=text"
    expects = "a mapping"
    hint = """Write key=text, key:=JSON or '{"key": "text"}'."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return _pairs(value) if isinstance(value, str) else value


class Weights(Pairs):
    """A mapping to numbers."""

    name = "feature:=number"
    hint = "Write dense:=0.5."


PAIRS, WEIGHTS = Pairs(), Weights()


def _merged(parts: Iterable[Any]) -> Any:
    """Return one merged mapping. A part that is no mapping is returned alone, for the bank to refuse."""
    whole: dict[str, Any] = {}
    for part in parts:
        if not isinstance(part, Mapping):
            return part
        whole.update(part)
    return whole


def _pairs(value: str) -> Any:
    key, sign, rest = value.partition("=")
    try:
        if value.lstrip().startswith("{"):
            return parsed(value)
        if sign and key.endswith(":"):
            return {key[:-1]: parsed(rest)}
    except ValueError:
        return value
    return {key: rest} if sign and key else value


def given(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given values, without the options that were left out."""
    kept = {name: value for name, value in values.items() if value is not None and value != ()}
    return kept | {name: _merged(kept[name]) for name in ("meta", "body", "weights") if name in kept}


def text_of(words: Sequence[str], what: str) -> str:
    """Return the words of the command line, or standard input for `-`, or for no words if input is piped."""
    if not words and sys.stdin.isatty():
        raise click.UsageError(f"{what} is missing: pass it as an argument, or pipe it in", click.get_current_context())
    if not words or list(words) == ["-"]:
        return piped_text()
    said = " ".join(words)
    if any("\ud800" <= character <= "\udfff" for character in said):
        raise InputError(what, "UTF-8", os.fsencode(said), hint="Convert it and pipe it in: iconv -f LATIN1 -t UTF-8.")
    return said


def piped_text() -> str:
    """Return standard input as text, without the trailing line breaks that a shell adds."""
    written = sys.stdin.buffer.read(TEXT_LIMIT + 16)
    if len(written) > TEXT_LIMIT + 8:
        hint = "Split it into several texts."
        raise InputError("standard input", f"at most {TEXT_LIMIT:,} bytes", written, hint=hint)
    return decoded(written, "standard input").rstrip("\r\n")


def decoded(written: bytes, what: str) -> str:
    try:
        return written.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        where = f"Byte {written[problem.start]:#x} at offset {problem.start:,} is not UTF-8."
        hint = f"{where} Convert it first: iconv -f LATIN1 -t UTF-8."
        raise InputError(what, "UTF-8", written, hint=hint) from None


def read_time(value: str, now: datetime, *, undirected: bool = True) -> str:
    """Return an instant for a duration before or after now, a date for a day's name, and other text unchanged.

    A duration without a direction is in the past. With `undirected=False` it is returned unchanged, so that it is
    refused.
    """
    said = " ".join(value.lower().split())
    if said == "now":
        return iso(now)
    if said in _DAYS:
        return (now + timedelta(days=_DAYS[said])).date().isoformat()
    relative = _RELATIVE.fullmatch(said)
    if relative is None:
        return value
    ahead, back = bool(relative["ahead"]), bool(relative["back"] or relative["ago"])
    if (ahead and back) or not (ahead or back or undirected):
        return value
    try:
        return iso(_shifted(now, relative["parts"], 1 if ahead else -1))
    except (KeyError, OverflowError, ValueError):
        return value


def _shifted(now: datetime, parts: str, sign: int) -> datetime:
    months = 0
    length = timedelta()
    for number, unit in re.findall(_PART, parts):
        name = _UNITS[unit if unit in _UNITS else unit.removesuffix("s")]
        if name in ("months", "years"):
            months += int(number) * (12 if name == "years" else 1)
        else:
            length += timedelta(**{name: int(number)})
    return _months_on(now, sign * months) + sign * length


def _months_on(now: datetime, months: int) -> datetime:
    """Return the same day after so many months, or the last day of a shorter month."""
    count = now.year * 12 + now.month - 1 + months
    year, month = divmod(count, 12)
    if not 1 <= year <= 9999:
        raise OverflowError(year)
    return now.replace(year=year, month=month + 1, day=min(now.day, monthrange(year, month + 1)[1]))
