"""Reads the facts of a bank: current ones, those about a name, and those whose memories are visible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pieria.record.fact import Fact, FactName, FactQuery
from pieria.record.filter import ANY_TIME, Filter
from pieria.record.memory import ENDINGS
from pieria.store.facts import FactSpan
from pieria.store.sql import rows as build
from pieria.store.sql.session import Cursor, Session, there
from pieria.store.sql.visibility import Compiled, compiled, hides


class FactRows:
    """The reader's part for facts."""

    _session: Session
    _sql: Mapping[str, str]

    def facts(self, query: FactQuery, filter: Filter) -> list[Fact]:
        return [build.fact(row) for row in self._found_facts("columns.fact", query, filter)]

    def spans(self, query: FactQuery, filter: Filter) -> list[FactSpan]:
        return list(map(build.span, self._found_facts("columns.span", query, filter)))

    def _found_facts(self, columns: str, query: FactQuery, filter: Filter) -> Cursor:
        blocks = self._session.statements("lookups.sql")
        visible, params = self._visible_sources(filter)
        parts = [] if query.every_version else [blocks["known_now" if filter.known_at is None else "known_at"]]
        if not query.include_ended:
            parts.append(blocks["standing"])
        if not filter.quarantined and hides(self._session):
            parts.append(blocks["fact_free"])
        for name in ("ids", "subject_keys", "predicate_keys", "object_keys", "either_keys"):
            wanted = getattr(query, name)
            if wanted is not None:
                parts.append(blocks["by_ids" if name == "ids" else name])
                params["ids" if name == "ids" else name] = self._session.listed(wanted)
        if query.memory is not None:
            parts.append(blocks["fact_memory"])
            params["memory"] = query.memory
        if query.memories is not None:
            parts.append(blocks["fact_memories"])
            params["memories"] = self._session.listed(query.memories)
        if query.source is not None:
            parts.append(blocks["fact_source"])
            params["source"] = query.source
        sql = self._sql["facts" if filter.valid_at == ANY_TIME else "facts_within_memories"]
        where = " AND ".join(parts) or "1 = 1"
        sql = sql.format(columns=self._sql[columns], where=where, visible=visible, begin=blocks["fact_begin"])
        return self._session.execute(sql, params)

    def sourceless(self, after: int, limit: int) -> list[tuple[int, Fact]]:
        asked = {"after": after, "limit": limit}
        return [(row[0], build.fact(row)) for row in self._session.execute(self._sql["sourceless"], asked).fetchall()]

    def last_fact(self) -> int:
        found: int = self._session.execute(self._sql["last_fact"]).fetchone()[0]
        return found

    def drawn(self, keys: Sequence[str], filter: Filter, newest: int, *, ended: bool = False) -> list[FactSpan]:
        if not there(self._session).facts:
            return []
        blocks = self._session.statements("lookups.sql")
        seen, params = compiled(self._session, filter, probe=True)
        known = blocks["known_now" if filter.known_at is None else "known_at"]
        parts = [known, blocks["standing"], blocks["fact_drawn"]]
        holds = blocks["fact_holds"] if "valid_at" in params else None
        groups = [[*parts, holds]] if holds else [parts]
        groups += [[*parts, f"NOT ({holds})"]] if holds and ended else []
        found: list[set[int]] = [set() for _ in groups]
        for side in ("subject", "object"):
            named = self._session.execute(self._sql[f"drawn.{side}_keys"], {"keys": self._session.listed(keys)})
            for (key,) in named.fetchall():
                asked = {**params, "key": key, "known_at": filter.known_at, "newest": newest}
                for entries, group in zip(found, groups, strict=True):
                    sql = self._sql[f"drawn.{side}"].format(where=" AND ".join(group), seen=seen)
                    entries.update(entry for (entry,) in self._session.execute(sql, asked))
        wanted = [entry for entries in found for entry in sorted(entries, reverse=True)[:newest]]
        if not wanted:
            return []
        visible, params = self._visible_sources(filter)
        params["entries"] = self._session.listed(wanted)
        sql = self._sql["facts" if filter.valid_at == ANY_TIME else "facts_within_memories"]
        free = [blocks["fact_free"]] if not filter.quarantined and hides(self._session) else []
        where = " AND ".join([blocks["fact_entries"], *free])
        begin = blocks["fact_begin"]
        sql = sql.format(columns=self._sql["columns.span"], where=where, visible=visible, begin=begin)
        return list(map(build.span, self._session.execute(sql, params)))

    def names(self, filter: Filter, prefix: str = "") -> list[FactName]:
        blocks = self._session.statements("lookups.sql")
        visible, params = self._visible_sources(filter)
        known = blocks["known_now" if filter.known_at is None else "known_at"]
        parts = [known, blocks["standing"]]
        if not filter.quarantined and hides(self._session):
            parts.append(blocks["fact_free"])
        sql = self._sql["fact_names"].format(where=" AND ".join(parts), visible=visible)
        return [build.name(row) for row in self._session.execute(sql, {**params, "prefix": prefix}).fetchall()]

    def spelling(self, key: str, *, predicate: bool = False) -> str | None:
        sql = self._sql["spelling.predicate" if predicate else "spelling.entity"]
        found: str | None = self._session.execute(sql, {"key": key}).fetchone()[0]
        return found

    def _visible_sources(self, filter: Filter) -> Compiled:
        """Return the predicate for memories behind facts. Their own valid time does not matter for visibility."""
        asked = filter.having(valid_at=ANY_TIME, status=None, ids=None)
        if filter.endings != ("",):
            visible = compiled(self._session, asked, probe=True)
            return Compiled(visible.where, {"known_at": filter.known_at, **visible.params})
        # A fact that was stated alone ends together with the memory that states it, and its row records that.
        visible = compiled(self._session, asked.having(endings=ENDINGS), probe=True)
        where = f"{visible.where} AND {self._session.statements('lookups.sql')['stands']}"
        return Compiled(where, {"known_at": filter.known_at, **visible.params})
