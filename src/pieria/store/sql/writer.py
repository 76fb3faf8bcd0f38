"""One write transaction over a bank: applies changesets. It writes every row but vectors (`embedded`) and copies
(`copy`)."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from pieria.errors import BusyError, ConflictError, NewerVersionError
from pieria.language.index_terms import labels, stated
from pieria.record.changeset import FOREVER, Applied, Change, Changeset, Content, Cut, Record
from pieria.record.quarantine import HELD, QUARANTINES, quarantine_number
from pieria.record.time import micros, moment
from pieria.store.parts import Told
from pieria.store.protocol import Embedded, Pending, Progress, Space
from pieria.store.sql import rows as build
from pieria.store.sql.copy import CopyWrites
from pieria.store.sql.embedded import VectorRows
from pieria.store.sql.queue import QueueChanges
from pieria.store.sql.reader import SQLReader, counters
from pieria.store.sql.session import Session
from pieria.store.sql.sieves import Sieves
from pieria.store.sql.text import Frequencies
from pieria.store.sql.vectors import VectorReads
from pieria.store.sql.visibility import hides
from pieria.store.sql.wordings import Wordings

REINDEX_BATCH = 1_000


class SQLWriter(SQLReader, QueueChanges, CopyWrites, ABC):
    def __init__(
        self,
        session: Session,
        frequencies: Frequencies,
        vectors: VectorReads,
        now: Callable[[], int],
        analyser: int,
    ) -> None:
        # Not shared with other transactions: this one may be rolled back.
        super().__init__(session, frequencies, Sieves(), Wordings(), vectors)
        self._now = now
        self._analyser = analyser
        self._counters: dict[str, int] = counters(session)

    def apply(self, changeset: Changeset) -> Applied:
        """Write one changeset as one change of the journal.

        Counters are changed in a copy and written at the end, so that each is written once. The order matters where a
        comment says so.
        """
        counters = dict(self._counters)
        self._check_analyser(counters)
        change = self._numbered(changeset, counters)
        known = micros(change.at)
        embedded = self._vector_rows(counters)
        # Windows depend on the turns as they were, so look before their rows close.
        turns = embedded.turns_closed(changeset)
        rows = self._write_memories(changeset, counters, known)
        embedded.follow(changeset, rows, turns)
        self._write_links(changeset, counters, known)
        self._write_facts(changeset, counters, known)
        self._many("erase_id.usage", [(id,) for id in changeset.unuse])
        self._many("add_usage", changeset.usage)
        self._write_records(changeset.records, counters)
        self.enqueue(changeset.jobs)
        # Erase after all writes: the changeset may close links and facts of what it erases.
        if changeset.erase:
            self._cut(changeset.cuts, counters)
            embedded.erase(changeset.erase)
            self._erase(changeset.erase, counters)
        self._many("erase_fact", [(id,) for id in changeset.erase_facts])
        if hides(self._session) and (changeset.erase or changeset.erase_facts):
            self._many("erase_id.quarantine", [(id,) for id in changeset.erase])
            self._many("erase_fact.quarantine", [(id,) for id in changeset.erase_facts])
            self._count_quarantined()
        if changeset.erase or changeset.erase_facts:
            counters["unscrubbed"] = known
        self._many("remember_purged", [(id, known) for id in (*changeset.erase, *changeset.purged)])
        self._many("insert_journal", [(change.seq, known, change.who, change.what, _written(list(change.ids)))])
        self._keep(counters)
        return Applied(change, rows)

    def put_vectors(self, space: int, vectors: Sequence[Embedded], seen: int, empty: Sequence[Pending] = ()) -> int:
        counters = dict(self._counters)
        rows = self._vector_rows(counters)
        stored = rows.put(space, vectors, seen)
        rows.settle(empty, seen)
        self._keep(counters)
        return stored

    def set_space(self, name: str, dimension: int) -> Space:
        counters = dict(self._counters)
        self._vector_rows(counters).enter(name, dimension)
        self._keep(counters)
        space = self.space()
        assert space is not None
        return space

    def drop_old_vectors(self, limit: int) -> int:
        return self._vector_rows(dict(self._counters)).drop_old(limit)

    def mend_vectors(self) -> None:
        counters = dict(self._counters)
        self._vector_rows(counters).mend()
        self._keep(counters)

    def _keep(self, counters: dict[str, int]) -> None:
        changed = [{"name": name, "value": value} for name, value in counters.items() if self._counters[name] != value]
        self._many("set_counter", changed)
        self._counters = counters

    def _check_analyser(self, counters: dict[str, int]) -> None:
        """Raise unless the index's analyser is ours: mixed terms could not be found. An empty index takes ours."""
        held = counters["analyser"]
        if held == self._analyser:
            return
        if not counters["documents"]:
            counters["analyser"] = self._analyser
        elif held > self._analyser:
            raise _of_a_newer_analyser("write", held, self._analyser)
        else:
            reason = f"the text index has analyser {held}, but this Pieria uses {self._analyser}"
            raise BusyError("write", reason, hint="Open the bank again, which rebuilds its index; then write.")

    def _numbered(self, changeset: Changeset, counters: dict[str, int]) -> Change:
        replay = changeset.replay
        if replay is None:
            counters["seq"] += 1
            counters["known"] = max(self._now(), counters["known"] + 1)
            ids = changeset.ids or changeset.written_ids()
            return Change(counters["seq"], moment(counters["known"]), changeset.who, changeset.what, ids)
        if replay.seq <= counters["seq"] or micros(replay.at) <= counters["known"]:
            raise ConflictError(f"change {replay.seq} is not later than what the bank already holds")
        counters["seq"], counters["known"] = replay.seq, micros(replay.at)
        return replay

    def _write_memories(self, changeset: Changeset, counters: dict[str, int], known: int) -> list[int]:
        if not changeset.writes:
            return []
        row = counters["row"]
        contents, states, terms, closed = [], [], [], []
        marked: list[tuple[Any, ...]] = []
        for state, content, words, marks, fresh, _ in changeset.writes:
            if not fresh:
                closed.append((known, state.id))
            if content is None:
                states.append((*state, known, FOREVER))
                continue
            row += 1
            contents.append((row, *content))
            states.append((row, *state[1:], known, FOREVER))
            terms.append((row, len(words), " ".join(words)))
            marked.extend((what, value, row, spelt) for what, value, spelt in marks)
        self._many("close_state", closed)
        self._many("insert_content", contents)
        self._many("insert_state", states)
        self._many("insert_label", marked)
        self._many("insert_terms", terms)
        self._index(terms)
        self._forget_purged(write.state.id for write in changeset.writes if write.fresh)
        counters["row"] = row
        counters["documents"] += len(contents)
        counters["terms"] += sum(length for _, length, _ in terms)
        return [state[0] for state in states]

    def _write_links(self, changeset: Changeset, counters: dict[str, int], known: int) -> None:
        self._many("close_link", [(known, row.id) for row in changeset.links])
        entry = counters["entry"]
        self._many("insert_link", [(entry + n, *row, known, FOREVER) for n, row in enumerate(changeset.links, start=1)])
        counters["entry"] = entry + len(changeset.links)

    def _write_facts(self, changeset: Changeset, counters: dict[str, int], known: int) -> None:
        if not changeset.facts:
            return
        self._many("close_fact", [(known, row.id) for row in changeset.facts])
        entry = counters["entry"]
        self._many("insert_fact", [(entry + n, *row, known, FOREVER) for n, row in enumerate(changeset.facts, start=1)])
        counters["entry"] = entry + len(changeset.facts)
        self._forget_purged(row.id for row in changeset.facts)

    def _forget_purged(self, ids: Iterable[str]) -> None:
        """Forget that these ids were purged: a forced write brings them back."""
        if self._session.execute(self._sql["any_purged"]).fetchone()[0]:
            self._many("forget_purged", [(id,) for id in ids])

    def note(self, records: Iterable[Record]) -> None:
        counters = dict(self._counters)
        self._write_records(records, counters)
        self._keep(counters)

    def _write_records(self, records: Iterable[Record], counters: dict[str, int]) -> None:
        quarantines = []
        for record in records:
            if record.value is None:
                self._many("drop_record", [(record.collection, record.key)])
            else:
                self._many("put_record", [(record.collection, record.key, _written(record.value))])
            if record.collection in (QUARANTINES, HELD):
                quarantines.append(record)
        if quarantines:
            self._hold(quarantines, counters)

    def _hold(self, quarantines: Iterable[Record], counters: dict[str, int]) -> None:
        """Update the quarantine table from its records."""
        vectors = self._vector_rows(counters)
        for key, value in [(record.key, record.value) for record in quarantines if record.collection == HELD]:
            seq = quarantine_number(key)
            if value is None:
                vectors.release(seq)
                self._many("drop_quarantined", [(seq,)])
            else:
                held = [("memory", id, seq) for id in value["memories"]] + [("fact", id, seq) for id in value["facts"]]
                self._many("put_quarantined", held)
                vectors.hold(seq)
        self._count_quarantined()

    def _count_quarantined(self) -> None:
        self._session.execute(self._sql["count_quarantined"])
        # The next query reads it again.
        self._session.hides = None

    def add_told(self, told: Iterable[Told], most: int) -> None:
        self._many("add_told", list(told))
        self._session.execute(self._sql["bound_told"], {"most": most})

    def _cut(self, cuts: Iterable[Cut], counters: dict[str, int]) -> None:
        for row, body, words in cuts:
            [(_, length, _)] = self._session.execute(self._sql["terms_of"], {"rows": self._session.listed([row])})
            terms = (row, len(words), " ".join(words))
            self._unindex(row)
            self._cut_body(row, body)
            self._many("replace_terms", [terms])
            self._index([terms])
            counters["terms"] += len(words) - length

    def _erase(self, ids: Iterable[str], counters: dict[str, int]) -> None:
        for id in ids:
            rows = self._session.execute(self._sql["rows_of"], (id,)).fetchall()
            for row, length in rows:
                counters["documents"] -= 1
                counters["terms"] -= length
                self._unindex(row)
                for step in ("erase_row.terms", "erase_row.label", "erase_row.content"):
                    self._session.execute(self._sql[step], (row,))
            for step in ("state", "usage", "told", "fact", "link_source", "link_target"):
                self._session.execute(self._sql[f"erase_id.{step}"], (id,))
            self._erase_jobs(id)
        self._unindexed()

    def rebuild_index(
        self, terms_of: Callable[[Content], Sequence[str]], analyser: int, progress: Progress | None, if_older: bool
    ) -> int:
        """Recompute all terms, the index, and the labels of standing rules. Return the number of versions."""
        held = self._counters["analyser"]
        if held > analyser and self._counters["documents"]:
            raise _of_a_newer_analyser("reindex", held, analyser)
        if if_older and held == analyser:
            return self._counters["documents"]
        whole = self._counters["documents"]
        length = 0
        done = 0
        self._session.execute(self._sql["forget_standing"])
        # Opening must not fail on a damaged memory: it could not be purged otherwise.
        content_of = build.content_as_held if if_older else build.content
        found = self._every_content()
        while batch := list(islice(found, REINDEX_BATCH)):
            contents = [content_of(row[:-2]) for row in batch]
            words = list(map(terms_of, contents))
            indexed = zip(batch, words, strict=True)
            self._many("replace_terms", [(row[0], len(each), " ".join(each)) for row, each in indexed])
            self._many("insert_label", list(_standing_labels(batch, contents)))
            length += sum(map(len, words))
            done += len(batch)
            if progress is not None:
                progress(done, whole)
        self._index_anew()
        counters = {"documents": done, "terms": length, "analyser": analyser}
        self._many("set_counter", [{"name": name, "value": value} for name, value in counters.items()])
        self._counters.update(counters)
        return done

    def _every_content(self) -> Iterator[Sequence[Any]]:
        return iter(self._session.execute(self._sql["every_content"]))

    def _project(self, counters: dict[str, int]) -> None:
        self._index_anew()

    def _cut_body(self, row: int, body: str | None) -> None:
        self._many("cut_body", [(body, row)])

    # --- what each store does differently

    @abstractmethod
    def _vector_rows(self, counters: dict[str, int]) -> VectorRows:
        """Return the writer of vectors, which counts in `counters`."""

    @abstractmethod
    def _index(self, terms: Sequence[tuple[int, int, str]]) -> None:
        """Add (row, number of terms, joined terms) to the text index."""

    @abstractmethod
    def _unindex(self, row: int) -> None:
        """Remove a row from the text index. Must be called while the row's terms still exist."""

    @abstractmethod
    def _unindexed(self) -> None:
        """Called when all rows of an erasure are removed from the text index."""

    @abstractmethod
    def _index_anew(self) -> None:
        """Rebuild the whole text index from the terms of all rows."""

    def _many(self, statement: str, rows: Collection[Any]) -> None:
        if rows:
            self._session.executemany(self._sql[statement], rows)


def _standing_labels(
    batch: Iterable[Sequence[Any]], contents: Iterable[Content]
) -> Iterator[tuple[str, str, int, str]]:
    """Yield the labels of standing rules for rows that end with the memory's kind and channel."""
    for (row, *_, kind, via), content in zip(batch, contents, strict=True):
        for what, value, spelt in labels((), (), (), stated(content.text, kind, via)):
            yield what, value, row, spelt


def _of_a_newer_analyser(operation: str, held: int, ours: int) -> NewerVersionError:
    reason = f"a newer Pieria made the text index (analyser {held}; this one has {ours})"
    return NewerVersionError(operation, reason, hint="Upgrade Pieria to write to the bank; nothing was changed.")


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
