"""mem0: the result of `get_all` as a file, its history database, or a server: its platform's or one's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pieria.errors import InputError, TransferError
from pieria.importers import Importer, database, server
from pieria.importers.files import json_values
from pieria.importers.items import Item, Left, MemoryItem, Problem
from pieria.importers.source import Source
from pieria.importers.values import (
    digest_of,
    moment_of,
    name_of,
    names_of,
    object_of,
    text_of,
    without_nothing,
)
from pieria.mining.said import excerpt
from pieria.record.draft import NewFact, NewMemory

EXPECTS = "a file with the result of get_all, mem0's history.db, or the address of a server of mem0"
KEY = "MEM0_API_KEY"
PLATFORM = "mem0.ai"
PAGE = 100
OTHERS, OTHER_RELATIONS = "memories of other users", "relations of other users, or of none"
_LISTS = ("results", "memories", "")
_OWNERS = ("user_id", "agent_id", "app_id", "attributed_to")
_KEPT = ("hash", "immutable", "updated_at")
_AUTHORS = {"user": "human", "assistant": "agent", "system": "system", "tool": "system"}
_LAST = """
SELECT * FROM history AS one WHERE rowid = (
    SELECT rowid FROM history WHERE memory_id = one.memory_id ORDER BY coalesce(updated_at, created_at) DESC, rowid DESC
) ORDER BY rowid
"""
"""The last entry of each memory."""


def read(source: Source) -> Iterator[Item]:
    if source.is_server:
        yield from _served(source)
        return
    path = source.path / "history.db" if source.path.is_dir() else source.path
    if database.is_database(path):
        yield from _history(source, path)
        return
    if not path.is_file():
        raise TransferError(path, "there is no such file", hint=f"Expected {EXPECTS}.")
    for found in json_values(source, path):
        if isinstance(found, Problem | Left):
            yield found
        elif found.key == "relations":
            yield _fact(found.value, found.where) if _is_of_user(source, found.value) else Left(OTHER_RELATIONS)
        elif found.key in _LISTS:
            yield _memory(source, found.value, found.where)


def _memory(source: Source, row: Any, where: str) -> Item:
    text = text_of(row.get("memory")) if isinstance(row, Mapping) else None
    origin = name_of(row.get("id")) if isinstance(row, Mapping) else None
    if text is None or origin is None:
        return Problem(where, "expected an object with id and memory", excerpt(row))
    if source.user is not None and row.get("user_id") != source.user:
        return Left(OTHERS)
    role = row.get("role")
    new = NewMemory(
        text,
        tags=names_of(row.get("categories")),
        at=moment_of(row.get("created_at")),
        valid_until=moment_of(row.get("expiration_date")),
        session=name_of(row.get("run_id")),
        author=name_of(row.get("actor_id")),
        author_type=_AUTHORS.get(role) if isinstance(role, str) else None,
        meta=object_of(row.get("metadata")) | without_nothing({name: row.get(name) for name in (*_OWNERS, *_KEPT)}),
    )
    return MemoryItem(origin, new)


def _is_of_user(source: Source, row: Any) -> bool:
    return source.user is None or not isinstance(row, Mapping) or row.get("user_id") == source.user


def _fact(row: Any, where: str) -> Item:
    values = row if isinstance(row, Mapping) else {}
    subject, relation = name_of(values.get("source")), name_of(values.get("relationship") or values.get("relation"))
    object = name_of(values.get("target") or values.get("destination"))
    if subject is None or relation is None or object is None:
        return Problem(where, "expected a relation with source, relationship and target", excerpt(row))
    return NewFact(digest_of(subject, relation, object), subject, relation, object)


def _history(source: Source, path: Path) -> Iterator[Item]:
    """Yield the last text of each memory. The history has no users, no metadata and no categories."""
    with database.opened(path) as base:
        if "history" not in base.tables() or "memory_id" not in base.columns("history"):
            raise TransferError(path, "it has no table history", hint=f"Expected {EXPECTS}.")
        source.total = base.count("history")
        for row in base.query(_LAST):
            if row.get("is_deleted") or str(row.get("event")).upper() == "DELETE":
                yield Left("memories deleted in mem0")
                continue
            told = {"id": row["memory_id"], "memory": row.get("new_memory"), **row}
            yield _memory(Source(path), told | {"id": row["memory_id"]}, f"{path.name}, memory {row['memory_id']}")
        if "messages" in base.tables() and (number := base.count("messages")):
            yield Left("recent messages, which mem0 keeps only for its own prompts", number)


def _served(source: Source) -> Iterator[Item]:
    """Yield the pages of the platform, or what a server of one's own lists for a user."""
    is_platform = (urlsplit(source.name).hostname or "").endswith(PLATFORM)
    header = ("Authorization", "Token ") if is_platform else ("X-API-Key", "")
    with server.opened(source, "mem0", KEY, header) as api:
        if not is_platform:
            if source.user is None:
                raise InputError("user", "the user whose memories the server shall list", None)
            reply = api.get("/memories", user_id=source.user)
            for number, row in enumerate(api.rows(reply, "results", "memories"), 1):
                yield _memory(source, row, f"memory {number:,}")
            relations = reply.get("relations") if isinstance(reply, Mapping) else None
            for number, row in enumerate(relations or [], 1):
                yield _fact(row, f"relation {number:,}")
            return
        body = {"filters": {"user_id": source.user or "*"}}
        for page in range(1, server.MOST_PAGES):
            reply = api.post("/v3/memories/", body, page=page, page_size=PAGE)
            source.total = reply.get("count") or 0 if isinstance(reply, Mapping) else 0
            for number, row in enumerate(api.rows(reply, "results"), 1):
                yield _memory(source, row, f"page {page:,}, memory {number:,}")
            if not (isinstance(reply, Mapping) and reply.get("next")):
                return


def find(environment: Mapping[str, str], home: Path) -> Path | None:
    folder = Path(environment["MEM0_DIR"]) if environment.get("MEM0_DIR") else home / ".mem0"
    return folder / "history.db" if database.is_database(folder / "history.db") else None


IMPORTER = Importer("mem0", "mem0", EXPECTS, read, find, servers=True, token=KEY)
