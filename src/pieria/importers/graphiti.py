"""Graphiti: records of its graph as JSON, the JSON of Neo4j's APOC export, or the episodes of its server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pieria.errors import InputError, TransferError
from pieria.importers import Importer, server
from pieria.importers.files import Found, json_values
from pieria.importers.items import Item, Left
from pieria.importers.source import Source
from pieria.importers.temporal_graph import COMMUNITY, EDGE, ENTITY, Graph, kind_of

EXPECTS = "a JSON file of nodes and edges of Graphiti, an APOC export of its Neo4j database, or its server's address"
EPISODES = 1_000_000
KEY = "GRAPHITI_API_KEY"
_STRUCTURE = "edges that only lead from episodes, communities and sagas to their members"


def read(source: Source) -> Iterator[Item]:
    if source.is_server:
        yield from _served(source)
        return
    yield from graph_file(source, EXPECTS)


def graph_file(source: Source, expects: str) -> Iterator[Item]:
    """Yield the items of a file of records. It is read twice: edges may come before the entities that they name."""
    path = source.path
    if not path.is_file():
        raise TransferError(path, "it is a folder", hint=f"Expected {expects}.")
    graph = Graph()
    for found in json_values(source, path):
        if (
            isinstance(found, Found)
            and (row := _record(found.value)) is not None
            and kind_of(row) in (ENTITY, COMMUNITY)
        ):
            graph.learn(row)
    for edges in (False, True):
        # Links name episodes, so that edges come last.
        for found in json_values(source, path):
            if not isinstance(found, Found):
                if edges:
                    yield found
                continue
            row = _record(found.value)
            if (kind_of(row) == EDGE) == edges:
                yield from _items(graph, source, row, found)


def _items(graph: Graph, source: Source, row: Mapping[str, Any] | None, found: Found) -> Iterator[Item]:
    if row is not None and source.user is not None and source.user not in _owners(row):
        yield Left("records of other groups or users")
    elif row is not None and (kind_of(row) is not None or "uuid" not in row):
        yield from graph.items(row, found.where)
    elif row is not None or (isinstance(found.value, Mapping) and found.value.get("type") == "relationship"):
        yield Left(_STRUCTURE)
    elif isinstance(found.value, Mapping | list):
        yield from graph.items(found.value, found.where)


def _owners(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return row.get("group_id"), row.get("user_uuid"), row.get("graph_uuid")


def _record(value: Any) -> dict[str, Any] | None:
    """Return the record in a value; an APOC export wraps the properties of nodes and relationships."""
    if not isinstance(value, Mapping):
        return None
    if value.get("type") == "node" and isinstance(value.get("properties"), Mapping):
        return {"labels": value.get("labels") or [], **value["properties"]}
    if value.get("type") == "relationship":
        properties = value.get("properties")
        if value.get("label") != "RELATES_TO" or not isinstance(properties, Mapping):
            return None
        ends = {f"{name}_node_uuid": _uuid_of(value.get(end)) for name, end in (("source", "start"), ("target", "end"))}
        return {**{name: uuid for name, uuid in ends.items() if uuid is not None}, **properties}
    return dict(value)


def _uuid_of(end: Any) -> str | None:
    properties = end.get("properties") if isinstance(end, Mapping) else None
    uuid = properties.get("uuid") if isinstance(properties, Mapping) else None
    return uuid if isinstance(uuid, str) else None


def _served(source: Source) -> Iterator[Item]:
    """Yield the episodes of a group. The server lists no edges; it only searches them."""
    if source.user is None:
        raise InputError("user", "the group whose episodes the server shall list", None)
    with server.opened(source, "graphiti", KEY) as api:
        graph = Graph()
        reply = api.get(f"/episodes/{server.quoted(source.user)}", last_n=EPISODES)
        rows = api.rows(reply, "episodes")
        source.total = len(rows)
        for number, row in enumerate(rows, 1):
            yield from graph.items(row, f"episode {number:,}")
    yield Left("facts, which the server does not list: export the database instead")


IMPORTER = Importer("graphiti", "Graphiti", EXPECTS, read, servers=True, token=KEY)
