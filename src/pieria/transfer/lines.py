"""From the lines of an export to rows, one by one. Checks across lines belong to `check`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from pieria.errors import InputError, NewerVersionError, TransferError
from pieria.record.change import Change
from pieria.record.changeset import FOREVER, Content, Record, State
from pieria.record.fact import FactRow
from pieria.record.json_text import TooDeepError, parsed
from pieria.record.link import LinkRow
from pieria.record.time import moment
from pieria.record.usage import Use
from pieria.transfer.fields import FIELDS, values_of
from pieria.transfer.file import RawLine, Source
from pieria.transfer.problem import Problem

FORMAT = 1
VERSIONED = ("state", "link", "fact")


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
