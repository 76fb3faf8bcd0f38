"""Links and facts of an import into a bank that has content: no duplicates, and no missing memories."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pieria.record.changeset import FOREVER, Changeset
from pieria.record.fact import FactRow
from pieria.record.link import SYMMETRIC, End, LinkRow, row_of
from pieria.record.time import micros
from pieria.store.protocol import Reader
from pieria.transfer.check import Rules
from pieria.transfer.groups import HERE, NAMELESS, PURGED, REMOVED, Group, Tally, memories_named
from pieria.transfer.lines import Line

Row = LinkRow | FactRow


class Ties:
    def __init__(self, reader: Reader, rules: Rules, tally: Tally, *, mode: str, start: int, force: bool) -> None:
        self._reader = reader
        self._rules = rules
        self._tally = tally
        self._mode = mode
        self._start = start
        self._force = force
        self._facts: dict[str, tuple[int, FactRow]] | None = None
        self._twins: set[tuple[Any, ...]] = set()
        self.doubled: set[str] = set()
        """Facts of the file that this bank has under another id. Their statements are not imported: if such a fact
        changes later in the file, the bank writes a statement of its own."""
        self._followed: set[str] = set()
        """Ids that this import has begun to add, with more lines to come."""

    def take(self, group: Group, batch: Changeset, new: set[str]) -> None:
        """Add the rows to the batch; `new` are memories that the batch adds."""
        there = self._memories_there(group, new) | self.doubled
        links = self._links_here(group)
        for line in group.links:
            row = self._rules.link(line.row)
            self._decide(line, row, links.get(row.id), there, self._is_tied, batch.links)
        purged = self._purged_facts(group)
        for line in group.facts:
            if line.row.id in purged:
                if line.last:
                    self._tally.leave("facts", PURGED)
                continue
            fact = self._rules.fact(line.row)
            self._decide(line, fact, self._facts_here().get(fact.id), there, self._is_stated, batch.facts)

    def _purged_facts(self, group: Group) -> set[str]:
        """Return the ids purged here. Ids that this import has already restored continue."""
        if self._force or not group.facts:
            return set()
        return self._reader.purged([line.row.id for line in group.facts])

    def note_doubled(self, group: Group) -> None:
        """Add the facts that begin in this group to `doubled`. Call it before the group's memories are taken."""
        alone = [line.row for line in group.facts if line.row.memory == line.row.id]
        begun = [row for row in alone if row.id not in self._followed and row.id not in self._facts_here()]
        self.doubled.update(row.id for row in begun if self._is_stated(self._rules.fact(row)))

    def holds_fact(self, id: str) -> bool:
        """Return whether the bank held a fact of this id before the import began."""
        return id in self._facts_here()

    def _decide(
        self,
        line: Line,
        row: Any,
        ours: tuple[int, Row] | None,
        there: set[str],
        is_doubled: Callable[[Any], bool],
        taken: list[Any],
    ) -> None:
        what = f"{line.what}s"
        if ours is not None:
            self._meet(line, row, ours, taken)
        elif not there.issuperset(memories_named(line)):
            if line.last:
                self._tally.leave(what, NAMELESS)
        elif row.id not in self._followed and (row.ended or is_doubled(row)):
            self._tally.unchanged[what] += line.last
        else:
            taken.append(row)
            self._tally.added[what] += line.last
            if line.last:
                self._followed.discard(row.id)
            else:
                self._followed.add(row.id)

    def _meet(self, line: Line, row: Row, ours: tuple[int, Row], taken: list[Any]) -> None:
        """Plan a row that was here before under the same id. What ended here stays ended."""
        what = f"{line.what}s"
        known_from, mine = ours
        if not line.last:
            return
        if row == mine:
            self._tally.unchanged[what] += 1
        elif mine.ended:
            self._tally.leave(what, REMOVED)
        elif self._mode == "skip" or (self._mode == "merge" and line.known_from <= known_from):
            self._tally.leave(what, HERE)
        else:
            taken.append(row)
            self._tally.changed[what] += 1

    def _memories_there(self, group: Group, new: set[str]) -> set[str]:
        named = {name for line in (*group.links, *group.facts) for name in memories_named(line)}
        return new.union(self._reader.states(sorted(named - new))) if named else set()

    def _links_here(self, group: Group) -> dict[str, tuple[int, Row]]:
        """Return the versions of these links from before this import."""
        if not group.links:
            return {}
        held = self._reader.links(ids=[line.row.id for line in group.links], every_version=True)
        return {
            link.id: (micros(link.known_from), row_of(link))
            for link in held
            if link.known_until is None and micros(link.known_from) <= self._start
        }

    def _is_tied(self, row: LinkRow) -> bool:
        """Return whether the bank already has this link under another id."""
        source, target = End(row.source_is, row.source), End(row.target_is, row.target)
        wanted = {(source, target), (target, source)} if row.relation in SYMMETRIC else {(source, target)}
        return any(
            link.id != row.id and (link.source, link.target) in wanted and micros(link.known_from) <= self._start
            for link in self._reader.links([source], row.relation)
        )

    def _facts_here(self) -> dict[str, tuple[int, FactRow]]:
        """Return the bank's own facts by id, read once. It includes facts that are hidden with their memory."""
        if self._facts is None:
            self._facts = {}
            for row in self._reader.dump("fact"):
                if row["known_until"] == FOREVER and row["known_from"] <= self._start:
                    fact = FactRow(*(row[name] for name in FactRow._fields))
                    self._facts[fact.id] = (row["known_from"], fact)
                    if not fact.ended:
                        self._twins.add(_said(fact))
        return self._facts

    def _is_stated(self, row: FactRow) -> bool:
        """Return whether the bank has the same triple, time and memory under another id."""
        return _said(row) in self._twins


def _said(row: FactRow) -> tuple[Any, ...]:
    return row.subject_key, row.predicate_key, row.object_key, row.valid_from, row.valid_until, row.source_memory
