"""One read transaction over a SQLite bank: every reading primitive of the store protocol."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from pieria.errors import NotFoundError
from pieria.record.change import Change
from pieria.record.changeset import Content, Stored
from pieria.record.fact import Fact, FactName, FactQuery
from pieria.record.filter import ANY_TIME, Filter
from pieria.record.link import End, Link
from pieria.record.memory import Memory
from pieria.record.time import micros
from pieria.record.usage import Usage
from pieria.store.protocol import (
    Excerpt,
    FactSpan,
    Head,
    Kind,
    Outline,
    Pending,
    Run,
    Space,
    Span,
    Terms,
    TextMatch,
    VectorMatch,
)  # fmt: skip
from pieria.store.sqlite import rows as build
from pieria.store.sqlite.connection import UnreadableRow
from pieria.store.sqlite.driving import driven
from pieria.store.sqlite.near import Vectors
from pieria.store.sqlite.queue import QueueRows
from pieria.store.sqlite.scan import Scan
from pieria.store.sqlite.sieves import Sieves
from pieria.store.sqlite.statements import statements
from pieria.store.sqlite.text import Frequencies, Sought, TextIndex, counts
from pieria.store.sqlite.visibility import Compiled, compiled

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LABEL_COLUMNS = {"tags": "tag", "entities": "entity", "files": "file", "standing": "standing"}
COUNTERS = {
    "seq", "known", "row", "entry", "documents", "terms", "analyser", "unscrubbed", "vector_entry", "vector_gone",
}  # fmt: skip
COLUMNS = (
    "kind", "type", "place", "scope", "session", "channel", "author", "author_type", "source", "status", "tier",
    "pinned", "ended",
)  # fmt: skip


def counters(connection: sqlite3.Connection) -> dict[str, int]:
    held = dict(connection.execute(statements("queries.sql")["head"]))
    if not held.keys() >= COUNTERS:
        raise UnreadableRow("counters are missing")
    return held


class SQLiteReader(QueueRows):
    def __init__(self, connection: sqlite3.Connection, frequencies: Frequencies, scan: Scan, sieves: Sieves) -> None:
        self._connection = connection
        self._frequencies = frequencies
        self._sieves = sieves
        self._vectors = Vectors(connection, scan, sieves)
        self._sql = statements("queries.sql")

    def head(self) -> Head:
        held = counters(self._connection)
        return Head(held["seq"], held["known"], held["documents"], held["terms"], held["analyser"])

    def select(
        self, filter: Filter, order: str = "newest", limit: int = 50, after: tuple[float, int] | None = None
    ) -> list[Memory]:
        where, params = driven(self._connection, filter)
        if after is not None:
            params["after_value"], params["after_row"] = after
        sql = self._sql["select"].format(
            where=where,
            after=self._sql[f"after.{order}"] if after is not None else "",
            order=self._sql[f"order.{order}"],
        )
        return [build.memory(row) for row in self._connection.execute(sql, {**params, "limit": limit})]

    def count(self, filter: Filter, by: str | None = None) -> dict[str, int]:
        where, params = driven(self._connection, filter)
        if by in LABEL_COLUMNS:
            sql = self._sql["count_labels"].format(where=where)
            params["what"] = LABEL_COLUMNS[by]
        elif by is None:
            sql = self._sql["total"].format(where=where)
        else:
            assert by in COLUMNS
            sql = self._sql["count"].format(where=where, column=f"s.{by}")
        return {str(value): number for value, number in self._connection.execute(sql, params) if value is not None}

    def memories(self, rows: Sequence[int], filter: Filter) -> dict[int, Memory]:
        where, params = compiled(filter.having(ids=None).anything())
        sql = self._sql["by_row"].format(where=where)
        found = self._connection.execute(sql, {**params, "rows": json.dumps(list(rows))})
        return {row[0]: build.memory(row) for row in found}

    def contents(self, rows: Sequence[int]) -> dict[int, Content]:
        found = self._connection.execute(self._sql["contents"], {"rows": json.dumps(list(rows))})
        return {row: Content(*values) for row, *values in found}

    def excerpts(self, rows: Sequence[int], begin: int, end: int) -> dict[int, Excerpt]:
        asked = {"rows": json.dumps(list(rows)), "begin": begin, "end": end}
        return {row: Excerpt(*values) for row, *values in self._connection.execute(self._sql["excerpts"], asked)}

    def outlines(self, rows: Sequence[int], filter: Filter) -> dict[int, Outline]:
        where, params = compiled(filter, probe=True)
        sql = self._sql["outlines"].format(where=where)
        found = self._connection.execute(sql, {**params, "rows": json.dumps(list(rows))})
        return {row[0]: build.outline(row) for row in found}

    def rows(self, filter: Filter, order: str = "newest", limit: int = 50) -> list[int]:
        where, params = driven(self._connection, filter)
        sql = self._sql["rows"].format(where=where, order=self._sql[f"order.{order}"])
        return [row for (row,) in self._connection.execute(sql, {**params, "limit": limit})]

    def counts(self, rows: Sequence[int], terms: Collection[str], runs: Collection[Run] = ()) -> dict[int, Terms]:
        return counts(self._connection, rows, terms, runs)

    def states(self, ids: Iterable[str], filter: Filter | None = None) -> dict[str, Stored]:
        if filter is None:
            where, params = statements("filter.sql")["known_now"], dict[str, Any]()
        else:
            where, params = compiled(filter)
        sql = self._sql["states"].format(where=where)
        wanted = {**params, "ids": json.dumps(list(ids))}
        return {held.state.id: held for held in map(build.stored, self._connection.execute(sql, wanted))}

    def history(self, id: str) -> list[Memory]:
        return [build.memory(row) for row in self._connection.execute(self._sql["history"], {"id": id})]

    def newest_version(self, id: str) -> int:
        found: int = self._connection.execute(self._sql["newest_version"], (id,)).fetchone()[0]
        return found

    def version(self, id: str, version: int) -> list[Memory]:
        asked = {"id": id, "version": version}
        return [build.memory(row) for row in self._connection.execute(self._sql["version"], asked)]

    def text(
        self, terms: Sequence[str], filter: Filter, want: int, budget: int, runs: Collection[Run] = ()
    ) -> TextMatch:
        return self._text_index().match(Sought(terms, runs), filter, want, budget)

    def frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        return self._frequencies.of(self._connection, terms, self.head().documents)

    def _text_index(self) -> TextIndex:
        return TextIndex(self._connection, self._frequencies, self._sieves, self.head())

    def space(self) -> Space | None:
        return self._vectors.space()

    def pending(self, limit: int) -> list[Pending]:
        return self._vectors.pending(limit)

    def pending_count(self) -> int:
        return self._vectors.pending_count()

    def near(self, vector: Collection[float], filter: Filter, want: int, what: Kind = "passage") -> VectorMatch:
        return self._vectors.near(vector, filter, want, what)

    def similarities(self, vector: Collection[float], rows: Sequence[int], what: Kind = "passage") -> dict[int, Span]:
        return self._vectors.similarities(vector, rows, what)

    def vectors(self, rows: Sequence[int], what: Kind = "passage") -> dict[int, list[tuple[int, NDArray[np.float32]]]]:
        return self._vectors.vectors(rows, what)

    def around(
        self, rows: Sequence[int], filter: Filter, reach: int, *, company: bool = False
    ) -> dict[int, list[tuple[int, int]]]:
        return self._vectors.around(rows, filter, reach, company=company)

    def twins(self, text: str, terms: Sequence[str], filter: Filter) -> list[Memory]:
        where, params = compiled(filter, probe=True)
        params["text"] = text
        if not terms:
            sql = self._sql["twins_without_terms"].format(where=where)
        else:
            params["rows"] = json.dumps(sorted(set(self._text_index().rarest_rows(terms))))
            sql = self._sql["twins"].format(where=where)
        return [build.memory(row) for row in self._connection.execute(sql, params)]

    def links(
        self, ends: Sequence[End] | None = None, relation: str | None = None, known_at: int | None = None,
        ids: Sequence[str] | None = None, every_version: bool = False, between: tuple[End, End] | None = None,
    ) -> list[Link]:  # fmt: skip
        blocks = statements("lookups.sql")
        parts = [] if every_version else [blocks["known_now" if known_at is None else "known_at"], blocks["standing"]]
        params: dict[str, Any] = {"known_at": known_at}
        if ends is not None:
            parts.append(blocks["link_ends"])
            params["ends"] = json.dumps([[end.what, end.name] for end in ends])
        if between is not None:
            parts.append(blocks["link_between"])
            for name, end in zip(("one", "other"), between, strict=True):
                params[f"{name}_is"], params[name] = end
        if relation is not None:
            parts.append(blocks["link_relation"])
            params["relation"] = relation
        if ids is not None:
            parts.append(blocks["by_ids"])
            params["ids"] = json.dumps(list(ids))
        sql = self._sql["links"].format(where=" AND ".join(parts) or "1")
        return [build.link(row) for row in self._connection.execute(sql, params)]

    def tied(self, ids: Sequence[str], filter: Filter, newest: int) -> dict[str, list[int]]:
        known = statements("lookups.sql")["known_now" if filter.known_at is None else "known_at"]
        where, params = compiled(filter, probe=True)
        asked = {**params, "ends": json.dumps(list(ids)), "known_at": filter.known_at, "newest": newest}
        found = self._connection.execute(self._sql["tied"].format(known=known, where=where), asked)
        return {id: [*_rows(forth), *_rows(back)] for id, forth, back in found}

    def labelled(
        self, what: Literal["entities", "standing"], labels: Sequence[str], filter: Filter, limit: int
    ) -> list[int]:
        where, params = compiled(filter, probe=True)
        asked = {**params, "label": LABEL_COLUMNS[what], "labels": json.dumps(list(labels)), "limit": limit}
        found = self._connection.execute(self._sql["labelled"].format(where=where), asked)
        return sorted({row for (joined,) in found for row in _rows(joined)}, reverse=True)[:limit]

    def facts(self, query: FactQuery, filter: Filter) -> list[Fact]:
        return [build.fact(row) for row in self._found_facts("columns.fact", query, filter)]

    def spans(self, query: FactQuery, filter: Filter) -> list[FactSpan]:
        return list(map(FactSpan._make, self._found_facts("columns.span", query, filter)))

    def _found_facts(self, columns: str, query: FactQuery, filter: Filter) -> sqlite3.Cursor:
        blocks = statements("lookups.sql")
        visible, params = self._visible_sources(filter)
        parts = [] if query.every_version else [blocks["known_now" if filter.known_at is None else "known_at"]]
        if not query.include_ended:
            parts.append(blocks["standing"])
        for name in ("ids", "subject_keys", "predicate_keys", "object_keys", "either_keys"):
            wanted = getattr(query, name)
            if wanted is not None:
                parts.append(blocks["by_ids" if name == "ids" else name])
                params["ids" if name == "ids" else name] = json.dumps(wanted)
        if query.memory is not None:
            parts.append(blocks["fact_memory"])
            params["memory"] = query.memory
        sql = self._sql["facts" if filter.valid_at == ANY_TIME else "facts_within_memories"]
        sql = sql.format(columns=self._sql[columns], where=" AND ".join(parts) or "1", visible=visible)
        return self._connection.execute(sql, params)

    def drawn(self, keys: Sequence[str], filter: Filter, newest: int) -> list[FactSpan]:
        blocks = statements("lookups.sql")
        seen, params = compiled(filter, probe=True)
        known = blocks["known_now" if filter.known_at is None else "known_at"]
        parts = [known, blocks["standing"], blocks["fact_drawn"]]
        parts += [blocks["fact_holds"]] if "valid_at" in params else []
        entries: set[int] = set()
        for side in ("subject", "object"):
            sql = self._sql[f"drawn.{side}"].format(where=" AND ".join(parts), seen=seen)
            named = self._connection.execute(self._sql[f"drawn.{side}_keys"], {"keys": json.dumps(keys)})
            for (key,) in named.fetchall():
                asked = {**params, "key": key, "known_at": filter.known_at, "newest": newest}
                entries.update(entry for (entry,) in self._connection.execute(sql, asked))
        if not entries:
            return []
        visible, params = self._visible_sources(filter)
        params["entries"] = json.dumps(sorted(entries, reverse=True)[:newest])
        sql = self._sql["facts" if filter.valid_at == ANY_TIME else "facts_within_memories"]
        sql = sql.format(columns=self._sql["columns.span"], where=blocks["fact_entries"], visible=visible)
        return list(map(FactSpan._make, self._connection.execute(sql, params)))

    def names(self, filter: Filter, prefix: str = "") -> list[FactName]:
        blocks = statements("lookups.sql")
        visible, params = self._visible_sources(filter)
        known = blocks["known_now" if filter.known_at is None else "known_at"]
        sql = self._sql["fact_names"].format(where=f"{known} AND {blocks['standing']}", visible=visible)
        return [FactName(*row) for row in self._connection.execute(sql, {**params, "prefix": prefix})]

    def spelling(self, key: str, *, predicate: bool = False) -> str | None:
        sql = self._sql["spelling.predicate" if predicate else "spelling.entity"]
        found = self._connection.execute(sql, {"key": key}).fetchone()
        return None if found is None else str(found[0])

    def _visible_sources(self, filter: Filter) -> Compiled:
        """Which memories may stand behind a fact: how long they hold themselves is no matter of visibility."""
        visible = compiled(filter.having(valid_at=ANY_TIME, status=None, ids=None), probe=True)
        return Compiled(visible.where, {"known_at": filter.known_at, **visible.params})

    def usage(self, ids: Sequence[str]) -> dict[str, Usage]:
        found = self._connection.execute(self._sql["usage"], {"ids": json.dumps(list(ids))})
        return {row[0]: build.usage(row) for row in found}

    def records(self, collection: str, prefix: str = "") -> dict[str, Any]:
        asked = {"collection": collection, "prefix": prefix}
        return {key: json.loads(value) for key, value in self._connection.execute(self._sql["records"], asked)}

    def purged(self, ids: Sequence[str]) -> set[str]:
        return {id for (id,) in self._connection.execute(self._sql["purged"], {"ids": json.dumps(list(ids))})}

    def changes(self, since: int = 0, limit: int | None = None, seqs: Sequence[int] | None = None) -> list[Change]:
        if seqs is not None:
            found = self._connection.execute(self._sql["changes_by_seq"], {"seqs": json.dumps(list(seqs))})
        else:
            asked = {"since": since, "limit": -1 if limit is None else limit}
            found = self._connection.execute(self._sql["changes"], asked)
        return [build.change(row) for row in found]

    def opened(self, seq: int) -> tuple[list[Stored], list[Link], list[Fact]]:
        made = self.changes(seqs=[seq])
        if not made:
            raise NotFoundError("change", str(seq), hint="`changes` lists the numbers there are.")
        asked = {"seq": seq, "known": micros(made[0].at)}
        run = self._connection.execute
        return (
            [build.stored(row) for row in run(self._sql["opened_states"], asked)],
            [build.link(row) for row in run(self._sql["opened_links"], asked)],
            [build.fact(row) for row in run(self._sql["opened_facts"], asked)],
        )

    def dump(self, table: str) -> Iterator[dict[str, Any]]:
        found = self._connection.execute(self._sql[f"dump.{table}"])
        columns = [column[0] for column in found.description]
        for row in found:
            yield dict(zip(columns, row, strict=True))


def _rows(joined: str | None) -> list[int]:
    return list(map(int, joined.split(","))) if joined else []
