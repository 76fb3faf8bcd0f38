"""One write transaction over a SQLite bank: applies changesets, and is the only code that writes rows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from pieria.errors import BusyError, ConflictError, NewerVersionError
from pieria.record.change import Change
from pieria.record.changeset import FOREVER, Applied, Changeset, Content
from pieria.record.filter import Filter
from pieria.record.indexing import labels, stated
from pieria.record.time import micros, moment
from pieria.store.protocol import Embedded, Kind, Pending, Progress, Space, VectorMatch
from pieria.store.sqlite.embedded import VectorRows
from pieria.store.sqlite.near import Vectors
from pieria.store.sqlite.queue import QueueChanges
from pieria.store.sqlite.reader import SQLiteReader, counters
from pieria.store.sqlite.scan import Scan
from pieria.store.sqlite.sieves import Sieves
from pieria.store.sqlite.text import Frequencies

REINDEX_BATCH = 1_000
DEEP = 2_000
"""Bytes of the index's record of its levels, of which each takes two."""


class SQLiteWriter(SQLiteReader, QueueChanges):
    def __init__(
        self,
        connection: sqlite3.Connection,
        frequencies: Frequencies,
        scan: Scan,
        now: Callable[[], int],
        analyser: int,
    ) -> None:
        # What it has written may never come to be, so that no other may learn of it.
        super().__init__(connection, frequencies, scan, Sieves())
        self._scan = scan
        self._changed_vectors = self._apart = False
        self._now = now
        self._analyser = analyser
        self._counters: dict[str, int] = counters(connection)

    def apply(self, changeset: Changeset) -> Applied:
        counters = dict(self._counters)
        self._check_analyser(counters)
        change = self._numbered(changeset, counters)
        known = micros(change.at)
        embedded = self._vector_rows(counters)
        turns = embedded.turns_closed(changeset)
        rows = self._write_memories(changeset, counters, known)
        embedded.follow(changeset, rows, turns)
        self._write_links(changeset, counters, known)
        self._write_facts(changeset, counters, known)
        self._many("add_usage", changeset.usage)
        self._write_records(changeset)
        self.enqueue(changeset.jobs)
        if changeset.erase:
            embedded.erase(changeset.erase)
            self._erase(changeset.erase, counters, known)
        self._many("remember_purged", [(id, known) for id in (*changeset.erase, *changeset.purged)])
        self._many("insert_journal", [(change.seq, known, change.who, change.what, _written(list(change.ids)))])
        self._keep(counters)
        return Applied(change, rows)

    def near(self, vector: Collection[float], filter: Filter, want: int, what: Kind = "passage") -> VectorMatch:
        """What this transaction has written is looked at as well, in codes that no other ever sees."""
        if self._changed_vectors and not self._apart:
            self._vectors = Vectors(self._connection, self._scan.apart(), self._sieves)
            self._apart = True
        return super().near(vector, filter, want, what)

    def _vector_rows(self, counters: dict[str, int]) -> VectorRows:
        self._changed_vectors = True
        return VectorRows(self._connection, counters)

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

    def sift_windows(self) -> None:
        """Takes away the windows of a bank of an earlier schema that hold more than whoever sees their turn sees."""
        counters = dict(self._counters)
        self._vector_rows(counters).sift()
        self._keep(counters)

    def mend_vectors(self) -> None:
        """Makes the codes anew from the vectors, and has embedded again what has none."""
        counters = dict(self._counters)
        self._vector_rows(counters).mend()
        self._keep(counters)

    def _keep(self, counters: dict[str, int]) -> None:
        changed = [{"name": name, "value": value} for name, value in counters.items() if self._counters[name] != value]
        self._many("set_counter", changed)
        self._counters = counters

    def _check_analyser(self, counters: dict[str, int]) -> None:
        """Terms of two analysers in one index would find neither. What has no terms yet takes ours."""
        held = counters["analyser"]
        if held == self._analyser:
            return
        if not counters["documents"]:
            counters["analyser"] = self._analyser
        elif held > self._analyser:
            raise _of_a_newer_analyser("write", held, self._analyser)
        else:
            reason = f"the text index is of analyser {held} and this Pieria writes with {self._analyser}"
            raise BusyError("write", reason, hint="Open the bank again, which builds its index anew; then write.")

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
        labels: list[tuple[Any, ...]] = []
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
            labels.extend((what, value, row, spelt) for what, value, spelt in marks)
        self._many("close_state", closed)
        self._many("insert_content", contents)
        self._many("insert_state", states)
        self._many("insert_label", labels)
        self._many("insert_terms", terms)
        self._many("index_terms", [(row, written) for row, _, written in terms])
        if self._connection.execute(self._sql["any_purged"]).fetchone()[0]:
            self._many("forget_purged", [(write.state.id,) for write in changeset.writes if write.fresh])
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
        self._many("close_fact", [(known, row.id) for row in changeset.facts])
        entry = counters["entry"]
        self._many("insert_fact", [(entry + n, *row, known, FOREVER) for n, row in enumerate(changeset.facts, start=1)])
        counters["entry"] = entry + len(changeset.facts)

    def _write_records(self, changeset: Changeset) -> None:
        for record in changeset.records:
            if record.value is None:
                self._many("drop_record", [(record.collection, record.key)])
            else:
                self._many("put_record", [(record.collection, record.key, _written(record.value))])

    def _erase(self, ids: Iterable[str], counters: dict[str, int], known: int) -> None:
        for id in ids:
            rows = self._connection.execute(self._sql["rows_of"], (id,)).fetchall()
            for row, length in rows:
                counters["documents"] -= 1
                counters["terms"] -= length
                for step in ("unindex_terms", "erase_row.terms", "erase_row.label", "erase_row.content"):
                    self._connection.execute(self._sql[step], (row,))
            for step in ("state", "usage", "fact", "link_source", "link_target"):
                self._connection.execute(self._sql[f"erase_id.{step}"], (id,))
            self._erase_jobs(id)
        counters["unscrubbed"] = known
        # Deleted terms stay in the index's older segments until these are merged.
        self._connection.execute(self._sql["merge_index"])
        # Every merge makes the index a level deeper, and at 2,000 levels FTS5 takes it for damaged.
        if self._connection.execute(self._sql["index_depth"]).fetchone()[0] > DEEP:
            self._connection.execute(self._sql["rebuild_index"])

    def rebuild_index(
        self, terms_of: Callable[[Content], Sequence[str]], analyser: int, progress: Progress | None, if_older: bool
    ) -> int:
        """The terms of every version anew, the index from them, and the labels that follow from the text."""
        held = self._counters["analyser"]
        if held > analyser and self._counters["documents"]:
            raise _of_a_newer_analyser("reindex", held, analyser)
        if if_older and held == analyser:
            return self._counters["documents"]
        whole = self._counters["documents"]
        length = 0
        done = 0
        self._connection.execute(self._sql["forget_standing"])
        found = self._connection.execute(self._sql["every_content"])
        while batch := found.fetchmany(REINDEX_BATCH):
            indexed = [
                (row, content := Content(*values[:-3]), terms_of(content), values[-3:]) for row, *values in batch
            ]
            self._many("replace_terms", [(row, len(words), " ".join(words)) for row, _, words, _ in indexed])
            self._many("insert_label", _standing_labels(indexed))
            length += sum(len(words) for _, _, words, _ in indexed)
            done += len(batch)
            if progress is not None:
                progress(done, whole)
        self._connection.execute(self._sql["rebuild_index"])
        counters = {"documents": done, "terms": length, "analyser": analyser}
        self._many("set_counter", [{"name": name, "value": value} for name, value in counters.items()])
        self._counters.update(counters)
        return done

    def _many(self, statement: str, rows: Iterable[Any]) -> None:
        self._connection.executemany(self._sql[statement], rows)


def _standing_labels(
    indexed: Iterable[tuple[int, Content, Sequence[str], Sequence[Any]]],
) -> Iterator[tuple[str, str, int, str]]:
    """Of rows with their terms and what decides whose they are."""
    for row, content, words, said in indexed:
        for what, value, spelt in labels((), (), (), stated(content.text, words, *said)):
            yield what, value, row, spelt


def _of_a_newer_analyser(operation: str, held: int, ours: int) -> NewerVersionError:
    reason = f"a newer Pieria made the text index (analyser {held}; this one has {ours})"
    return NewerVersionError(operation, reason, hint="Upgrade Pieria to write to the bank; nothing was changed.")


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
