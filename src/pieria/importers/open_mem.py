"""open-mem: the database of a project or of the user, or the payload of its tool `mem-export`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pieria.errors import TransferError
from pieria.importers import Importer, database
from pieria.importers.database import Database
from pieria.importers.files import json_values
from pieria.importers.items import Item, Left, MemoryItem, Problem
from pieria.importers.observations import observation, summary, written
from pieria.importers.source import Source
from pieria.importers.values import name_of, names_of, number_of, text_of
from pieria.mining.said import excerpt
from pieria.record.draft import NewFact

EXPECTS = "a project with .open-mem/memory.db, such a database, or the payload of mem-export"
SYSTEM = "open-mem"
REMOVED = "removed observations"
EARLIER = "earlier revisions; `mem-import` keeps those of a payload"
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_PLACES = ("memory.db", ".open-mem/memory.db", "user-memory.db")
_ENTITIES = """
SELECT json_group_array(name) FROM entities JOIN entity_observations ON entity_id = id WHERE observation_id = ?
"""
_RELATIONS = """
SELECT r.id, s.name AS subject, r.relationship, t.name AS object, r.observation_id, r.created_at
FROM entity_relations r JOIN entities s ON s.id = source_entity_id JOIN entities t ON t.id = target_entity_id
ORDER BY r.rowid
"""


def read(source: Source) -> Iterator[Item]:
    path = source.path
    if path.is_dir():
        found = next((path / name for name in _PLACES if database.is_database(path / name)), None)
        if found is None:
            raise TransferError(path, "it has no store of open-mem", hint=f"Expected {EXPECTS}.")
        path = found
    if database.is_database(path):
        yield from _database(source, path)
    else:
        yield from _payload(source, path)


# --- its database


def _database(source: Source, path: Path) -> Iterator[Item]:
    with database.opened(path) as base:
        tables = base.tables()
        if not tables & {"observations", "user_observations"}:
            raise TransferError(path, "it is no store of open-mem", hint=f"Expected {EXPECTS}.")
        source.total = sum(base.count(name) for name in ("observations", "user_observations") if name in tables)
        has_entities = {"entities", "entity_observations", "entity_relations"} <= tables
        for name in ("observations", "user_observations"):
            for row in base.rows(name) if name in tables else ():
                entities = _entities(base, row) if has_entities and name == "observations" else []
                yield _observation(row, f"{path.name}, {name}", entities, is_users=name == "user_observations")
        for row in base.rows("session_summaries") if "session_summaries" in tables else ():
            yield _summary(row, f"{path.name}, session_summaries")
        for row in base.query(_RELATIONS) if has_entities else ():
            yield NewFact(
                str(row["id"]), row["subject"], row["relationship"], row["object"], memory=row["observation_id"],
                at=written(row),
            )  # fmt: skip


def _entities(base: Database, row: Mapping[str, Any]) -> list[str]:
    [found] = base.query(_ENTITIES, row.get("id"))
    return names_of(json.loads(next(iter(found.values()))))


# --- its payload


def _payload(source: Source, path: Path) -> Iterator[Item]:
    is_one = False
    for found in json_values(source, path):
        if isinstance(found, Problem | Left):
            yield found
        elif found.key == "observations":
            is_one = True
            yield _record(found.value, found.where)
        elif found.key in ("data", "payload", ""):
            # The whole reply of mem-export, or its data.
            inner = _unwrapped(found.value)
            is_one |= bool(inner)
            for number, row in enumerate(inner.get("observations", ())):
                yield _record(row, f"{path.name}, observations[{number}]")
            for number, row in enumerate(inner.get("summaries") or ()):
                yield _summary(_snake(row), f"{path.name}, summaries[{number}]")
        elif found.key == "summaries":
            yield _summary(_snake(found.value), found.where)
        elif found.key == "revisions":
            yield Left(EARLIER)
    if not is_one:
        raise TransferError(path, "it is no payload of open-mem", hint=f"Expected {EXPECTS}.")


def _unwrapped(value: Any) -> dict[str, Any]:
    """Return the payload inside a reply; nothing if there is none."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    if not isinstance(value, dict):
        return {}
    if isinstance(value.get("observations"), list):
        return value
    return next((inner for name in ("data", "payload") if (inner := _unwrapped(value.get(name)))), {})


def _snake(row: Any) -> Any:
    """Return a record of a payload with the names of columns."""
    if not isinstance(row, Mapping):
        return row
    return {_CAPITAL.sub("_", str(name)).lower(): value for name, value in row.items()}


def _record(row: Any, where: str) -> Item:
    return _observation(_snake(row), where, [], is_users=isinstance(row, Mapping) and row.get("scope") == "user")


# --- both


def _observation(row: Any, where: str, entities: list[str], *, is_users: bool) -> Item:
    origin = text_of(row.get("id")) if isinstance(row, Mapping) else None
    if origin is None:
        return Problem(where, "expected an observation with an id", excerpt(row))
    if row.get("deleted_at"):
        return Left(REMOVED)
    if row.get("superseded_by"):
        return Left(EARLIER)
    new = observation(
        row,
        entities=entities,
        importance=(number_of(row.get("importance"), 3, 1, 5) - 1) / 4,
        scope="user" if is_users else "bank",
        source=name_of(row.get("tool_name")),
        session=name_of(row.get("session_id")),
        at=written(row),
        meta={"project": project} if (project := name_of(row.get("source_project"))) else {},
    )
    return Problem(where, "expected an observation with a title or a text", excerpt(row)) if new is None else (
        MemoryItem(origin, new)
    )  # fmt: skip


def _summary(row: Any, where: str) -> Item:
    origin = text_of(row.get("id")) if isinstance(row, Mapping) else None
    new = None
    if origin is not None:
        new = summary(row, session=name_of(row.get("session_id")), at=written(row))
    if origin is None or new is None:
        return Problem(where, "expected a summary with an id and a text", excerpt(row))
    return MemoryItem(origin, new)


def find(environment: Mapping[str, str], home: Path) -> Path | None:
    """Return the user's store. The store of a project comes with its folder, which another person may have filled."""
    named = environment.get("OPEN_MEM_DB_PATH") or ""
    places = [Path(named)] if Path(named).is_absolute() else []
    places.append(home / ".config" / "open-mem" / "user-memory.db")
    return next((path for path in places if database.is_database(path)), None)


IMPORTER = Importer(SYSTEM, "open-mem", EXPECTS, read, find)
