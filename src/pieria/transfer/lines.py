"""The lines of an export: the fields of every kind, how each is written from a row, and how it is checked and read.

`docs/export-format.md` documents the same tables. The order is that of the rows, which are built by position. Checks
across lines belong to `check`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NamedTuple

from pieria.errors import InputError, Invalid, NewerVersionError, PrivacyError, TransferError
from pieria.record import check
from pieria.record.changeset import FOREVER, Change, Content, Record, State
from pieria.record.fact import FactRow
from pieria.record.json_text import TooDeepError, parsed
from pieria.record.link import LinkRow
from pieria.record.memory import AUTHOR_TYPES, ENDINGS, KINDS, SCOPES, STATUSES, TIERS
from pieria.record.time import instant, iso, micros, moment
from pieria.record.trust import WAYS
from pieria.record.usage import Use
from pieria.transfer.file import RawLine, Source

RECORD_LIMIT = 4 * check.TEXT_LIMIT
FORMAT = 1
VERSIONED = ("state", "link", "fact")


class Field(NamedTuple):
    """`read` returns the stored form of a value or raises `InputError`; `write` turns a column into a JSON value."""

    name: str
    read: Callable[[object, str], Any]
    write: Callable[[Any], Any] | None = None
    needed: bool = False


def _text(value: object, parameter: str) -> str:
    """Return any text that a store can hold, also a blank one."""
    if value == "":
        return ""
    if isinstance(value, str) and value.isspace():
        return value
    return check.text(value, parameter)


def _within_body(value: object, parameter: str) -> str:
    """Return a text inside a body, which may hold characters that a plain text may not."""
    if not isinstance(value, str):
        raise InputError(parameter, "a text", value)
    check.text(f"{value.replace(chr(0), ' ')}.", parameter)
    return value


def _instant(value: object, parameter: str) -> int:
    if not isinstance(value, str):
        raise InputError(parameter, "a time as ISO 8601 text", value)
    return micros(instant(value, parameter))


def _written_instant(value: int) -> str | None:
    return None if value == FOREVER else iso(moment(value))


def _number(value: object, parameter: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError(parameter, "a finite number", value)
    return float(value)


def _strength(value: object, parameter: str) -> float:
    return check.number(value, parameter, 0.0, 2.0)


def _flag(value: object, parameter: str) -> int:
    return int(check.flag(value, parameter))


def _version(value: object, parameter: str) -> int:
    return check.whole(value, parameter, 1)


def _list(value: object, parameter: str) -> str | None:
    if not isinstance(value, list):
        raise InputError(parameter, "a list of texts", value)
    kept = check.names(value, parameter)
    return written_json(list(kept)) if kept else None


def _mapping(value: object, parameter: str) -> str | None:
    return check.mapping(value, parameter)


def _ids(value: object, parameter: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise InputError(parameter, "a list of ids", value)
    return tuple(_text(item, parameter) for item in value)


def _any_json(value: object, parameter: str) -> object:
    if value is None:
        raise InputError(parameter, "a value", value)
    try:
        written = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise InputError(parameter, "finite numbers", value) from None
    check.text(written, parameter, RECORD_LIMIT)
    return value


def _one_of(*allowed: str) -> Callable[[object, str], str]:
    return lambda value, parameter: check.one_of(value, parameter, allowed)


def _ended(value: object, parameter: str) -> str:
    return "" if value == "" else check.one_of(value, parameter, ENDINGS)


def written_json(value: Any) -> str:
    """Return JSON text in the form that rows hold."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _needed(name: str, read: Callable[[object, str], Any], write: Callable[[Any], Any] | None = None) -> Field:
    return Field(name, read, write, needed=True)


KNOWN = (_needed("known_from", _instant, _written_instant), Field("known_until", _instant, _written_instant))


FIELDS: dict[str, tuple[Field, ...]] = {
    "change": (
        _needed("seq", _version),
        _needed("at", _instant, _written_instant),
        _needed("who", _text),
        _needed("what", _text),
        _needed("ids", _ids, json.loads),
    ),
    "content": (
        _needed("id", check.text),
        _needed("version", _version),
        Field("title", check.text),
        _needed("text", check.text),
        Field("body", _mapping, json.loads),
        Field("tags", _list, json.loads),
        Field("entities", _list, json.loads),
        Field("files", _list, json.loads),
        Field("flags", _list, json.loads),
        Field("context", check.text),
        Field("meta", _mapping, json.loads),
    ),
    "state": (
        _needed("id", check.text),
        _needed("version", _version),
        _needed("kind", _one_of(*KINDS)),
        Field("type", _within_body),
        _needed("place", check.place),
        _needed("scope", _one_of(*SCOPES)),
        Field("session", check.name),
        Field("sequence", check.whole),
        Field("channel", check.name),
        Field("author", check.name),
        Field("author_type", _one_of(*AUTHOR_TYPES)),
        Field("source", check.name),
        _needed("at", _instant, _written_instant),
        Field("valid_from", _instant, _written_instant),
        Field("valid_until", _instant, _written_instant),
        _needed("status", _one_of(*STATUSES)),
        _needed("tier", _one_of(*TIERS)),
        _needed("importance", check.number),
        Field("confidence", check.number),
        _needed("strength", _strength),
        _needed("trust", check.number),
        _needed("pinned", _flag, bool),
        _needed("ended", _ended),
        Field("reason", _text),
        Field("superseded_by", check.text),
        Field("via", _one_of(*WAYS)),
        *KNOWN,
    ),
    "link": (
        _needed("id", check.text),
        _needed("source_is", _one_of("memory", "place")),
        _needed("source", check.text),
        _needed("relation", check.name),
        _needed("target_is", _one_of("memory", "place")),
        _needed("target", check.text),
        _needed("weight", check.number),
        Field("label", _text),
        Field("meta", _mapping, json.loads),
        _needed("ended", _text),
        *KNOWN,
    ),
    "fact": (
        _needed("id", check.text),
        _needed("subject", check.text),
        _needed("predicate", check.text),
        _needed("object", check.text),
        Field("valid_from", _instant, _written_instant),
        Field("valid_until", _instant, _written_instant),
        Field("confidence", check.number),
        Field("memory", check.text),
        Field("source", _text),
        _needed("ended", _text),
        Field("reason", _text),
        *KNOWN,
    ),
    "purged": (_needed("id", check.text), _needed("known_from", _instant, _written_instant)),
    "usage": (
        _needed("id", check.text),
        _needed("accesses", check.whole),
        Field("last_access", _instant, _written_instant),
        _needed("reviews", check.whole),
        Field("last_review", _instant, _written_instant),
        _needed("crossings", check.whole),
        _needed("rewards", _number),
        _needed("rewarded", check.whole),
        Field("spaced", _number),
    ),
    "record": (
        _needed("collection", check.text),
        _needed("key", _text),
        _needed("value", _any_json, json.loads),
    ),
}


_ALLOWED = {what: frozenset(("line", *(field.name for field in fields))) for what, fields in FIELDS.items()}


def written_line(what: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of the store as the JSON object of a line, without missing values."""
    line: dict[str, Any] = {"line": what}
    for name, _, write, _ in FIELDS[what]:
        value = row[name]
        if value is not None and write is not None:
            value = write(value)
        if value is not None:
            line[name] = value
    return line


def values_of(what: str, line: Mapping[str, Any], problems: list[InputError]) -> list[Any]:
    """Return the values of a line in the order of its fields. Add each error to `problems`, with None as the value."""
    values: list[Any] = []
    for name, read, _, needed in FIELDS[what]:
        value = line.get(name)
        if value is None:
            if needed or name in line:
                problems.append(InputError(name, "a value", None))
            values.append(None)
            continue
        try:
            values.append(read(value, name))
        except InputError as problem:
            problems.append(problem)
            values.append(None)
    if not line.keys() <= _ALLOWED[what]:
        for name in line.keys() - _ALLOWED[what]:
            near = get_close_matches(name, _ALLOWED[what], 1)
            hint = f"Did you mean {near[0]}?" if near else None
            problems.append(InputError(name, f"only fields of a {what} line", "a field it does not have", hint=hint))
    return values


@dataclass(frozen=True, slots=True)
class Header:
    format: int
    bank: str
    contents: int
    seq: int


class Line(NamedTuple):
    """A line as a row. Without a known interval of its own, `known_from` and `known_until` are 0 and FOREVER."""

    number: int
    offset: int
    what: str
    row: Any
    known_from: int = 0
    known_until: int = FOREVER

    @property
    def last(self) -> bool:
        """Return whether it is the last line of its id in the file."""
        return self.known_until == FOREVER


class BadLineError(Exception):
    """An invalid line, with its kind and id as far as they can be read."""

    def __init__(self, problems: list[Problem], what: str = "", id: str = "") -> None:
        super().__init__(*problems)
        self.problems = problems
        self.what = what
        self.id = id


def header_of(source: Source) -> Header:
    """Return the header. Raise `TransferError` if the file is no export, with a guess at what it is."""
    first = next(source.lines(), None)
    found: Any = None
    if first is not None and len(first.content) < 1 << 20:
        try:
            found = parsed(first.content)
        except ValueError:
            found = None
    if not isinstance(found, dict) or found.get("pieria") != "export":
        looks = _article(source.looks_like())
        raise TransferError(source.path, f"it is no export of Pieria; it looks {looks}", hint=source.advice())
    format = found.get("format")
    if isinstance(format, int) and format > FORMAT:
        raise NewerVersionError(
            "import",
            f"{source.path} is of format {format}; this Pieria reads up to {FORMAT}",
            hint="Upgrade Pieria; nothing was imported.",
        )
    if format != FORMAT or isinstance(format, bool):
        raise TransferError(
            source.path, "its first line names no format", [Problem.with_value(1, "format", "1", format)]
        )
    return Header(FORMAT, str(found.get("bank", "")), _count(found.get("contents")), _count(found.get("seq")))


def _article(what: str) -> str:
    return what if what.startswith("empty") or what == "binary" else f"like {what}"


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def object_of(raw: RawLine) -> dict[str, Any]:
    """Return the JSON object of a line. Raise `BadLineError` if it is none."""
    try:
        found = parsed(raw.content.decode(), strict=True)
    except UnicodeDecodeError:
        raise BadLineError([Problem(raw.number, "line", "UTF-8 text", "other bytes")]) from None
    except TooDeepError:
        raise BadLineError([Problem(raw.number, "line", "a JSON object of fewer levels", "a deeper one")]) from None
    except ValueError:
        shown = "a blank line" if not raw.content.strip() else f"{len(raw.content):,} bytes of something else"
        raise BadLineError([Problem(raw.number, "line", "a JSON object", shown)]) from None
    if not isinstance(found, dict):
        raise BadLineError([Problem.with_value(raw.number, "line", "a JSON object", found)])
    return found


def line_of(raw: RawLine, found: dict[str, Any]) -> Line:
    """Return the row of a line other than header and end. Raise `BadLineError` with all its problems."""
    what = found.get("line")
    id = found.get("id")
    if not isinstance(what, str) or what not in FIELDS:
        raise BadLineError([Problem.with_value(raw.number, "line", "one of " + ", ".join((*FIELDS, "end")), what)])
    wrong: list[InputError] = []
    values = values_of(what, found, wrong)
    if not wrong:
        wrong += _wrong_order(found, what, values)
    if wrong:
        problems = [Problem.of(raw.number, problem) for problem in wrong]
        raise BadLineError(problems, what, id if isinstance(id, str) else "")
    return _MAKERS[what](raw, values)


def _wrong_order(found: dict[str, Any], what: str, values: list[Any]) -> Iterator[InputError]:
    """Yield an error for each interval that ends before it begins."""
    if what not in VERSIONED:
        return
    named = dict(zip((field.name for field in FIELDS[what]), values, strict=True))
    for begin, end in (("valid_from", "valid_until"), ("known_from", "known_until")):
        if named.get(begin) is not None and named.get(end) is not None:
            empty_is_wrong = begin == "known_from"
            if named[end] < named[begin] or (empty_is_wrong and named[end] == named[begin]):
                yield InputError(end, f"a time after {begin} ({found[begin]})", found[end])


def _change(raw: RawLine, values: list[Any]) -> Line:
    seq, at, who, what, ids = values
    return Line(raw.number, raw.offset, "change", Change(seq, moment(at), who, what, ids), at)


def _content(raw: RawLine, values: list[Any]) -> Line:
    return Line(raw.number, raw.offset, "content", Content(*values))


def _state(raw: RawLine, values: list[Any]) -> Line:
    *values, known_from, known_until = values
    return Line(raw.number, raw.offset, "state", State(0, *values), known_from, _end(known_until))


def _link(raw: RawLine, values: list[Any]) -> Line:
    *values, known_from, known_until = values
    return Line(raw.number, raw.offset, "link", LinkRow(*values), known_from, _end(known_until))


def _fact(raw: RawLine, values: list[Any]) -> Line:
    """Return a fact without its keys, which `Rules.fact` derives from the names."""
    id, subject, predicate, object, *values, known_from, known_until = values
    row = FactRow(id, subject, "", predicate, "", object, "", *values)
    return Line(raw.number, raw.offset, "fact", row, known_from, _end(known_until))


def _purged(raw: RawLine, values: list[Any]) -> Line:
    id, known_from = values
    return Line(raw.number, raw.offset, "purged", id, known_from)


def _usage(raw: RawLine, values: list[Any]) -> Line:
    return Line(raw.number, raw.offset, "usage", Use._make((*values[:-1], values[-1] or 0.0)))


def _record(raw: RawLine, values: list[Any]) -> Line:
    return Line(raw.number, raw.offset, "record", Record(*values))


def _end(known_until: int | None) -> int:
    return FOREVER if known_until is None else known_until


_MAKERS = {
    "change": _change,
    "content": _content,
    "state": _state,
    "link": _link,
    "fact": _fact,
    "purged": _purged,
    "usage": _usage,
    "record": _record,
}


class Problem(Invalid):
    """`line` counts from 1. Reports and `TransferError` list problems; they are never raised alone."""

    code = "problem"
    fields = ("line", "parameter", "expected", "received")

    def __init__(self, line: int, parameter: str, expected: str, received: str, hint: str | None = None) -> None:
        """`received` is a description, and never reveals what is remembered."""
        self.line = line
        self.parameter = parameter
        self.expected = expected
        self.received = received
        super().__init__(f"line {line}: {parameter}: expected {expected}, got {received}", hint=hint)

    @classmethod
    def with_value(cls, line: int, parameter: str, expected: str, received: object) -> Problem:
        return cls.of(line, InputError(parameter, expected, received))

    @classmethod
    def of(cls, line: int, error: InputError | PrivacyError) -> Problem:
        """Return the problem for an error of a check."""
        return cls(line, error.parameter, error.expected, error.received, error.hint)
