"""One import, from the checked file to changesets: a replay into an empty bank, or a join with what a bank holds.

A replay repeats every change with its number and time. In a join new rows are known from now, and existing ones follow
the mode.

Memories are planned here, with batches and the bank's own records; links and facts in `links`. Known time separates
earlier rows from those of this import: everything the import writes has a later one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from pieria.errors import ConflictError, InputError
from pieria.language.index_terms import compared, labels, stated
from pieria.language.pasted import repeats_of
from pieria.record.changeset import Changeset, Content, Record, State, Stored, Write
from pieria.record.fact import FactQuery
from pieria.record.filter import Filter, Viewer
from pieria.record.memory import STATEMENT, Memory
from pieria.record.time import micros
from pieria.store.protocol import Reader
from pieria.store.rows import mapping_of, names_of, terms_of, written_list
from pieria.transfer.check import Checked, Rules
from pieria.transfer.file import RawLine, Source
from pieria.transfer.groups import BROKEN, DECIDES, HERE, PURGED, REMOVED, Group, Tally, content_of, groups, state_of
from pieria.transfer.lines import Line, line_of, object_of, written_json
from pieria.transfer.links import Ties

MODES = ("skip", "merge", "replace")
BATCH = 1_000
"""Rows per changeset, so that no changeset grows with the file."""
BATCH_BYTES = 8 << 20
ON_ERROR = ("stop", "skip")
AHEAD = 24 * 60 * 60 * 1_000_000
"""Microseconds that the other machine's clock may be ahead of ours."""


class _Coming:
    """A memory that both sides have, while its history in the file is read."""

    def __init__(self) -> None:
        self.contents: dict[int, int] = {}
        """The file offset of each version's line."""
        self.version = 0
        self.since = 0

    def saw(self, line: Line, content: Line | None) -> None:
        state = state_of(line)
        if content is not None:
            self.contents[state.version] = content.offset
        if state.version != self.version:
            self.version, self.since = state.version, line.known_from


class Join:
    """One import into a bank. The caller must apply each of `changesets` before it asks for the next."""

    def __init__(
        self, reader: Reader, source: Source, checked: Checked, rules: Rules, tally: Tally, *, mode: str, force: bool
    ) -> None:
        self._reader = reader
        self._source = source
        self._checked = checked
        self._rules = rules
        self._tally = tally
        self._mode = mode
        self._force = force
        self._start = reader.head().known
        self._ties = Ties(reader, rules, tally, mode=mode, start=self._start, force=force)
        self._coming: dict[str, _Coming] = {}
        self._batch = Changeset("import")
        self._batch_ids: set[str] = set()
        self._batch_bytes = 0
        self._new: set[str] = set()
        """Memories that the batch adds: the bank does not hold them yet."""
        self._purged: list[str] = []
        self._records: list[Record] = []

    def changesets(self, groups: Iterable[Group]) -> Iterator[Changeset]:
        for group in groups:
            ids = group.ids()
            if not ids.isdisjoint(self._batch_ids) or self._is_large():
                yield from self._flush()
            self._batch_ids |= ids
            self._take(group)
        yield from self._flush()
        yield from self._rest()

    def _is_large(self) -> bool:
        return len(self._batch_ids) >= BATCH or self._batch_bytes >= BATCH_BYTES

    def _flush(self) -> Iterator[Changeset]:
        """Yield the current batch and begin another. No id occurs twice in a batch."""
        batch, self._batch = self._batch, Changeset("import")
        self._batch_ids = set()
        self._batch_bytes = 0
        self._new = set()
        if not batch.empty:
            yield batch

    def _rest(self) -> Iterator[Changeset]:
        """Yield records and purged ids apart from the memories, so that `undo` works on those: records have no
        versions."""
        records = list(self._narrowed())
        rest = Changeset("import", records=self._new_records(records), purged=self._newly_purged())
        if not rest.empty:
            yield rest
        for record in records:
            if record.collection in self._rules.joined:
                yield from self._joined(record)

    def _joined(self, record: Record) -> Iterator[Changeset]:
        try:
            records = self._rules.joined[record.collection](self._reader, record.value)
        except (ConflictError, InputError):
            self._tally.leave("records", HERE)
            return
        if records:
            self._tally.added["records"] += 1
            yield Changeset("import", records=records)
        else:
            self._tally.unchanged["records"] += 1

    def _narrowed(self) -> Iterator[Record]:
        for record in map(self._rules.record, self._records):
            narrow = self._rules.narrowed.get(record.collection)
            kept = record if narrow is None else narrow(record, self._is_brought)
            if kept is None:
                self._tally.leave("records", DECIDES)
            else:
                yield kept

    def _is_brought(self, id: str) -> bool:
        """Return whether this import brought the memory or fact of this id into the bank."""
        history = self._reader.history(id)
        if history:
            return micros(history[0].known_from) > self._start
        everything = Filter(now=self._start, viewer=Viewer(everything=True), quarantined=True).anything()
        query = FactQuery(ids=(id,), include_ended=True, every_version=True)
        return not self._ties.holds_fact(id) and bool(self._reader.facts(query, everything))

    def _take(self, group: Group) -> None:
        self._ties.note_doubled(group)
        ids = [line.row.id for line, _ in group.states]
        held = self._reader.states(ids) if ids else {}
        purged = self._reader.purged(ids) if ids and not self._force else set()
        own = [(line, content) for line, content in group.states if self._is_own(line, held, purged)]
        rows = rows_of(self._reader, [state_of(line) for line, content in own if content is None])
        for line, content in own:
            self._new.add(line.row.id)
            self._bring_in(line, content, held.get(line.row.id), rows)
        for line, content in group.states:
            if line.row.id in held and line.row.id not in self._new:
                self._meet(line, content, held[line.row.id])
        self._batch.usage += [use for use in group.usage if self._is_new(use.id, held)]
        self._ties.take(group, self._batch, self._new)
        self._purged += group.purged
        self._records += group.records

    def _is_own(self, line: Line, held: dict[str, Stored], purged: set[str]) -> bool:
        """Return whether this import adds the memory, and the bank did not have it before."""
        if line.row.id in self._ties.doubled:
            return False
        before = held.get(line.row.id)
        if before is not None:
            return before.known_from > self._start
        if line.row.id not in purged:
            return True
        if line.last:
            self._tally.leave("memories", PURGED)
        return False

    def _is_new(self, id: str, held: dict[str, Stored]) -> bool:
        if id in self._new:
            self._tally.added["usage"] += 1
            return True
        self._tally.leave("usage", HERE if id in held or id in self._ties.doubled else PURGED)
        return False

    def _bring_in(self, line: Line, content: Line | None, before: Stored | None, rows: dict[str, int]) -> None:
        state = self._rules.state(state_of(line))
        if content is None:
            self._batch.writes.append(Write(state._replace(row=rows[state.id])))
        else:
            self._write(state, self._rules.content(content_of(content)), fresh=before is None)
        if state.kind != STATEMENT:
            self._tally.added["memories"] += line.last

    def _write(self, state: State, content: Content, *, fresh: bool) -> None:
        self._batch.writes.append(written(state, content, fresh=fresh))
        self._batch_bytes += len(content.text)
        self._tally.versions += 1

    def _meet(self, line: Line, content: Line | None, ours: Stored) -> None:
        """Plan a state of a memory that was here before. Only its last state counts, with the version behind it."""
        id = ours.state.id
        if self._mode == "skip" or ours.state.ended:
            if line.last:
                self._tally.leave("memories", REMOVED if ours.state.ended else HERE)
            return
        coming = self._coming.setdefault(id, _Coming())
        coming.saw(line, content)
        if not line.last:
            return
        del self._coming[id]
        outcome = self._outcome(line, content, coming, ours)
        if outcome.state is None:
            self._tally.unchanged["memories"] += 1
            return
        self._tally.changed["memories"] += 1
        if outcome.content is None:
            self._batch.writes.append(Write(outcome.state))
        else:
            self._write(outcome.state, outcome.content, fresh=False)

    def _outcome(self, line: Line, content: Line | None, coming: _Coming, ours: Stored) -> Outcome:
        history = self._reader.history(ours.state.id)
        here = Side(ours.state, ours.known_from, _content_of_memory(history[-1]), _in_force_since(history))
        row = content_of(content or self._line_at(coming.contents[coming.version]))
        state, theirs = self._rules.state(state_of(line)), self._rules.content(row)
        if _wording(theirs) == _wording(here.content):
            # The file has no new wording, so keep the trust of the memory here.
            state = state._replace(via=ours.state.via, trust=ours.state.trust)
        there = Side(state, line.known_from, theirs, coming.since)
        next_version = max(memory.version for memory in history) + 1
        return merged(here, there, next_version) if self._mode == "merge" else replaced(here, there, next_version)

    def _line_at(self, offset: int) -> Line:
        raw = RawLine(0, offset, self._source.line_at(offset))
        return line_of(raw, object_of(raw))

    def _newly_purged(self) -> list[str]:
        """Return ids to record as purged, without those that this bank holds."""
        asked = [id for id in dict.fromkeys(self._purged) if id not in self._checked.alive]
        held, known = self._reader.states(asked), self._reader.purged(asked)
        for id in asked:
            if id in held or self._ties.holds_fact(id):
                self._tally.leave("purged", HERE)
            elif id in known:
                self._tally.unchanged["purged"] += 1
            else:
                self._tally.added["purged"] += 1
        return [id for id in asked if id not in held and id not in known and not self._ties.holds_fact(id)]

    def _new_records(self, records: Iterable[Record]) -> list[Record]:
        ours = {name: self._reader.records(name) for name in {record.collection for record in self._records}}
        taken = []
        for record in records:
            if record.collection in self._rules.joined:
                continue
            before = ours[record.collection].get(record.key)
            if before is None:
                self._tally.added["records"] += 1
            elif before == record.value:
                self._tally.unchanged["records"] += 1
                continue
            elif self._mode != "replace":
                self._tally.leave("records", HERE)
                continue
            else:
                self._tally.changed["records"] += 1
            taken.append(record)
        return taken


def _wording(content: Content) -> tuple[Any, ...]:
    """Return all that a text says to an agent, and which part repeats a tool's output."""
    repeats = repeats_of(mapping_of(content.meta))
    return content.title, content.text, content.body, content.context, repeats


def _content_of_memory(memory: Memory) -> Content:
    return Content(
        id=memory.id,
        version=memory.version,
        title=memory.title,
        text=memory.text,
        body=written_json(dict(memory.body)) if memory.body else None,
        tags=written_list(memory.tags),
        entities=written_list(memory.entities),
        files=written_list(memory.files),
        flags=written_list(memory.flags),
        context=memory.context,
        meta=written_json(dict(memory.meta)) if memory.meta else None,
    )


def _in_force_since(history: list[Memory]) -> int:
    """Return when the current version came into force for the last time."""
    since = history[-1]
    for memory in reversed(history):
        if memory.version != since.version:
            break
        since = memory
    return micros(since.known_from)


def replayed(reader: Reader, groups: Iterable[Group], rules: Rules, tally: Tally) -> Iterator[Changeset]:
    """Yield one changeset per change. The caller must apply each before it asks for the next, which reads its rows."""
    for group in groups:
        yield Changeset(
            group.change.what,
            writes=_writes(reader, group, rules, tally),
            links=[rules.link(line.row) for line in group.links],
            facts=[rules.fact(line.row) for line in group.facts],
            usage=group.usage,
            records=[rules.record(record) for record in group.records],
            purged=group.purged,
            replay=group.change,
        )
        for what, lines in (("links", group.links), ("facts", group.facts)):
            tally.added[what] += sum(line.last for line in lines)
        for what, number in (("usage", group.usage), ("records", group.records), ("purged", group.purged)):
            tally.added[what] += len(number)


def _writes(reader: Reader, group: Group, rules: Rules, tally: Tally) -> list[Write]:
    rows = rows_of(reader, [state_of(line) for line, content in group.states if content is None])
    writes = []
    for line, content in group.states:
        state = rules.state(state_of(line))
        if content is None:
            writes.append(Write(state._replace(row=rows[state.id])))
        else:
            writes.append(written(state, rules.content(content_of(content))))
            tally.versions += 1
        tally.added["memories"] += line.last
    return writes


def rows_of(reader: Reader, states: list[State]) -> dict[str, int]:
    """Return the row of each state's content in this bank. Try the current content first: it usually is the one."""
    held = reader.states([state.id for state in states]) if states else {}
    return {
        state.id: held[state.id].state.row
        if state.id in held and held[state.id].state.version == state.version
        else reader.version(state.id, state.version)[0].row
        for state in states
    }


def written(state: State, content: Content, *, fresh: bool = False) -> Write:
    """Return the write with this bank's search terms and labels."""
    tags, entities, files = names_of(content.tags), names_of(content.entities), names_of(content.files)
    found = terms_of(content)
    standing = stated(content.text, state.kind, state.via)
    return Write(state, content, found, labels(tags, entities, files, standing), fresh)


class Side(NamedTuple):
    """One side's memory: its last state and content, and since when each has been in force."""

    state: State
    known_from: int
    content: Content
    since: int


class Outcome(NamedTuple):
    """The state to write, or None for no change; `content` if it is a new version."""

    state: State | None
    content: Content | None = None


def merged(ours: Side, theirs: Side, next_version: int) -> Outcome:
    """Return the later content with the labels and lists of both, and the later state. On a tie ours wins."""
    newer, older = (theirs, ours) if theirs.since > ours.since else (ours, theirs)
    content = newer.content._replace(
        body=_with_lists(newer.content.body, older.content.body),
        tags=_united(ours.content.tags, theirs.content.tags),
        entities=_united(ours.content.entities, theirs.content.entities),
        files=_united(ours.content.files, theirs.content.files, str),
    )
    state = theirs.state if theirs.known_from > ours.known_from else ours.state
    return _outcome(ours, state._replace(type=newer.state.type), content, next_version)


def replaced(ours: Side, theirs: Side, next_version: int) -> Outcome:
    """Return the file's state and content as the next version of ours."""
    return _outcome(ours, theirs.state, theirs.content, next_version)


def _outcome(ours: Side, state: State, content: Content, next_version: int) -> Outcome:
    if _same(content, ours.content):
        kept = state._replace(row=ours.state.row, version=ours.state.version)
        return Outcome(None if kept == ours.state else kept)
    return Outcome(
        state._replace(row=0, version=next_version), content._replace(id=ours.state.id, version=next_version)
    )


def _same(one: Content, other: Content) -> bool:
    """Return whether the contents are equal apart from flags: flags come from the write path and make no new
    version."""
    return one._replace(version=0, flags=None) == other._replace(version=0, flags=None)


def _with_lists(newer: str | None, older: str | None) -> str | None:
    """Return the newer body, with further items from lists of texts in the older one, such as an observation's
    facts."""
    body: dict[str, Any] = json.loads(newer or "{}")
    before: dict[str, Any] = json.loads(older or "{}")
    more = {name: held for name, held in before.items() if _are_texts(held) and _are_texts(body.get(name, []))}
    united = {name: list(dict.fromkeys((*body.get(name, ()), *held))) for name, held in more.items()}
    return written_json(body | united) if any(united[name] != body.get(name, []) for name in united) else newer


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _united(ours: str | None, theirs: str | None, key: Callable[[str], str] = compared) -> str | None:
    """Return ours first. Of labels that compare equal, keep the first spelling."""
    united: dict[str, str] = {}
    for name in (*names_of(ours), *names_of(theirs)):
        united.setdefault(key(name), name)
    return written_list(tuple(united.values()))


def is_replayed(reader: Reader, checked: Checked, now: int) -> bool:
    """Return whether to replay the export: the bank must be empty. The changes must not lie in the future or before the
    earliest known time, because later writes need later times.
    """
    return reader.head().seq == 0 and checked.begins > 0 and checked.ends <= now + AHEAD


def planned(
    reader: Reader,
    source: Source,
    checked: Checked,
    rules: Rules,
    tally: Tally,
    *,
    mode: str,
    force: bool,
    now: int,
    progress: Callable[[int], None],
) -> Iterator[Changeset]:
    """Yield changesets. The caller must apply each before it asks for the next."""
    for what, ids in checked.left.items():
        if ids:
            tally.leave({"memory": "memories"}.get(what, f"{what}s"), BROKEN, len(ids))
    if is_replayed(reader, checked, now):
        yield from replayed(reader, groups(source, checked, tally, progress), rules, tally)
        return
    tally.not_carried["changes"] = checked.counts["change"]
    join = Join(reader, source, checked, rules, tally, mode=mode, force=force)
    yield from join.changesets(groups(source, checked, tally, progress, BATCH))
