"""Lets the tests of CortexGraph's tools call our toolset `mnemex`.

Its storage becomes a bank: a memory that a test stores is imported, and one that it reads is opened. A refusal counts
as such in any wording, as an exception or as a reply.
"""

from __future__ import annotations

import importlib
import inspect
import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.originals import recorder
from pieria.bank.capture.sources import Past
from pieria.importers.items import MemoryItem
from pieria.importers.mnemex import read
from pieria.importers.source import Source
from pieria.record.trust import HEARSAY
from pieria.toolsets import Banks, Host, Paths, called, registry
from pieria.workspace import Workspace

TOOLS = {
    "save_memory": "save", "search_memory": "search", "search_unified": "search_unified", "touch_memory": "touch",
    "analyze_message": "analyze_message", "analyze_for_recall": "analyze_for_recall", "gc": "gc",
    "promote_memory": "promote", "cluster_memories": "cluster", "consolidate_memories": "consolidate",
    "open_memories": "open_memories", "create_relation": "create_relation", "read_graph": "read_graph",
}  # fmt: skip
"""The original's functions, and the modules that tests import them from."""
FILES = {"memories": "memories.jsonl", "relations": "relations.jsonl"}
_opened: list[Store] = []
_expected: list[object] = []


class Refused(ValueError):
    """An error reply where a test expects an exception."""


class Store:
    """The original's storage as far as tests use it, over a bank."""

    def __init__(self, storage_path: Any = None) -> None:
        self.storage_path = storage_path or tempfile.mkdtemp(prefix="mnemex-")
        self._host: Host | None = None
        self._key = ""
        self._ids: dict[str, str] = {}
        """Ids of relations in the tests, by ours."""
        _opened.append(self)

    def connect(self) -> None:
        """Do nothing: a call opens the bank."""

    def close(self) -> None:
        if self._host is not None:
            self._host.banks.close()
            self._host = None

    def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        reply = called(registry(), tool, arguments, self._hosted())
        if reply.is_error and _expected:
            raise Refused(reply.text)
        for relation in reply.value.get("relations", ()) if tool == "read_graph" else ():
            relation["id"] = self._ids.get(relation["id"], relation["id"])
        return reply.value

    def save_memory(self, memory: Any) -> None:
        folder = Path(tempfile.mkdtemp())
        row = {**memory.model_dump(mode="json"), "embed": None}
        (folder / FILES["memories"]).write_text(json.dumps(row) + "\n", "utf-8")
        for item in read(Source(folder)):
            if isinstance(item, MemoryItem):
                # The tests ask for their own ids; an import keeps only those that are unique everywhere.
                intake = self._hosted().bank.sources.intake(via=HEARSAY)
                past = Past(item.status, item.tier, item.usage)
                intake.take([replace(item.new, id=item.origin)], pasts={item.origin: past})

    def get_memory(self, id: str) -> Any:
        found = self.call("open_memories", {"memory_ids": [id]})["memories"]
        if not found:
            return None
        models, one = importlib.import_module("cortexgraph.storage.models"), found[0]
        own = {name: value for name, value in one["meta"].items() if name != "imported_from"}
        meta = models.MemoryMetadata(tags=one["tags"], source=one["source"], context=one["context"], extra=own)
        named = ("id", "content", "entities", "strength", "status", "created_at", "last_used", "use_count")
        promoted = {name: one.get(name) for name in ("promoted_at", "promoted_to")}
        return models.Memory(meta=meta, **{name: one[name] for name in named}, **promoted)

    def create_relation(self, relation: Any) -> None:
        row = relation.model_dump(mode="json")
        names = ("from_memory_id", "to_memory_id", "relation_type", "strength", "metadata")
        made = self.call("create_relation", {name: row[name] for name in names if row[name] is not None})
        self._ids[made["relation_id"]] = row["id"]

    def get_relations(self, from_memory_id: Any = None, to_memory_id: Any = None, relation_type: Any = None) -> Any:
        models = importlib.import_module("cortexgraph.storage.models")
        return [
            models.Relation(
                id=self._ids.get(link.id, link.id), from_memory_id=link.source.name, to_memory_id=link.target.name,
                relation_type=link.relation, strength=link.weight, created_at=int(link.known_from.timestamp()),
                metadata=dict(link.meta),
            )
            for link in self._hosted().bank.links(relation=relation_type)
            if from_memory_id in (None, link.source.name) and to_memory_id in (None, link.target.name)
        ]  # fmt: skip

    def _hosted(self) -> Host:
        """Return the caller of tools, with the settings that the tests gave the original."""
        folder, settings = Path(self.storage_path), self._settings()
        key = json.dumps([str(folder), settings])
        if self._host is None or key != self._key:
            self.close()
            banks = Banks(Workspace(folder / "pieria", settings), "originals")
            self._host, self._key = Host(banks, "notes", None, Paths(folder, ())), key
        return self._host

    def _settings(self) -> dict[str, Any]:
        config = importlib.import_module("cortexgraph.config").get_config()
        vault = config.ltm_vault_path or Path(self.storage_path) / "vault"
        vault.mkdir(parents=True, exist_ok=True)
        folder = {"vault_folder": str(config.ltm_promoted_folder)} if config.ltm_promoted_folder else {}
        return {
            "enrich": config.enable_preprocessing, "forget_threshold": config.forget_threshold,
            "promote_threshold": config.promote_threshold, "vault": str(vault), "decay_model": "exponential", **folder,
        }  # fmt: skip


def _tool(name: str, module: Any) -> Callable[..., Any]:
    signature = inspect.signature(inspect.unwrap(getattr(module, name)))

    def call(*given: Any, **named: Any) -> Any:
        recorder.count_call()
        store = getattr(module, "db", None) or importlib.import_module("cortexgraph.context").db
        return store.call(name, dict(signature.bind(*given, **named).arguments))

    return call


_raises: Any = pytest.raises


@contextmanager
def raises(expected: Any, *, match: str | None = None) -> Iterator[Any]:
    """Expect a refusal; its wording is not compared."""
    _expected.append(expected)
    try:
        with _raises(expected) as found:
            yield found
    finally:
        _expected.pop()


def _adapt() -> None:
    storage: Any = importlib.import_module("cortexgraph.storage.jsonl_storage")
    storage.JSONLStorage = Store
    for name, place in TOOLS.items():
        module = importlib.import_module(f"cortexgraph.tools.{place}")
        setattr(module, name, _tool(name, module))
    changed: Any = pytest
    changed.raises = raises


_adapt()


@pytest.fixture(autouse=True)
def _closed_afterwards() -> Iterator[None]:
    yield
    for store in _opened:
        store.close()
