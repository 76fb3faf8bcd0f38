"""One look at a path: what is there, what of it is not as it was, and what a bank is told of that.

A source is known by its mark: its size and time, and the digest of its bytes where these changed. A mark is written
with the last of what its source says, so a mine that was killed begins again with the source it was at, and since ids
follow from the source, nothing comes in twice.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pieria.bank import Bank
from pieria.bank.capture.sources import CHANGED, GONE, LEFT, PURGED, REMOVED, TOLD, UNCHANGED
from pieria.errors import PieriaError
from pieria.mining.conversations import discovery as finding
from pieria.mining.formats import PROJECT, SAID
from pieria.mining.records import Filing, named
from pieria.mining.report import Refused, Report
from pieria.mining.said import Found, Heard, Left, Passage, Said, Source, Turn, Unseen, Wrong
from pieria.mining.trees import Tree
from pieria.record.draft import NewMemory
from pieria.record.time import iso
from pieria.record.trust import HEARSAY

READER = 2
"""The version of these readers. A source that an older one has read is read again."""
BATCH = 500
"""Memories a transaction."""
MOST_CHARACTERS = 4 << 20
"""Characters a transaction: what is held at a time stays bounded, however long turns are."""
SETTLED = 2_000_000_000
"""Nanoseconds after which a file that is changed once more has another time, whatever its file system."""
AS_BEFORE = {UNCHANGED, PURGED, REMOVED, TOLD}
"""Outcomes that leave everything as it was."""

Progress = Callable[[int, int], None]


@dataclass(slots=True)
class _Work:
    """A source at work: what came of it so far."""

    source: Source
    before: Mapping[str, Any] | None
    digest: str | None = None
    same: bool = False
    """Only its time is another."""
    units: dict[str, None] = field(default_factory=dict)
    """The ids of a listed source, in its order."""
    count: int = 0
    left: str | None = None
    """What of it was left out last, and of a file that is no text why all of it was."""
    outcomes: Counter[str] = field(default_factory=Counter)
    gone: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Waiting:
    """What goes into the next transaction: items with the work they belong to, and works that end with it."""

    items: list[tuple[_Work, int, NewMemory]] = field(default_factory=list)
    done: list[_Work] = field(default_factory=list)
    characters: int = 0

    @property
    def full(self) -> bool:
        return len(self.items) >= BATCH or len(self.done) >= BATCH or self.characters >= MOST_CHARACTERS


class Miner:
    """Looks at one path as often as it is asked to. For one thread."""

    def __init__(
        self,
        bank: Bank,
        path: Path,
        *,
        tree: Tree | None,
        format: str | None,
        filing: Filing,
        largest: int,
        force: bool = False,
        dry_run: bool = False,
    ) -> None:
        self._bank = bank
        self.path = path
        self._tree = tree
        self._format = format
        self._filing = filing
        self._largest = largest
        self._force = force
        self._dry_run = dry_run

    def run(self, progress: Progress | None = None) -> Report:
        """Looks once. `progress` is told how many bytes were read of those that had to be."""
        begun = time.monotonic()
        self._report = Report(str(self.path), self._dry_run)
        self._intake = self._bank.sources.intake(force=self._force, dry_run=self._dry_run, via=HEARSAY)
        self._marks = {name: mark for name, mark in self._known() if self._format in (None, mark["format"])}
        self._waiting = _Waiting()
        self._unseen: list[str] = []
        seen: set[str] = set()
        wanted = [work for found in self._find() if (work := self._looked_at(found, seen)) is not None]
        self._read_all(wanted, progress)
        self._miss(name for name in self._marks if name not in seen)
        self._report.seconds = time.monotonic() - begun
        return self._report

    def _find(self) -> Iterator[Found]:
        if self._tree is not None:
            return self._tree.find(self._largest)
        return finding.find(self.path, self._format, self._at_hand, self._bank.data.resolve())

    def _known(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The marks of what lies at the path or below it. A source within a file is spelt `file#name`."""
        top = str(self.path)
        for key, mark in self._bank.sources.known(self._key(top)).items():
            name = key.removeprefix(self._key(""))
            if name == top or name[len(top) :].startswith(("/", "#")) or top.endswith("/"):
                yield name, mark

    def _key(self, name: str) -> str:
        """Under which a mark is kept: a file may be part of a project and a conversation as well."""
        return f"{SAID if self._tree is None else PROJECT}:{name}"

    def _at_hand(self, name: str, size: int, changed: int) -> str | None:
        mark = self._marks.get(name)
        same = mark is not None and (mark["size"], mark["changed"]) == (size, changed)
        return str(mark["format"]) if mark is not None and same else None

    def _looked_at(self, found: Found, seen: set[str]) -> _Work | None:
        """The source, where it has to be read."""
        if isinstance(found, Left):
            self._report.left[found.reason] += 1
        elif isinstance(found, Unseen):
            self._unseen.append(found.path)
            self._report.refuse(Refused(found.path, None, found.reason))
        elif isinstance(found, Wrong):
            where = found.source or str(self.path)
            self._report.refuse(Refused(where, found.record, found.reason, found.excerpt))
        else:
            seen.add(found.name)
            mark = self._marks.get(found.name)
            if mark is None or self._force or "gone" in mark or not _is_as_it_was(found, mark):
                return _Work(found, mark)
            if mark.get("left"):
                self._report.left[str(mark["left"])] += 1
                return None
            self._count(found, "unchanged")
            self._report.memories["unchanged"] += int(mark["count"])
        return None

    def _count(self, source: Source, what: str) -> None:
        self._report.sources[what] += 1
        self._report.formats[source.format] += 1

    def _read_all(self, wanted: list[_Work], progress: Progress | None) -> None:
        told: Progress = progress or (lambda done, whole: None)
        whole = max(sum(work.source.size for work in wanted), 1)
        done = 0
        for work in wanted:
            self._work(work, _share(told, done, whole))
            done += work.source.size
            told(done, whole)
        self._put()

    def _work(self, work: _Work, heard: Heard) -> None:
        source = work.source
        try:
            work.digest = source.digest() if source.digest is not None else None
            work.same = self._says_the_same(work.before, work.digest)
            if not work.same:
                self._read(work, heard)
        except FileNotFoundError:
            # It went away while others were read: the next look finds it gone.
            return
        except (OSError, UnicodeDecodeError, sqlite3.Error) as problem:
            reason = f"cannot be read ({getattr(problem, 'strerror', None) or problem})"
            self._report.refuse(Refused(source.name, None, reason))
            return
        if work.before is not None and source.listed and not work.same:
            work.gone = {id: CHANGED for id in work.before.get("units", ()) if id not in work.units}
        self._waiting.done.append(work)
        if self._waiting.full or len(work.gone) > BATCH:
            self._put()

    def _says_the_same(self, before: Mapping[str, Any] | None, digest: str | None) -> bool:
        if before is None or digest is None or self._force or "gone" in before:
            return False
        return bool(before.get("digest") == digest and before["reader"] == READER)

    def _read(self, work: _Work, heard: Heard) -> None:
        seen: Counter[str] = Counter()
        for said in work.source.read(heard):
            for item in self._items(work, said, seen):
                work.count += 1
                record = said.sequence if isinstance(said, Turn) else work.count
                self._waiting.items.append((work, record, item))
                self._waiting.characters += len(item.text)
                if work.source.listed:
                    work.units[str(item.id)] = None
            if self._waiting.full:
                self._put()

    def _items(self, work: _Work, said: Said, seen: Counter[str]) -> Iterator[NewMemory]:
        if isinstance(said, Passage):
            yield self._filing.passage(work.source, said, seen)
        elif isinstance(said, Turn):
            yield from self._filing.turn(work.source, said)
        elif isinstance(said, Left):
            work.left = said.reason
            self._report.left[said.reason] += 1
        else:
            self._report.refuse(Refused(work.source.name, said.record, said.reason, said.excerpt))

    def _put(self) -> None:
        """One transaction: items, what their sources say no more, and the marks of the sources that end with them."""
        waiting, self._waiting = self._waiting, _Waiting()
        if not (waiting.items or waiting.done):
            return
        gone = {id: (work, reason) for work in waiting.done for id, reason in work.gone.items()}
        items = [item for _, _, item in waiting.items]
        unknown = self._intake.unknown(str(item.id) for item in items)
        for item in items:
            if item.id in unknown:
                item.entities = named(item)
        taken = self._intake.take(
            items,
            gone={id: reason for id, (_, reason) in gone.items()},
            marks={self._key(work.source.name): _mark(work) for work in waiting.done},
        )
        for (work, record, _), outcome in zip(waiting.items, taken.outcomes, strict=True):
            if isinstance(outcome, PieriaError):
                self._report.refuse(Refused(work.source.name, record, outcome.message))
            else:
                work.outcomes[outcome] += 1
        for id in taken.ended:
            gone[id][0].outcomes["superseded"] += 1
        for work in waiting.done:
            self._end(work)

    def _end(self, work: _Work) -> None:
        before = work.before
        if work.same and before is not None:
            if before.get("left"):
                self._report.left[str(before["left"])] += 1
                return
            work.outcomes[UNCHANGED] += int(before["count"])
        self._report.memories.update(work.outcomes)
        if work.source.present and not work.same and not work.count and before is None:
            # A file that is no text: it was counted among what is left out.
            return
        what = "new" if before is None else "back" if "gone" in before else "changed"
        if what == "changed" and set(work.outcomes) <= AS_BEFORE:
            what = UNCHANGED
        self._count(work.source, what)
        if self._dry_run and what != UNCHANGED:
            self._plan(work.source.name, what, work.outcomes)

    def _plan(self, name: str, what: str, memories: Mapping[str, int]) -> None:
        counted = {word: number for word, number in sorted(memories.items()) if number}
        self._report.plan.append({"source": name, "what": what, "memories": counted})

    def _miss(self, names: Iterable[str]) -> None:
        """What was there and is not any more: what files said holds no longer, but what was said stays said."""
        for name in names:
            mark = self._marks[name]
            if "gone" in mark or self._is_unseen(name):
                continue
            is_there = os.path.exists(name)
            if is_there and self._tree is None:
                continue
            ids = list(mark.get("units", ())) if self._tree is not None else self._bank.sources.ids(name)
            ended = self._vanish(name, mark, ids, LEFT if is_there else GONE)
            if mark.get("left"):
                continue
            self._report.sources["vanished"] += 1
            self._report.formats[str(mark["format"])] += 1
            self._report.memories["vanished"] += ended
            if self._dry_run:
                self._plan(name, "vanished", {"vanished": ended})

    def _vanish(self, name: str, mark: Mapping[str, Any], ids: list[str], reason: str) -> int:
        noted = {self._key(name): {**mark, "gone": iso(self._bank.clock())}}
        ended = 0
        for start in range(0, max(len(ids), 1), BATCH):
            part = dict.fromkeys(ids[start : start + BATCH], reason)
            last = start + BATCH >= len(ids)
            taken = self._intake.take([], gone=part, hide=self._tree is not None, marks=noted if last else None)
            ended += len(taken.ended)
        return ended

    def _is_unseen(self, name: str) -> bool:
        return any(name == path or name.startswith((f"{path}/", f"{path}#")) for path in self._unseen)


def _is_as_it_was(source: Source, mark: Mapping[str, Any]) -> bool:
    same = (mark["size"], mark["changed"]) == (source.size, source.changed)
    return same and mark["reader"] == READER and not mark.get("unsettled")


def _share(told: Progress, done: int, whole: int) -> Heard:
    return lambda at: told(done + at, whole)


def _mark(work: _Work) -> dict[str, Any]:
    """What the next look has to know of a source."""
    source = work.source
    kept: Mapping[str, Any] = work.before if work.same and work.before is not None else {}
    mark = {
        "format": source.format,
        "size": source.size,
        "changed": source.changed,
        "reader": READER,
        "count": kept.get("count", work.count),
    }
    if work.digest is not None:
        mark["digest"] = work.digest
    if time.time_ns() - source.changed < SETTLED:
        # It may be changed once more and bear the same time.
        mark["unsettled"] = True
    if source.listed:
        mark["units"] = kept.get("units", list(work.units))
    left = kept.get("left", work.left if source.present and not work.count else None)
    return {**mark, "left": left} if left else mark
