"""The first pass over an export: checks that it is complete, each line is valid, and each history is consistent.

It writes nothing and reads no bank. Problems are reported by line. A bad line excludes everything under its id: half a
history would be a false one. `Rules` are what the receiving bank asks of each row.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pieria.errors import InputError, PrivacyError, TransferError
from pieria.record import draft
from pieria.record.changeset import Content, Record, State
from pieria.record.fact import FactRow
from pieria.record.link import LinkRow
from pieria.record.time import iso, micros, moment
from pieria.store.protocol import Reader
from pieria.transfer.file import RawLine, Source
from pieria.transfer.lines import BadLineError, Header, Line, Problem, header_of, line_of, object_of

LISTED = 100
"""Problems kept in full; the others are only counted."""
REPORT_EVERY = 500


@dataclass(frozen=True, slots=True)
class Rules:
    """The first five each return a row in its stored form, or raise `InputError` or `PrivacyError`."""

    content: Callable[[Content], Content]
    state: Callable[[State], State]
    link: Callable[[LinkRow], LinkRow]
    fact: Callable[[FactRow], FactRow]
    """It also fills in the keys of the fact."""
    record: Callable[[Record], Record]
    joined: Mapping[str, Callable[[Reader, Any], list[Record]]] = field(default_factory=dict)
    """By collection: returns the records to write when a value joins a bank's own records. `ConflictError` leaves it
    out.

    For records that are valid only together.
    """
    narrowed: Mapping[str, Callable[[Record, Callable[[str], bool]], Record | None]] = field(default_factory=dict)
    """By collection: returns the part of a record that an untrusted file may set, given which ids it adds. `None`
    leaves the record out.
    """


@dataclass(slots=True)
class Checked:
    """The result of the first pass, for the second pass and for the report."""

    header: Header
    problems: list[Problem] = field(default_factory=list)
    problem_count: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    sha256: str = ""
    left: dict[str, set[str]] = field(default_factory=lambda: {"memory": set(), "link": set(), "fact": set()})
    """Ids to leave out, by kind: memory, link or fact."""
    bad_lines: set[int] = field(default_factory=set)
    purged: set[str] = field(default_factory=set)
    alive: set[str] = field(default_factory=set)
    """Purged ids that were written again later, by force."""
    begins: int = 1
    """The times of the first and the last change. The default fits a file without changes."""
    ends: int = 0

    def add(self, problem: Problem) -> None:
        self.problem_count += 1
        if len(self.problems) < LISTED:
            self.problems.append(problem)


class _Awaited(NamedTuple):
    """A closed interval that needs a successor: its start, its line, and the versions so far."""

    known_from: int
    line: int
    versions: tuple[int, ...] = ()


_OF = {"content": "memory", "state": "memory", "usage": "memory", "link": "link", "fact": "fact"}


def check(source: Source, rules: Rules, progress: Callable[[int], None]) -> Checked:
    """Read the whole file. Raise only if nothing can be imported: no export, a newer format, or a truncated file."""
    found = Checked(header_of(source))
    checker = _Checker(found, rules)
    digest = hashlib.sha256()
    end: dict[str, Any] | None = None
    for raw in source.lines():
        if raw.number % REPORT_EVERY == 0:
            progress(raw.offset)
        if end is not None:
            found.add(Problem(raw.number, "line", "nothing after the end", "another line"))
            break
        try:
            values = object_of(raw) if raw.number > 1 else {}
            if values.get("line") == "end":
                end = values
                found.sha256 = digest.hexdigest()
                checker.finish(raw.number, end)
            elif raw.number > 1:
                checker.take(line_of(raw, values))
        except BadLineError as bad:
            checker.refuse(raw, bad)
        digest.update(raw.content)
    if end is None:
        raise TransferError(
            source.path,
            "it ends before its last line: it was cut off",
            found.problems,
            hint="Export or copy it again; nothing was imported.",
        )
    progress(source.size)
    return found


class _Checker:
    def __init__(self, found: Checked, rules: Rules) -> None:
        self._found = found
        self._rules = rules
        self._seq = 0
        self._at: int | None = None
        self._content: Line | None = None
        self._awaited: dict[str, dict[str, _Awaited]] = {"memory": {}, "link": {}, "fact": {}}
        self._seen: dict[str, set[str]] = {"memory": set(), "link": set(), "fact": set()}
        """Ids that the current change has written."""
        self._complete: set[int] = set()
        """Hashes of the memory ids whose last state was read: a tenth of the size of the ids."""

    def take(self, line: Line) -> None:
        self._found.counts[line.what] += 1
        content, self._content = self._content, None
        if content is not None and not self._belongs(content, line):
            content = None
        if line.what != "change" and self._at is None:
            self._wrong(line, "line", "a change line first", f"a {line.what} line")
        elif line.what == "state":
            self._state(line, content)
        else:
            _TAKERS[line.what](self, line)

    def _belongs(self, content: Line, line: Line) -> bool:
        """Return whether the line is the state of this content, which must follow at once."""
        same = line.what == "state" and line.row.id == content.row.id
        if same and line.row.version != content.row.version:
            expected = f"{content.row.version}, that of the content above"
            self._wrong(line, "version", expected, str(line.row.version))
            return False
        if not same:
            self._wrong(content, "line", "its state on the next line", f"a {line.what} line")
        return same

    def refuse(self, raw: RawLine, bad: BadLineError) -> None:
        self._found.bad_lines.add(raw.number)
        for problem in bad.problems:
            self._found.add(problem)
        content, self._content = self._content, None
        if content is not None and bad.id != content.row.id:
            self._wrong(content, "line", "its state on the next line", "a broken one")
        if bad.what in _OF and bad.id:
            self._found.left[_OF[bad.what]].add(bad.id)

    def finish(self, number: int, end: dict[str, Any]) -> None:
        if self._content is not None:
            self._wrong(self._content, "line", "its state on the next line", "the end")
        for what, awaited in self._awaited.items():
            for id, (known_from, line, _) in awaited.items():
                if id in self._found.left[what]:
                    continue
                named = "state" if what == "memory" else what
                expected = f"another {named} of this id from {iso(moment(known_from))} on"
                self._found.left[what].add(id)
                self._found.add(Problem(line, "known_until", expected, "none in this file"))
        if end.get("sha256") != self._found.sha256:
            self._found.add(Problem(number, "sha256", "the digest of all lines before", "another one"))
        counts = end.get("counts")
        if not self._found.bad_lines and counts != dict(self._found.counts):
            written = json.dumps(dict(self._found.counts))
            self._found.add(Problem.with_value(number, "counts", written, counts))

    def _wrong(self, line: Line, parameter: str, expected: str, received: str) -> None:
        """Report a valid line in the wrong position, and leave out its id."""
        self._found.add(Problem(line.number, parameter, expected, received))
        self._found.bad_lines.add(line.number)
        if line.what in _OF:
            self._found.left[_OF[line.what]].add(line.row.id)

    def _change(self, line: Line) -> None:
        change = line.row
        at = micros(change.at)
        if change.seq <= self._seq:
            self._wrong(line, "seq", f"a number above {self._seq}", str(change.seq))
        elif self._at is not None and at <= self._at:
            self._wrong(line, "at", f"a time after {iso(moment(self._at))}", iso(change.at))
        else:
            self._found.begins = at if self._at is None else self._found.begins
            self._seq, self._at = change.seq, at
            self._found.ends = at
            for seen in self._seen.values():
                seen.clear()

    def _take_content(self, line: Line) -> None:
        self._content = line

    def _state(self, line: Line, content: Line | None) -> None:
        state: State = line.row
        before = self._follows("memory", line)
        if state.id in self._found.left["memory"]:
            return
        if before is None and hash(state.id) in self._complete:
            self._wrong(line, "id", "an id whose last state has not come yet", "one that ended above")
            return
        versions = before.versions if before is not None else ()
        if content is None and state.version not in versions:
            self._wrong(line, "version", "the content of this version, above", "none in this file")
            return
        if content is not None:
            newest = max(versions, default=0)
            if state.version <= newest or (not versions and state.version != 1):
                expected = f"a version above {newest}" if versions else "version 1 first"
                self._wrong(line, "version", expected, str(state.version))
                return
            versions += (state.version,)
            self._read_content(content, state)
        self._keepable(line, self._rules.state)
        if state.id in self._found.purged:
            self._found.alive.add(state.id)
        if line.last:
            self._complete.add(hash(state.id))
        else:
            self._awaited["memory"][state.id] = _Awaited(line.known_until, line.number, versions)

    def _read_content(self, line: Line, state: State) -> None:
        """Check a content by the rules that need its kind, and by the rules of the receiving bank."""
        content: Content = line.row
        if content.body is not None and state.kind in draft.BODIES:
            self._keepable(line, lambda row: draft.body(json.loads(row.body), state.kind))
        self._keepable(line, self._rules.content)

    def _keepable(self, line: Line, rule: Callable[[Any], object]) -> None:
        """Check a row by the rules of the receiving bank. If it fails, report it and leave out its id."""
        try:
            rule(line.row)
        except (InputError, PrivacyError) as problem:
            self._found.add(Problem.of(line.number, problem))
            self._found.bad_lines.add(line.number)
            if line.what in _OF:
                self._found.left[_OF[line.what]].add(line.row.id)

    def _tie(self, line: Line) -> None:
        """Check a link or a fact."""
        self._follows(line.what, line)
        if line.row.id in self._found.left[line.what]:
            return
        if not line.last:
            self._awaited[line.what][line.row.id] = _Awaited(line.known_until, line.number)
        self._keepable(line, self._rules.link if line.what == "link" else self._rules.fact)

    def _follows(self, what: str, line: Line) -> _Awaited | None:
        """Check that an interval begins with its change, once per change, and where the interval before it ended."""
        id = line.row.id
        before = self._awaited[what].pop(id, None)
        if id in self._found.left[what]:
            return before
        if line.known_from != self._at:
            self._wrong(line, "known_from", "the time of its change, above", iso(moment(line.known_from)))
        elif id in self._seen[what]:
            self._wrong(line, "id", "each id once in a change", "it again")
        elif before is not None and before.known_from != line.known_from:
            expected = f"{iso(moment(before.known_from))}, where the one before ends"
            self._wrong(line, "known_from", expected, iso(moment(line.known_from)))
        self._seen[what].add(id)
        return before

    def _purged(self, line: Line) -> None:
        if line.known_from != self._at:
            self._wrong(line, "known_from", "the time of its change, above", iso(moment(line.known_from)))
        self._found.purged.add(line.row)

    def _nothing_more(self, line: Line) -> None:
        """Accept usage, which needs no other line."""

    def _record(self, line: Line) -> None:
        self._keepable(line, self._rules.record)


_TAKERS: dict[str, Callable[[_Checker, Line], None]] = {
    "change": _Checker._change,
    "content": _Checker._take_content,
    "link": _Checker._tie,
    "fact": _Checker._tie,
    "purged": _Checker._purged,
    "usage": _Checker._nothing_more,
    "record": _Checker._record,
}
