"""One write transaction over a SQLite bank: applies changesets, and is the only code that writes rows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pieria.errors import BusyError, ConflictError, NewerVersionError
from pieria.record.change import Change
from pieria.record.changeset import FOREVER, Applied, Changeset, Content
from pieria.record.time import micros, moment
from pieria.store.protocol import Progress
from pieria.store.sqlite.reader import SQLiteReader, counters
from pieria.store.sqlite.text import Frequencies

REINDEX_BATCH = 1_000
DEEP = 2_000
"""Bytes of the index's record of its levels, of which each takes two."""


class SQLiteWriter(SQLiteReader):
    def __init__(
        self, connection: sqlite3.Connection, frequencies: Frequencies, now: Callable[[], int], analyser: int
    ) -> None:
        super().__init__(connection, frequencies)
        self._now = now
        self._analyser = analyser
        self._counters: dict[str, int] = counters(connection)

    def apply(self, changeset: Changeset) -> Applied:
        counters = dict(self._counters)
        self._check_analyser(counters)
        change = self._numbered(changeset, counters)
        known = micros(change.at)
        rows = self._write_memories(changeset, counters, known)
        self._write_links(changeset, counters, known)
        self._write_facts(changeset, counters, known)
        self._many("add_usage", changeset.usage)
        self._write_records(changeset)
        if changeset.erase:
            self._erase(changeset.erase, counters, known)
        self._many("remember_purged", [(id, known) for id in (*changeset.erase, *changeset.purged)])
        self._many("insert_journal", [(change.seq, known, change.who, change.what, _written(list(change.ids)))])
        changed = [{"name": name, "value": value} for name, value in counters.items() if self._counters[name] != value]
        self._many("set_counter", changed)
        self._counters = counters
        return Applied(change, rows)

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
        for state, content, words, marks, fresh in changeset.writes:
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
        counters["unscrubbed"] = known
        # Deleted terms stay in the index's older segments until these are merged.
        self._connection.execute(self._sql["merge_index"])
        # Every merge makes the index a level deeper, and at 2,000 levels FTS5 takes it for damaged.
        if self._connection.execute(self._sql["index_depth"]).fetchone()[0] > DEEP:
            self._connection.execute(self._sql["rebuild_index"])

    def rebuild_index(
        self, terms_of: Callable[[Content], Sequence[str]], analyser: int, progress: Progress | None, if_older: bool
    ) -> int:
        """The terms of every version anew, and the index from them."""
        held = self._counters["analyser"]
        if held > analyser and self._counters["documents"]:
            raise _of_a_newer_analyser("reindex", held, analyser)
        if if_older and held == analyser:
            return self._counters["documents"]
        whole = self._counters["documents"]
        length = 0
        done = 0
        found = self._connection.execute(self._sql["every_content"])
        while batch := found.fetchmany(REINDEX_BATCH):
            terms = [(row, terms_of(Content(*content))) for row, *content in batch]
            self._many("replace_terms", [(row, len(words), " ".join(words)) for row, words in terms])
            length += sum(len(words) for _, words in terms)
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


def _of_a_newer_analyser(operation: str, held: int, ours: int) -> NewerVersionError:
    reason = f"a newer Pieria made the text index (analyser {held}; this one has {ours})"
    return NewerVersionError(operation, reason, hint="Upgrade Pieria to write to the bank; nothing was changed.")


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
