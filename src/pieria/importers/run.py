"""One import: read items, and take them into the bank in batches, each one transaction."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from pieria.bank.capture.sources import DIGEST, Past
from pieria.bank.scratchpad import take_entries
from pieria.bank.transfer.tie_intake import TieIntake
from pieria.bank.write.update import CONTENT
from pieria.errors import PieriaError, TransferError
from pieria.importers.items import Item, Left, MemoryItem, Problem, memory_id, tie_id
from pieria.importers.report import Report
from pieria.record.draft import NewEntry, NewFact, NewLink, NewMemory
from pieria.record.link import End
from pieria.record.trust import HEARSAY

if TYPE_CHECKING:
    from pieria.bank import Bank
    from pieria.importers import Importer
    from pieria.importers.source import Source

BATCH = 500
"""Items of a kind in one transaction."""
MOST_CHARACTERS = 4 << 20
"""Characters in one transaction, which bounds memory even if texts are long."""
EARLY_PROBLEMS = 100
WHAT = "import"

Progress = Callable[[int, int], None]


class Prepared:
    """A source whose first item was read. It can be taken into one bank, once."""

    def __init__(self, importer: Importer, source: Source) -> None:
        self._importer = importer
        self._source = source
        items = iter(importer.read(source))
        early: list[Item] = []
        first = next(items, None)
        while isinstance(first, Problem | Left) and len(early) < EARLY_PROBLEMS:
            early.append(first)
            first = next(items, None)
        if first is None:
            problems = [one for one in early if isinstance(one, Problem)]
            reason = "nothing in it can be read" if problems else "it holds nothing to import"
            raise TransferError(source.name, reason, problems, hint=f"Expected {importer.expects}.")
        self._items = chain(early, [first], items)

    def into(
        self, bank: Bank, *, dry_run: bool = False, force: bool = False, progress: Progress | None = None
    ) -> Report:
        """Take all of it in. See `pieria.importers.import_from`."""
        return _Run(bank, self._importer.name, self._source, dry_run, force, progress).all(self._items)


class _Run:
    def __init__(
        self, bank: Bank, system: str, source: Source, dry_run: bool, force: bool, progress: Progress | None
    ) -> None:
        self._bank = bank
        self._system = system
        self._source = source
        self._dry_run = dry_run
        self._progress = progress
        self._report = Report(system, source.name, bank.name, dry_run)
        self._intake = bank.sources.intake(
            force=force, dry_run=dry_run, via=HEARSAY, follows=CONTENT, what=WHAT, keeps_corrections=True
        )
        self._ties = TieIntake(bank, force=force, dry_run=dry_run, via=HEARSAY, what=WHAT)
        self._memories: list[MemoryItem] = []
        self._facts: list[NewFact] = []
        self._links: list[NewLink] = []
        self._entries: list[NewEntry] = []
        self._characters = 0
        self._coming: set[str] = set()
        """Ids that a dry run would have added."""
        self._count = 0

    def all(self, items: Iterator[Item]) -> Report:
        begun = time.monotonic()
        for item in items:
            self._take(item)
        self._put_all()
        self._report.seconds = time.monotonic() - begun
        if self._progress is not None:
            whole = max(self._source.total, self._count, 1)
            self._progress(whole, whole)
        return self._report

    def _take(self, item: Item) -> None:
        if isinstance(item, Problem):
            self._report.add(item)
        elif isinstance(item, Left):
            self._report.left[item.reason] += item.count
        elif isinstance(item, MemoryItem):
            self._memories.append(item)
            self._characters += len(item.new.text) if isinstance(item.new.text, str) else 0
            if len(self._memories) >= BATCH or self._characters >= MOST_CHARACTERS:
                self._put_memories()
        else:
            waiting: list[Any] = self._waiting(item)
            waiting.append(item)
            if len(waiting) >= BATCH:
                self._put_all()

    def _waiting(self, item: NewFact | NewLink | NewEntry) -> list[Any]:
        if isinstance(item, NewEntry):
            return self._entries
        return self._facts if isinstance(item, NewFact) else self._links

    def _put_all(self) -> None:
        """Write what waits, memories first: facts and links name them."""
        self._put_memories()
        facts, self._facts = self._facts, []
        if facts:
            outcomes = self._ties.facts([self._fact(item) for item in facts], self._coming)
            self._account("facts", [item.id for item in facts], outcomes)
        links, self._links = self._links, []
        if links:
            outcomes = self._ties.links([self._link(item) for item in links], self._coming)
            self._account("links", [item.id for item in links], outcomes)
        entries, self._entries = self._entries, []
        if entries:
            taken = take_entries(self._bank.core, [self._entry(item) for item in entries], dry_run=self._dry_run)
            self._account("entries", [item.id for item in entries], taken)

    def _put_memories(self) -> None:
        items, self._memories, self._characters = self._memories, [], 0
        if not items:
            return
        news = [self._memory(item) for item in items]
        pasts = {str(new.id): Past(item.status, item.tier, item.usage) for new, item in zip(news, items, strict=True)}
        taken = self._intake.take(news, pasts=pasts)
        if self._dry_run:
            fine = (new for new, outcome in zip(news, taken.outcomes, strict=True) if outcome == "new")
            self._coming.update(str(new.id) for new in fine)
        self._account("memories", [item.origin for item in items], taken.outcomes)

    def _account(self, kind: str, origins: list[str], outcomes: list[Any]) -> None:
        counter = self._report.counted(kind)
        for origin, outcome in zip(origins, outcomes, strict=True):
            if isinstance(outcome, PieriaError):
                counter["refused"] += 1
                self._report.add(Problem(f"{_SINGULAR[kind]} {origin}", outcome.message))
            else:
                counter[outcome] += 1
        self._count += len(origins)
        if self._progress is not None:
            self._progress(self._source.done or self._count, max(self._source.total, self._count))

    def _memory(self, item: MemoryItem) -> NewMemory:
        id = memory_id(self._system, item.origin)
        marks = {"imported_from": self._system, **({} if id == item.origin else {"origin": item.origin})}
        meta = {**item.new.meta, **marks}
        new = replace(item.new, id=id, source=item.new.source or self._system, meta=meta)
        return replace(new, meta={**meta, DIGEST: _digest_of(new)})

    def _fact(self, item: NewFact) -> NewFact:
        memory = None if item.memory is None else memory_id(self._system, item.memory)
        id = tie_id(self._system, "fact", item.id)
        return item._replace(id=id, memory=memory, source=item.source or self._system)

    def _entry(self, item: NewEntry) -> NewEntry:
        return item._replace(id=memory_id(self._system, item.id))

    def _link(self, item: NewLink) -> NewLink:
        source, target = self._end(item.source), self._end(item.target)
        values = [source, item.relation, target, item.weight, item.label, dict(item.meta)]
        digest = hashlib.sha256(json.dumps(values, sort_keys=True, default=str).encode()).hexdigest()[:32]
        id = tie_id(self._system, "link", item.id)
        return item._replace(id=id, source=source, target=target, meta={**item.meta, DIGEST: digest})

    def _end(self, end: End) -> End:
        return end if end.what == "place" else End("memory", memory_id(self._system, end.name))


_SINGULAR = {"memories": "memory", "facts": "fact", "links": "link", "entries": "entry"}


def _digest_of(new: NewMemory) -> str:
    """Return a digest of all fields that follow the source."""
    values = [_plain(getattr(new, name)) for name in CONTENT]
    written = json.dumps(values, ensure_ascii=False, sort_keys=True, default=str)
    return hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple | set | frozenset) else value
