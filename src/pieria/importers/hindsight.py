"""Hindsight: the memories and documents of a bank, from its server or from a saved list of memories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pieria.errors import AdapterError, TransferError
from pieria.importers import Importer, server
from pieria.importers.files import Found, json_values
from pieria.importers.items import Item, Left, MemoryItem, Problem
from pieria.importers.source import Source
from pieria.importers.values import moment_of, name_of, names_of, object_of, text_of, without_nothing
from pieria.mining.passage_cutter import cut
from pieria.mining.said import excerpt
from pieria.record.draft import NewLink, NewMemory
from pieria.record.link import End

EXPECTS = "the address of a server of Hindsight, or a JSON file with its list of memories"
KEY = "HINDSIGHT_API_KEY"
PAGE = 100
LONGEST = 200_000
"""Characters of a document's text in one memory."""
DRAWN = "drawn_from"
_KEPT = ("fact_type", "chunk_id", "proof_count", "mentioned_at", "occurred_start", "occurred_end", "consolidated_at",
         "invalidation_reason", "edited_at", "updated_at")  # fmt: skip
_OTHERS = "mental models, directives and knowledge pages, which Hindsight derives or is told apart"


def read(source: Source) -> Iterator[Item]:
    if source.is_server:
        with server.opened(source, "hindsight", KEY) as api:
            for bank in _banks(api, source):
                yield from _bank(api, source, bank)
        yield Left(_OTHERS)
        return
    path = source.path
    if not path.is_file():
        raise TransferError(path, "it is a folder", hint=f"Expected {EXPECTS}.")
    for linked in (False, True):
        # An observation may come before the facts that it was drawn from.
        for found in json_values(source, path):
            if not isinstance(found, Found):
                if not linked:
                    yield found
            elif found.key in ("", "items", "memories", "results"):
                yield from _drawn(found.value) if linked else [_memory(found.value, None, found.where)]


def _banks(api: server.Server, source: Source) -> list[str]:
    if source.user is not None:
        return [source.user]
    rows = api.rows(api.get("/v1/default/banks"), "banks")
    return [name for row in rows if isinstance(row, Mapping) and (name := name_of(row.get("bank_id"))) is not None]


def _bank(api: server.Server, source: Source, bank: str) -> Iterator[Item]:
    at = f"/v1/default/banks/{server.quoted(bank)}"
    for row, where in _pages(api, source, f"{at}/documents", bank):
        yield from _document(api, at, bank, row, where)
    for row, where in _pages(api, source, f"{at}/memories/list", bank):
        yield _memory(row, bank, where)
    for row, _ in _pages(api, source, f"{at}/memories/list", bank):
        yield from _drawn(row)


def _pages(api: server.Server, source: Source, path: str, bank: str) -> Iterator[tuple[Any, str]]:
    begun = 0
    while True:
        reply = api.get(path, limit=PAGE, offset=begun)
        rows = api.rows(reply, "items")
        if begun == 0 and isinstance(reply, Mapping) and isinstance(reply.get("total"), int):
            source.total += reply["total"]
        yield from (
            (row, f"bank {bank}, {path.rsplit('/', 1)[-1]}[{begun + number}]") for number, row in enumerate(rows)
        )
        begun += len(rows)
        if len(rows) < PAGE:
            return


def _memory(row: Any, bank: str | None, where: str) -> Item:
    text = text_of(row.get("text")) if isinstance(row, Mapping) else None
    origin = name_of(row.get("id")) if isinstance(row, Mapping) else None
    if text is None or origin is None:
        return Problem(where, "expected a memory with id and text", excerpt(row))
    kind = name_of(row.get("fact_type") or row.get("type"))
    ended = moment_of(row.get("invalidated_at")) if row.get("state") == "invalidated" else None
    new = NewMemory(
        text,
        kind="summary" if kind == "observation" else "note",
        at=moment_of(row.get("occurred_start")) or moment_of(row.get("date")) or moment_of(row.get("mentioned_at")),
        context=text_of(row.get("context")),
        entities=names_of(row.get("entities")),
        tags=names_of(row.get("tags")),
        source=name_of(row.get("document_id")),
        valid_until=ended,
        meta=object_of(row.get("metadata"))
        | without_nothing({"bank_id": bank, **{name: row.get(name) for name in _KEPT}}),
    )
    return MemoryItem(origin, new)


def _drawn(row: Any) -> Iterator[Item]:
    """Yield links from an observation to the facts behind it."""
    origin = name_of(row.get("id")) if isinstance(row, Mapping) else None
    if origin is not None:
        for fact in row.get("source_memory_ids") or ():
            yield NewLink(f"{origin} {fact}", End("memory", origin), DRAWN, End("memory", str(fact)))


def _document(api: server.Server, at: str, bank: str, row: Any, where: str) -> Iterator[Item]:
    """Yield the original text of a document, in parts if it is long."""
    id = name_of(row.get("id")) if isinstance(row, Mapping) else None
    if id is None:
        yield Problem(where, "expected a document with an id", excerpt(row))
        return
    try:
        told = api.get(f"{at}/documents/{server.quoted(id)}")
    except AdapterError as problem:
        yield Problem(where, problem.message)
        return
    text = text_of(told.get("original_text")) if isinstance(told, Mapping) else None
    if text is None:
        yield Left("documents without their text")
        return
    for number, part in enumerate(cut(text, limit=LONGEST), 1):
        new = NewMemory(
            part, title=id[:200], kind="drawer", tags=names_of(told.get("tags")), source=id,
            at=moment_of(told.get("created_at")),
            meta=object_of(told.get("document_metadata")) | without_nothing({"bank_id": bank}),
        )  # fmt: skip
        yield MemoryItem(f"{bank}/{id}/{number}", new)


IMPORTER = Importer("hindsight", "Hindsight", EXPECTS, read, servers=True, token=KEY)
