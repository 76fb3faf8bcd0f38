"""Zep: the graphs of its cloud, or records of a graph saved from its SDK as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pieria.importers import Importer, server
from pieria.importers.graphiti import graph_file
from pieria.importers.items import Item, Left
from pieria.importers.source import Source
from pieria.importers.temporal_graph import Graph
from pieria.importers.values import name_of

EXPECTS = "the address of Zep, such as https://api.getzep.com/api/v4, or a JSON file of episodes, nodes and edges"
KEY = "ZEP_API_KEY"
PAGE = 100
_NAMES = ("user_id", "uuid", "graph_uuid", "graph_id", "name")
_LEFT = ("hyperedges", "observations", "summaries of threads and documents")


def read(source: Source) -> Iterator[Item]:
    if not source.is_server:
        yield from graph_file(source, EXPECTS)
        return
    with server.opened(source, "zep", KEY, ("Authorization", "Api-Key ")) as api:
        for uuid in _graphs(api, source):
            yield from _graph(api, uuid)
    for what in _LEFT:
        yield Left(f"{what}, which Zep derives from episodes")


def _graphs(api: server.Server, source: Source) -> Iterator[str]:
    """Yield the graphs of users, then those without a user; with `user` only the graphs of that name."""
    seen: set[str] = set()
    for path, key in (("/users/list", "graph_uuid"), ("/graphs/list", "uuid")):
        for row in api.pages(path, {}, PAGE):
            uuid = name_of(row.get(key)) if isinstance(row, Mapping) else None
            is_wanted = source.user is None or source.user in [row.get(name) for name in _NAMES]
            if uuid is not None and is_wanted and uuid not in seen:
                seen.add(uuid)
                yield uuid


def _graph(api: server.Server, uuid: str) -> Iterator[Item]:
    graph = Graph()
    for what in ("episodes", "nodes", "edges"):
        rows: Iterator[Any] = api.pages(f"/graphs/{server.quoted(uuid)}/{what}/list", {}, PAGE)
        for number, row in enumerate(rows, 1):
            if what == "nodes" and isinstance(row, Mapping):
                graph.learn(row)
            yield from graph.items(row, f"graph {uuid}, {what}[{number - 1}]")


IMPORTER = Importer("zep", "Zep", EXPECTS, read, servers=True, token=KEY)
