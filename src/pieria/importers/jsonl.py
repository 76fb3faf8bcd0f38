"""JSON lines: memories with the parameters of `remember`, facts and links. `pieria export --to jsonl` writes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from difflib import get_close_matches
from typing import Any

from pieria.errors import InputError, TransferError
from pieria.importers import Importer
from pieria.importers.files import json_values
from pieria.importers.items import Item, Left, MemoryItem, Problem
from pieria.importers.source import Source
from pieria.importers.values import digest_of
from pieria.mining.said import excerpt
from pieria.record import check
from pieria.record.draft import NewFact, NewLink, NewMemory, as_new
from pieria.record.link import End, Place
from pieria.record.memory import GIVEN_STATUSES, TIERS
from pieria.record.time import instant
from pieria.record.usage import Usage

EXPECTS = "a file of JSON lines, each a text or an object with a text"
_UNUSED = ("vectors", "unless_exists", "extract", "via")
"""Parameters of `remember` that an import decides."""
_MEMORY = tuple(field.name for field in fields(NewMemory) if field.name not in _UNUSED)
_MEMBERS = ("", "memories", "facts", "links")
"""The lists of a document that `pieria export --to json` wrote."""
_STATE = ("status", "tier", "usage")
_FACT = tuple(name for name in NewFact._fields if name != "id")
_LINK = ("source", "source_is", "relation", "target", "target_is", "weight", "label", "meta")


def read(source: Source) -> Iterator[Item]:
    path = source.path
    if path.is_dir():
        raise TransferError(path, "it is a folder", hint=f"Expected {EXPECTS}.")
    for found in json_values(source, path):
        if isinstance(found, Problem | Left):
            yield found
            continue
        if found.key not in _MEMBERS:
            continue
        if isinstance(found.value, Mapping) and found.value.get("pieria") == "export":
            raise TransferError(path, "it is an export of Pieria", hint="Import it without --from.")
        try:
            yield _item(found.value)
        except InputError as problem:
            yield Problem(found.where, problem.message, excerpt(found.value))


def _item(value: Any) -> Item:
    if isinstance(value, str):
        return MemoryItem(digest_of(value), NewMemory(value))
    if not isinstance(value, Mapping):
        raise InputError("line", "a text or an object", value)
    if "subject" in value:
        return _fact(value)
    return _link(value) if "relation" in value else _memory(value)


def _memory(value: Mapping[str, Any]) -> MemoryItem:
    _check_names(value, (*_MEMORY, *_STATE))
    origin = check.identifier(value["id"], "id") if "id" in value else digest_of(value)
    new = as_new({name: given for name, given in value.items() if name in _MEMORY and given is not None})
    status = check.one_of(value.get("status", "active"), "status", GIVEN_STATUSES)
    tier = check.one_of(value.get("tier", "working"), "tier", TIERS)
    return MemoryItem(origin, new, status, tier, _usage(value["usage"]) if value.get("usage") else None)


def _usage(value: Any) -> Usage:
    if not isinstance(value, Mapping):
        raise InputError("usage", "an object", value)
    _check_names(value, tuple(Usage.__slots__), "usage.")
    given = {name: number for name, number in value.items() if number is not None}
    for name in ("last_access", "last_review"):
        if name in given:
            given[name] = instant(given[name], f"usage.{name}")
    for name in ("accesses", "reviews", "crossings", "rewarded"):
        check.whole(given.get(name, 0), f"usage.{name}")
    for name in ("rewards", "spaced"):
        check.number(given.get(name, 0.0), f"usage.{name}", -1e9, 1e9)
    return Usage(**given)


def _fact(value: Mapping[str, Any]) -> NewFact:
    _check_names(value, (*_FACT, "id"))
    missing = next((name for name in ("subject", "predicate", "object") if name not in value), None)
    if missing is not None:
        raise InputError(missing, "a text", None)
    values = {name: given for name, given in value.items() if name in _FACT}
    return NewFact(_origin(value), **values)


def _link(value: Mapping[str, Any]) -> NewLink:
    _check_names(value, (*_LINK, "id"))
    ends: dict[str, Any] = {}
    for end in ("source", "target"):
        name = check.identifier(value.get(end), end)
        is_place = check.one_of(value.get(f"{end}_is", "memory"), f"{end}_is", ("memory", "place")) == "place"
        ends[end] = Place(name) if is_place else End("memory", name)
    rest = {name: given for name, given in value.items() if name in ("relation", "weight", "label", "meta")}
    return NewLink(_origin(value), **ends, **{name: given for name, given in rest.items() if given is not None})


def _origin(value: Mapping[str, Any]) -> str:
    return check.identifier(value["id"], "id") if "id" in value else digest_of(value)


def _check_names(value: Mapping[str, Any], allowed: tuple[str, ...], before: str = "") -> None:
    for name in value:
        if name not in allowed:
            near = get_close_matches(str(name), allowed, 1)
            hint = f"Did you mean {near[0]}?" if near else None
            raise InputError(f"{before}{name}", f"one of {', '.join(allowed)}", value[name], hint=hint)


IMPORTER = Importer("jsonl", "JSON lines", EXPECTS, read)
