"""One read transaction over a bank: every reading primitive of the protocol."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from pieria.errors import NotFoundError
from pieria.language.glance import Glance
from pieria.record.changeset import Change, Content, Stored
from pieria.record.fact import Fact
from pieria.record.filter import Filter, Shared
from pieria.record.link import End, Link
from pieria.record.memory import Memory
from pieria.record.time import micros
from pieria.record.usage import Usage
from pieria.store.parts import (
    Aged,
    Holdings,
    Met,
    Outline,
    Placed,
    Run,
    SessionSpan,
    Spot,
    Tallied,
    Terms,
    Tie,
    Told,
    Written,
)  # fmt: skip
from pieria.store.protocol import Head, Kind, Nearness, Pending, Space, Span, TextMatch, VectorMatch
from pieria.store.quarantine import Held
from pieria.store.rows import names_of
from pieria.store.sql import rows as build
from pieria.store.sql.copy import CopyReads
from pieria.store.sql.facts import FactRows
from pieria.store.sql.queue import QueueRows
from pieria.store.sql.session import Session, UnreadableRow, there
from pieria.store.sql.sieves import Sieves
from pieria.store.sql.text import Frequencies, TextIndex
from pieria.store.sql.vectors import VectorReads, driven
from pieria.store.sql.visibility import QUARANTINED, compiled, hides
from pieria.store.sql.wordings import Wordings

log = logging.getLogger(__name__)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pieria.store.sql.tally import Texts

LABEL_COLUMNS = {"tags": "tag", "entities": "entity", "files": "file", "standing": "standing"}
FEW = 1_000
"""A value with more rows than this gets a query of its own: scanning in order beats sorting them all."""
COUNTERS = {
    "seq", "known", "row", "entry", "documents", "terms", "analyser", "unscrubbed", "vector_entry", "vector_gone",
}  # fmt: skip
COLUMNS = (
    "kind", "type", "place", "scope", "session", "channel", "author", "author_type", "source", "status", "tier",
    "pinned", "ended",
)  # fmt: skip


def counters(session: Session) -> dict[str, int]:
    held = dict(session.remembered(session.statements("queries.sql")["head"]))
    if not held.keys() >= COUNTERS:
        raise UnreadableRow("counters are missing")
    session.hides = bool(held.get(QUARANTINED))
    return held


class SQLReader(QueueRows, FactRows, CopyReads):
    """`vectors` does the store's vector search on the same session."""

    def __init__(
        self,
        session: Session,
        frequencies: Frequencies,
        sieves: Sieves,
        wordings: Wordings,
        vectors: VectorReads,
        *,
        foreign: bool = False,
    ) -> None:
        """From a `foreign` bank every memory is hearsay: its rows' own trust is ignored."""
        self._session = session
        self._frequencies = frequencies
        self._sieves = sieves
        self._wordings = wordings
        self._vectors = vectors
        self._sql = session.statements("queries.sql")
        self._memory = build.hearsay if foreign else build.memory
        self._outline = build.outlined_hearsay if foreign else build.outline

    def head(self) -> Head:
        held = counters(self._session)
        return Head(held["seq"], held["known"], held["documents"], held["terms"], held["analyser"])

    def select(
        self, filter: Filter, order: str = "newest", limit: int = 50, after: tuple[float, int] | None = None
    ) -> list[Memory]:
        where, params = driven(self._session, filter)
        if after is not None:
            params["after_value"], params["after_row"] = after
        sql = self._sql["select"].format(
            where=where,
            after=self._sql[f"after.{order}"] if after is not None else "",
            order=self._sql[f"order.{order}"],
        )
        return [self._memory(row) for row in self._session.execute(sql, {**params, "limit": limit}).fetchall()]

    def count(self, filter: Filter, by: str | None = None) -> dict[str, int]:
        where, params = driven(self._session, filter)
        if by in LABEL_COLUMNS:
            sql = self._sql["count_labels"].format(where=where)
            params["what"] = LABEL_COLUMNS[by]
        elif by is None:
            sql = self._sql["total"].format(where=where)
        else:
            assert by in COLUMNS
            sql = self._sql["count"].format(where=where, column=f"s.{by}")
        return {str(value): number for value, number in self._session.execute(sql, params) if value is not None}

    def tally(self) -> list[Tallied]:
        return list(map(Tallied._make, self._session.execute(self._sql["tally"])))

    def totals(self) -> dict[str, int]:
        return dict(self._session.execute(self._sql["totals"]).fetchall())

    def sessions(self, filter: Filter, limit: int, after: tuple[int, str] | None = None) -> list[SessionSpan]:
        where, params = driven(self._session, filter)
        if after is not None:
            params["after_first"], params["after_session"] = after
        block = self._sql["sessions.after"] if after is not None else ""
        sql = self._sql["sessions"].format(where=where, after=block)
        return [SessionSpan(*row) for row in self._session.execute(sql, {**params, "limit": limit})]

    def memories(self, rows: Sequence[int], filter: Filter) -> dict[int, Memory]:
        where, params = compiled(self._session, filter.having(ids=None).anything())
        sql = self._sql["by_row"].format(where=where)
        found = self._session.execute(sql, {**params, "rows": self._session.listed(rows)}).fetchall()
        return {row[0]: self._memory(row) for row in found}

    def contents(self, rows: Sequence[int]) -> dict[int, Content]:
        # Fetch all at once: a statement left half read by an error would pin the reader to its snapshot.
        found = self._session.execute(self._sql["contents"], {"rows": self._session.listed(rows)}).fetchall()
        return {row[0]: build.content(row) for row in found}

    def readable(self, rows: Sequence[int]) -> dict[int, Content]:
        found: dict[int, Content] = {}
        try:
            return self.contents(rows)
        except UnreadableRow:
            log.debug("reading row by row, to leave out what is damaged")
        for row in rows:
            try:
                found |= self.contents([row])
            except UnreadableRow as problem:
                log.warning("row %s is left out: %s. Run `pieria doctor`.", row, problem)
        return found

    def outlines(self, rows: Sequence[int], filter: Filter) -> dict[int, Outline]:
        where, params = compiled(self._session, filter, probe=True)
        sql = self._sql["outlines"].format(where=where)
        found = self._session.execute(sql, {**params, "rows": self._session.listed(rows)}).fetchall()
        return {row[0]: self._outline(row) for row in found}

    def candidates(self, rows: Sequence[int], filter: Filter) -> Met:
        where, params = compiled(self._session, filter, probe=True)
        sql = self._sql["candidates"].format(where=where)
        return build.met(self._session.execute(sql, {**params, "rows": self._session.listed(rows)}).fetchall())

    def glances(self, rows: Sequence[int]) -> dict[int, Glance]:
        return {row: one.glance for row, one in self._texts(rows).of.items()}

    def holdings(self, rows: Sequence[int], terms: Sequence[str], runs: Sequence[Run]) -> Holdings:
        return self._texts(rows).holdings(terms, runs)

    def _texts(self, rows: Sequence[int]) -> Texts:
        return self._wordings.of(self._session, rows, self.head().analyser)

    def spots(self, rows: Sequence[int], filter: Filter) -> list[Spot]:
        where, params = compiled(self._session, filter, probe=True)
        sql = self._sql["spots"].format(where=where)
        return list(map(Spot._make, self._session.execute(sql, {**params, "rows": self._session.listed(rows)})))

    def written(self, rows: Sequence[int]) -> dict[int, Written]:
        found = self._session.execute(self._sql["written"], {"rows": self._session.listed(rows)})
        return {row: Written(first, version, _tags(tags)) for row, first, version, tags in found}

    def rows(self, filter: Filter, order: str = "newest", limit: int = 50) -> list[int]:
        where, params = driven(self._session, filter)
        sql = self._sql["rows"].format(where=where, order=self._sql[f"order.{order}"])
        return [row for (row,) in self._session.execute(sql, {**params, "limit": limit})]

    def rows_each(
        self, filter: Filter, by: Shared, values: Sequence[str], order: str = "newest", limit: int = 50
    ) -> dict[str, list[int]]:
        where, params = compiled(self._session, filter.having(**{by: None}), probe=True)
        block = self._sql["rows_each.place" if by == "place" else "rows_each.label"]
        params |= {"label": LABEL_COLUMNS.get(by), "values": self._session.listed(values), "few": FEW, "limit": limit}
        sql = block.format(where=where, order=self._sql[f"order.{order}"])
        few = {
            value: _rows(joined)
            for value, joined in self._session.execute(sql, params).fetchall()
            if joined is not None
        }
        return {
            value: few[value] if value in few else self.rows(filter.having_shared(by, value), order, limit)
            for value in values
        }

    def placed(self, filter: Filter) -> list[Placed]:
        where, params = driven(self._session, filter)
        found = self._session.execute(self._sql["placed"].format(where=where), params)
        return [Placed._make((*values[:-1], names_of(values[-1]))) for values in found]

    def counts(self, rows: Sequence[int], terms: Collection[str]) -> dict[int, Terms]:
        return self._texts(rows).each(list(terms))

    def states(self, ids: Iterable[str], filter: Filter | None = None) -> dict[str, Stored]:
        if filter is None:
            where, params = self._session.statements("filter.sql")["known_now"], dict[str, Any]()
        else:
            where, params = compiled(self._session, filter)
        sql = self._sql["states"].format(where=where)
        wanted = {**params, "ids": self._session.listed(ids)}
        return {held.state.id: held for held in map(build.stored, self._session.execute(sql, wanted))}

    def standing(self, filter: Filter, after: int, limit: int) -> list[Stored]:
        where, params = compiled(self._session, filter)
        asked = {**params, "after": after, "limit": limit}
        return [
            build.stored(row)
            for row in self._session.execute(self._sql["standing"].format(where=where), asked).fetchall()
        ]

    def aged(self, filter: Filter, after: int, limit: int) -> list[Aged]:
        where, params = compiled(self._session, filter)
        asked = {**params, "after": after, "limit": limit}
        return [
            build.aged(row) for row in self._session.execute(self._sql["aged"].format(where=where), asked).fetchall()
        ]

    def history(self, id: str) -> list[Memory]:
        return [self._memory(row) for row in self._session.execute(self._sql["history"], {"id": id}).fetchall()]

    def version_rows(self, id: str) -> set[int]:
        return {row for row, _ in self._session.execute(self._sql["rows_of"], (id,))}

    def newest_version(self, id: str) -> int:
        found: int = self._session.execute(self._sql["newest_version"], (id,)).fetchone()[0]
        return found

    def version(self, id: str, version: int) -> list[Memory]:
        asked = {"id": id, "version": version}
        return [self._memory(row) for row in self._session.execute(self._sql["version"], asked).fetchall()]

    def text(self, terms: Sequence[str], filter: Filter, want: int, budget: int) -> TextMatch:
        return self._text_index().match(terms, filter, want, budget)

    def frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        return self._frequencies.of(self._session, terms, self.head().documents)

    def _text_index(self) -> TextIndex:
        return TextIndex(self._session, self._frequencies, self._sieves, self._wordings, self.head())

    def space(self) -> Space | None:
        return self._vectors.space()

    def pending(self, limit: int) -> list[Pending]:
        return self._vectors.pending(limit)

    def pending_count(self) -> int:
        return self._vectors.pending_count()

    def unembedded(self, rows: Sequence[int], newest: int) -> list[int]:
        return self._vectors.unembedded(rows, newest)

    def near(self, vector: Collection[float], filter: Filter, want: int, what: Kind = "passage") -> VectorMatch:
        return self._vectors.near(vector, filter, want, what)

    def similarities(self, vector: Collection[float], rows: Sequence[int], what: Kind = "passage") -> dict[int, Span]:
        return self._vectors.similarities(vector, rows, what)

    def nearness(self, vectors: Sequence[Collection[float]], rows: Sequence[int], kinds: Sequence[Kind]) -> Nearness:
        return self._vectors.nearness(vectors, rows, kinds)

    def vectors(self, rows: Sequence[int], what: Kind = "passage") -> dict[int, list[tuple[int, NDArray[np.float32]]]]:
        return self._vectors.vectors(rows, what)

    def stacked(self, rows: Sequence[int], what: Kind = "passage") -> tuple[list[int], NDArray[np.float32]]:
        return self._vectors.stacked(rows, what)

    def around(
        self, rows: Sequence[int], filter: Filter, reach: int, *, company: bool = False
    ) -> dict[int, list[tuple[int, int]]]:
        return self._vectors.around(rows, filter, reach, company=company)

    def twins(self, text: str, terms: Sequence[str], filter: Filter) -> list[Memory]:
        where, params = compiled(self._session, filter, probe=True)
        params["text"] = text
        if not terms:
            sql = self._sql["twins_without_terms"].format(where=where)
        else:
            params["rows"] = self._session.listed(sorted(set(self._text_index().rarest_rows(terms))))
            sql = self._sql["twins"].format(where=where)
        return [self._memory(row) for row in self._session.execute(sql, params).fetchall()]

    def namesakes(self, terms: Sequence[str], most: int, filter: Filter) -> list[Memory]:
        where, params = compiled(self._session, filter, probe=True)
        rows = sorted(set(self._text_index().rarest_rows(terms)))
        params |= {"rows": self._session.listed(rows), "most": most}
        sql = self._sql["namesakes"].format(where=where)
        return [self._memory(row) for row in self._session.execute(sql, params).fetchall()]

    def links(
        self, ends: Sequence[End] | None = None, relation: str | None = None, known_at: int | None = None,
        ids: Sequence[str] | None = None, every_version: bool = False, between: tuple[End, End] | None = None,
    ) -> list[Link]:  # fmt: skip
        if not there(self._session).links:
            return []
        blocks = self._session.statements("lookups.sql")
        parts = [] if every_version else [blocks["known_now" if known_at is None else "known_at"], blocks["standing"]]
        params: dict[str, Any] = {"known_at": known_at}
        if ends is not None:
            parts.append(blocks["link_ends"])
            params["ends"] = self._session.paired([[end.what, end.name] for end in ends])
        if between is not None:
            parts.append(blocks["link_between"])
            for name, end in zip(("one", "other"), between, strict=True):
                params[f"{name}_is"], params[name] = end
        if relation is not None:
            parts.append(blocks["link_relation"])
            params["relation"] = relation
        if ids is not None:
            parts.append(blocks["by_ids"])
            params["ids"] = self._session.listed(ids)
        sql = self._sql["links"].format(where=" AND ".join(parts) or "1 = 1")
        return [build.link(row) for row in self._session.execute(sql, params).fetchall()]

    def tied(self, ids: Sequence[str], filter: Filter, newest: int) -> dict[str, list[int]]:
        if not there(self._session).links:
            return {}
        known = self._session.statements("lookups.sql")["known_now" if filter.known_at is None else "known_at"]
        where, params = compiled(self._session, filter, probe=True)
        asked = {**params, "ends": self._session.listed(ids), "known_at": filter.known_at, "newest": newest}
        found = self._session.execute(self._sql["tied"].format(known=known, where=where), asked)
        return {id: [*_rows(forth), *_rows(back)] for id, forth, back in found}

    def ties_of(self, ids: Iterable[str], filter: Filter) -> list[Tie]:
        where, params = compiled(self._session, filter, probe=True)
        sql = self._sql["ties_of"].format(where=where)
        return list(map(Tie._make, self._session.execute(sql, {**params, "ends": self._session.listed(ids)})))

    def labelled(
        self, what: Literal["entities", "standing"], labels: Sequence[str], filter: Filter, limit: int
    ) -> list[int]:
        if not getattr(there(self._session), what):
            return []
        where, params = compiled(self._session, filter, probe=True)
        asked = {**params, "label": LABEL_COLUMNS[what], "labels": self._session.listed(labels), "limit": limit}
        found = self._session.execute(self._sql["labelled"].format(where=where), asked)
        return sorted({row for (joined,) in found for row in _rows(joined)}, reverse=True)[:limit]

    def ties(self) -> Iterator[tuple[str, str, str]]:
        return (
            (source, relation, target)
            for _, (source, relation, target) in self._session.stream("ties", self._sql["ties"])
        )

    def usage(self, ids: Sequence[str]) -> dict[str, Usage]:
        found = self._session.execute(self._sql["usage"], {"ids": self._session.listed(ids)}).fetchall()
        return {row[0]: build.usage(row) for row in found}

    def records(self, collection: str, prefix: str = "", keys: Sequence[str] | None = None) -> dict[str, Any]:
        asked = {"collection": collection, "prefix": prefix}
        if keys is not None:
            asked = {"collection": collection, "keys": self._session.listed(keys)}
        found = self._session.execute(self._sql["records" if keys is None else "records_of"], asked)
        return {key: json.loads(value) for key, value in found}

    def purged(self, ids: Sequence[str]) -> set[str]:
        return {id for (id,) in self._session.execute(self._sql["purged"], {"ids": self._session.listed(ids)})}

    def hides(self) -> bool:
        return hides(self._session)

    def quarantines(self, ids: Collection[str], what: Held = "memory") -> dict[str, tuple[int, ...]]:
        if not hides(self._session):
            return {}
        found: dict[str, tuple[int, ...]] = {}
        asked = {"ids": self._session.listed(ids), "what": what}
        for id, seq in self._session.execute(self._sql["quarantines_of"], asked):
            found[id] = (*found.get(id, ()), seq)
        return found

    def told(self, ids: Sequence[str], limit: int) -> list[Told]:
        asked = {"ids": self._session.listed(ids), "limit": limit}
        return list(map(Told._make, self._session.execute(self._sql["told"], asked)))

    def changes(self, since: int = 0, limit: int | None = None, seqs: Sequence[int] | None = None) -> list[Change]:
        if seqs is not None:
            found = self._session.execute(self._sql["changes_by_seq"], {"seqs": self._session.listed(seqs)})
        else:
            asked = {"since": since, "limit": self._session.unlimited if limit is None else limit}
            found = self._session.execute(self._sql["changes"], asked)
        return [build.change(row) for row in found]

    def changes_at(self, times: Sequence[int]) -> list[Change]:
        asked = {"times": self._session.listed(times), "limit": len(times)}
        return [build.change(row) for row in self._session.execute(self._sql["changes_at"], asked)][::-1]

    def opened(self, seq: int) -> tuple[list[Stored], list[Link], list[Fact]]:
        made = self.changes(seqs=[seq])
        if not made:
            raise NotFoundError("change", str(seq), hint="`changes` lists the numbers.")
        asked = {"seq": seq, "known": micros(made[0].at)}
        run = self._session.execute
        return (
            [build.stored(row) for row in run(self._sql["opened_states"], asked)],
            [build.link(row) for row in run(self._sql["opened_links"], asked)],
            [build.fact(row) for row in run(self._sql["opened_facts"], asked)],
        )

    def dump(self, table: str) -> Iterator[dict[str, Any]]:
        found = self._session.execute(self._sql[f"dump.{table}"])
        columns = [column[0] for column in found.description]
        for row in found:
            yield dict(zip(columns, row, strict=True))


def _rows(joined: str | None) -> list[int]:
    return list(map(int, joined.split(","))) if joined else []


def _tags(listed: str | None) -> tuple[str, ...]:
    return tuple(sorted(json.loads(listed))) if listed else ()
