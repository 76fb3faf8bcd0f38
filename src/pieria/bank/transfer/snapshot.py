"""What a bank holds now, for other systems: a snapshot without history, removed text, quarantined or private parts.

The format of a bank's own export belongs to `pieria.transfer`; other formats belong to `pieria.exporters`.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pieria.bank.capture.sources import DIGEST
from pieria.bank.core import EVERYTHING
from pieria.bank.scratchpad import COLLECTION, session_of
from pieria.errors import InputError
from pieria.record.fact import Fact, FactQuery
from pieria.record.link import End, Link
from pieria.record.memory import STATEMENT, Memory
from pieria.record.privacy import cut_private
from pieria.record.time import is_over, micros, moment
from pieria.record.usage import UNUSED, Usage
from pieria.store.files import storage_error
from pieria.transfer.file import given_path

if TYPE_CHECKING:
    from pieria.bank.core import Core
    from pieria.store.protocol import Progress, Reader

PAGE = 500
LEFT: Mapping[str, str] = {
    "user": "memories of the user, which it exports nowhere",
    "session": "memories of one session alone",
    "archived": "memories that are no longer valid, or archived",
    "over": "memories that are no longer valid, or archived",
}
"""Why a format leaves a memory out that it would show as everybody's, or as true now."""
OVER = "facts that no longer hold"
NODES = ("tag", "intent", "subgoal", "source")
"""Kinds that only lead to other nodes of a graph. Other systems have no use for them."""


@dataclass(slots=True)
class Snapshot:
    """One moment of a bank. `counts` and `left` grow as it is read."""

    _reader: Reader
    _core: Core
    _progress: Progress | None
    counts: Counter[str] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)
    """What the format cannot carry, by reason."""
    _gone: set[str] = field(default_factory=set)
    """The ids of the memories that were left out."""

    @property
    def bank(self) -> str:
        return self._core.name

    @property
    def moment(self) -> datetime:
        """Return the time of the export."""
        return self._core.clock()

    @property
    def zone(self) -> tzinfo:
        """Return the zone of the bank's days."""
        return self._core.zone

    def memories(self, without: Container[str] = ()) -> Iterator[tuple[Memory, Usage]]:
        """Yield every memory with its usage, oldest first: archived and expired ones too, statements of facts not.

        `without` are keys of `LEFT` that the format has no field for.
        """
        total = sum(self._reader.count(self._filter()).values())
        for page in self._pages():
            used = self._reader.usage([memory.id for memory in page])
            for memory in page:
                if memory.kind in NODES:
                    self.left["nodes of a graph that only lead to others"] += 1
                elif (why := next((why for why in self._marks(memory) if why in without), None)) is not None:
                    self.leave(LEFT[why], memory.kind != STATEMENT)
                    self._gone.add(memory.id)
                elif memory.kind != STATEMENT:
                    self.counts["memories"] += 1
                    yield _public(memory), used.get(memory.id, UNUSED)
            if self._progress is not None:
                self._progress(min(self.counts["memories"], total), total)

    def _marks(self, memory: Memory) -> Iterator[str]:
        """Yield what the reader of another format must know of a memory, by the keys of `LEFT`."""
        if memory.scope in LEFT:
            yield memory.scope
        if memory.kind == STATEMENT:
            return
        if memory.standing.status == "archived":
            yield "archived"
        if is_over(memory.times.valid_until, self.moment):
            yield "over"

    def facts(self, *, mentions: bool = False, current: bool = False) -> Iterator[Fact]:
        """Yield every fact that was not removed, ended validity included; with `mentions` also those about a memory.

        With `current`, without those that have ended. Facts of a memory that was left out are left out, too.

        `known_from` is the time at which its origin stated it.
        """
        for ids in self._ids():
            query = FactQuery(memories=tuple(ids))
            held = self._reader.states(ids)
            stated = {id: moment(one.state.at) for id, one in held.items() if one.state.kind == STATEMENT}
            for fact in self._reader.facts(query, self._filter()):
                if current and is_over(fact.valid_until, self.moment):
                    self.leave(OVER)
                elif {fact.id, fact.source_memory} & self._gone:
                    self.leave("facts of memories that are left out")
                elif mentions or fact.subject != fact.memory:
                    self.counts["facts"] += 1
                    yield replace(
                        fact, known_from=stated.get(fact.id, fact.known_from),
                        subject=_cut(fact.subject), object=_cut(fact.object),
                        source=None if fact.source is None else _cut(fact.source),
                    )  # fmt: skip

    def links(self, *, counted: bool = True) -> Iterator[Link]:
        """Yield every link whose ends are here. A format that leaves them out does not count them."""
        for ids in self._ids():
            for tie in self._ties(set(ids)):
                if {tie.source.name, tie.target.name} & self._gone:
                    self.leave("links of memories that are left out")
                    continue
                self.counts["links"] += counted
                yield tie
        for link in self._between_places():
            self.counts["links"] += counted
            yield _public_link(link)

    def entries(self) -> Iterator[tuple[str | None, dict[str, Any]]]:
        """Yield the entries of all scratchpads with their session, without private parts."""
        for key, value in self._reader.records(COLLECTION).items():
            self.counts["entries"] += 1
            yield session_of(key), {**value, "content": _cut(value["content"])}

    def leave(self, reason: str, count: int = 1) -> None:
        """Count what the format cannot carry."""
        if count:
            self.left[reason] += count

    def _ties(self, here: set[str]) -> Iterator[Link]:
        found = self._reader.links([End("memory", id) for id in sorted(here)])
        mine = [link for link in found if not link.ended and _owner(link) in here]
        ends = {end.name for link in mine for end in (link.source, link.target) if end.what == "memory"}
        seen = self._reader.states(ends, self._filter())
        for link in mine:
            if all(end.what == "place" or end.name in seen for end in (link.source, link.target)):
                yield _public_link(link)

    def _between_places(self) -> list[Link]:
        """Return the links between two places that hold memories: they belong to no page."""
        places = self._reader.count(self._filter(), by="place")
        found = self._reader.links([End("place", name) for name in sorted(places) if name]) if places else []
        both = {link.id: link for link in found if {link.source.what, link.target.what} == {"place"}}
        return [
            link for link in both.values() if {link.source.name, link.target.name} <= places.keys() and not link.ended
        ]

    def _pages(self) -> Iterator[list[Memory]]:
        after: tuple[float, int] | None = None
        while page := self._reader.select(self._filter(), "oldest", PAGE, after):
            yield page
            after = (micros(page[-1].at), page[-1].row)

    def _ids(self) -> Iterator[list[str]]:
        """Yield the ids of the same memories in pages, without reading their texts."""
        after = 0
        while page := self._reader.standing(self._filter(), after, PAGE):
            yield [held.state.id for held in page]
            after = page[-1].state.row

    def _filter(self) -> Any:
        return self._core.filter(include=("archived", "invalid")).having(viewer=EVERYTHING)


@contextmanager
def snapshot(core: Core, progress: Progress | None) -> Iterator[Snapshot]:
    core.check_open()
    core.uses.flush()
    with core.reading() as reader:
        yield Snapshot(reader, core, progress)


@contextmanager
def written(path: str | Path, *, is_folder: bool, replace: bool) -> Iterator[Path]:
    """Yield a private file or folder to write; it gets its name only when the block ends well.

    An existing file, or a folder that is not empty, is kept, unless `replace`.
    """
    target = given_path(path)
    if _is_taken(target) and not replace:
        what = "a new or empty folder" if is_folder else "a new file"
        raise InputError("path", what, target, hint="Name another, or say that it may be replaced.")
    aside = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if is_folder:
            aside.mkdir(mode=0o700)
        else:
            os.close(os.open(aside, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600))
        yield aside
        if target.is_dir():
            shutil.rmtree(target)
        os.replace(aside, target)
    except OSError as problem:
        raise storage_error("export", target, problem) from problem
    finally:
        with suppress(FileNotFoundError):
            shutil.rmtree(aside) if aside.is_dir() else aside.unlink()


def _is_taken(target: Path) -> bool:
    if target.is_dir():
        return any(target.iterdir())
    return target.exists() and target.stat().st_size > 0


def _owner(link: Link) -> str:
    """Return the memory with whose page a link is told, so that each is told once."""
    return link.source.name if link.source.what == "memory" else link.target.name


def _public(memory: Memory) -> Memory:
    """Return the memory without private parts and without the marks of an import."""
    meta = {name: value for name, value in memory.meta.items() if name != DIGEST}
    return replace(
        memory,
        text=_cut(memory.text),
        title=None if memory.title is None else _cut(memory.title),
        origin=replace(memory.origin, context=None if memory.origin.context is None else _cut(memory.origin.context)),
        body=_public_json(memory.body),
        meta=_public_json(meta),
    )


def _public_link(link: Link) -> Link:
    meta = {name: value for name, value in link.meta.items() if name != DIGEST}
    return replace(link, label=None if link.label is None else _cut(link.label), meta=_public_json(meta))


def _public_json(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _public_value(value) for name, value in values.items()}


def _public_value(value: Any) -> Any:
    if isinstance(value, str):
        return _cut(value)
    if isinstance(value, Mapping):
        return _public_json(value)
    return [_public_value(each) for each in value] if isinstance(value, list | tuple) else value


def _cut(text: str) -> str:
    return cut_private(text)[0]
