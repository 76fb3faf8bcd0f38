"""Lets the tests of MemPalace call our toolset: each of its tool functions asks a bank beside the test's palace.

Rows that a test's fixtures wrote into the palace are filed in the bank before each call, with the same ids.
"""

from __future__ import annotations

import inspect
import json
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.originals import recorder
from pieria.toolsets import Banks, Host, Paths, called, registry
from pieria.workspace import Workspace

PALACE = registry().only("mempalace")
STORE = "chroma.sqlite3"
PARENTS = ("parent_drawer_id", "parent_entry_id")


def pytest_sessionstart(session: Any) -> None:
    """Replace the tool functions after the conftest has moved the home, and before the tests import them."""
    mcp_server: Any = import_module("mempalace.mcp_server")
    banks: dict[str, _Beside] = {}
    _read_our_graph(banks)
    for name, entry in mcp_server.TOOLS.items():
        if name in PALACE.names:
            function = entry["handler"]
            ours = _asking(name, function, mcp_server, banks)
            setattr(mcp_server, function.__name__, ours)
            entry["handler"] = ours


def _asking(tool: str, theirs: Callable[..., Any], server: Any, banks: dict[str, _Beside]) -> Callable[..., Any]:
    signature = inspect.signature(theirs)

    @wraps(theirs)
    def ask(*args: Any, **kwargs: Any) -> Any:
        given = dict(signature.bind(*args, **kwargs).arguments)
        given |= given.pop("kwargs", {})
        palace, graph = str(server._config.palace_path), _graph_of(server)
        beside = banks.setdefault(palace, _Beside(palace))
        return beside.ask(tool, given, graph)

    return ask


def _read_our_graph(banks: dict[str, _Beside]) -> None:
    """Let the tests that look into the graph after a call see our graph."""
    graphs: Any = import_module("mempalace.knowledge_graph").KnowledgeGraph
    theirs = graphs.query_entity

    @wraps(theirs)
    def query(graph: Any, name: str, as_of: str | None = None, direction: str = "outgoing") -> Any:
        beside = next((one for one in banks.values() if one.graph == Path(graph.db_path)), None)
        if beside is None:
            return theirs(graph, name, as_of=as_of, direction=direction)
        given = {"entity": name, "as_of": as_of, "direction": direction}
        return beside.ask("mempalace_kg_query", given, beside.graph)["facts"]

    graphs.query_entity = query


def _graph_of(server: Any) -> Path | None:
    path = getattr(server._get_kg(), "db_path", None)
    return None if path is None else Path(path)


class _Beside:
    """A workspace beside one palace."""

    def __init__(self, palace: str) -> None:
        self._palace = Path(palace)
        self.graph: Path | None = None
        data = Path(tempfile.mkdtemp(prefix="pieria-"))
        workspace = Workspace(data, embedder=_embed, by_door=True)
        paths = Paths(self._palace, (Path("/"),))
        self._host = Host(Banks(workspace, "original"), "palace", "test", paths)
        self._seen: set[str] = set()

    def ask(self, tool: str, given: dict[str, Any], graph: Path | None) -> Any:
        self.graph = graph
        triples = list(_triples(graph))
        if triples or (self._palace / STORE).exists():
            self._file(triples)
        recorder.count_call()
        return json.loads(called(PALACE, tool, given, self._host).written)

    def _file(self, triples: list[dict[str, Any]]) -> None:
        bank = self._host.banks.opened("palace", "test")
        new = [row for row in _drawers(self._palace / STORE) if row["id"] not in self._seen]
        for row in new:
            self._seen.add(row["id"])
            wing, room = row.get("wing") or "unknown", row.get("room") or "unknown"
            bank.remember(
                row["text"],
                id=row["id"],
                kind="diary" if room == "diary" else "drawer",
                place=f"{wing}/{room}",
                at=row.get("filed_at"),
                source=row.get("source_file") or None,
                author=row.get("agent") or row.get("added_by"),
                body={"type": "diary" if room == "diary" else "fact", "topic": row.get("topic", "general")},
            )
        for row in triples:
            if row["id"] not in self._seen:
                self._seen.add(row["id"])
                bank.facts.add(
                    row["subject"], row["predicate"], row["object"],
                    valid_from=row["valid_from"], valid_until=row["valid_to"],
                    confidence=row["confidence"], source=row["source_closet"],
                )  # fmt: skip


def _embed(texts: list[str]) -> list[list[float]]:
    return [sys.modules["conftest"]._stable_test_embedding(text) for text in texts]


def _drawers(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the palace's logical drawers: the chunks of one are joined."""
    if not path.exists():
        return
    with closing(sqlite3.connect(path)) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        if "embedding_metadata" not in tables:
            return
        rows: dict[int, dict[str, Any]] = {}
        for number, id in connection.execute(
            "SELECT e.id, e.embedding_id FROM embeddings e JOIN segments s ON s.id = e.segment_id"
            " JOIN collections c ON c.id = s.collection WHERE c.name = 'mempalace_drawers' ORDER BY e.id"
        ):
            rows[number] = {"id": id, "text": ""}
        for number, key, *values in connection.execute(
            "SELECT id, key, string_value, int_value, float_value, bool_value FROM embedding_metadata"
        ):
            if number in rows:
                rows[number]["text" if key == "chroma:document" else key] = next(
                    (value for value in values if value is not None), None
                )
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows.values():
        groups.setdefault(next((row[key] for key in PARENTS if row.get(key)), row["id"]), []).append(row)
    for id, chunks in groups.items():
        chunks.sort(key=lambda row: row.get("chunk_index") or 0)
        yield {**chunks[0], "id": id, "text": "".join(row["text"] for row in chunks)}


def _triples(path: Path | None) -> Iterator[dict[str, Any]]:
    if path is None or not path.exists():
        return
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        yield from map(dict, connection.execute(
            "SELECT t.id, s.name AS subject, t.predicate, o.name AS object, t.valid_from, t.valid_to,"
            " t.confidence, t.source_closet FROM triples t"
            " JOIN entities s ON s.id = t.subject JOIN entities o ON o.id = t.object ORDER BY t.rowid"
        ))  # fmt: skip
