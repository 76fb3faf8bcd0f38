"""plugmem: the lines that `plugmem-cli export` writes, facts first and then edges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pieria.errors import TransferError
from pieria.importers import Importer
from pieria.importers.files import Found, json_values
from pieria.importers.items import Item, MemoryItem, Problem
from pieria.importers.source import Source
from pieria.importers.values import digest_of, moment_of, name_of, names_of, object_of, text_of
from pieria.mining.said import excerpt
from pieria.record.draft import NewFact, NewMemory

EXPECTS = "a file that `plugmem-cli export` wrote"
_KIND = "kind"


def read(source: Source) -> Iterator[Item]:
    path = source.path
    if not path.is_file() or path.suffix == ".plugmem":
        raise TransferError(
            path, "it is no export of plugmem", hint=f"Expected {EXPECTS}: run it with --db {path.name}."
        )
    origins: dict[str, str] = {}
    for found in json_values(source, path):
        if not isinstance(found, Found):
            yield found
        elif isinstance(found.value, Mapping) and (found.value.get(_KIND) == "edge" or "src" in found.value):
            yield _edge(found.value, found.where, origins)
        else:
            yield _fact(found.value, found.where, origins)


def _fact(row: Any, where: str, origins: dict[str, str]) -> Item:
    text = text_of(row.get("text")) if isinstance(row, Mapping) else None
    if text is None:
        return Problem(where, "expected a fact with text", excerpt(row))
    entity = name_of(row.get("entity"))
    begins = moment_of(row.get("valid_from"))
    # Every database numbers its facts from 0, so that numbers tell nothing across files.
    origin = digest_of(text, entity, row.get("valid_from"))
    if row.get("id") is not None:
        origins[str(row["id"])] = origin
    new = NewMemory(
        text, tags=names_of(row.get("tags")), entities=[entity] if entity else [], valid_from=begins,
        at=moment_of(row.get("recorded_at")) or begins, meta=object_of(row.get("metadata")),
    )  # fmt: skip
    return MemoryItem(origin, new)


def _edge(row: Mapping[str, Any], where: str, origins: Mapping[str, str]) -> Item:
    source, relation, target = name_of(row.get("src")), name_of(row.get("rel")), name_of(row.get("dst"))
    if source is None or relation is None or target is None:
        return Problem(where, "expected an edge with src, rel and dst", excerpt(row))
    memory = origins.get(str(row.get("provenance")))
    return NewFact(digest_of(source, relation, target), source, relation, target, memory=memory)


IMPORTER = Importer("plugmem", "plugmem", EXPECTS, read)
