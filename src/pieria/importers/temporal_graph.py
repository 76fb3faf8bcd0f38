"""Graphs of Graphiti and Zep: episodes, entities, and edges that state facts with times.

Both give records the same fields; where the records come from does not belong here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pieria.importers.items import Item, Left, MemoryItem, Problem
from pieria.importers.values import moment_of, name_of, object_of, text_of, without_nothing
from pieria.mining.said import excerpt
from pieria.record.draft import NewFact, NewLink, NewMemory
from pieria.record.link import End

EDGE, EPISODE, ENTITY, COMMUNITY = "edge", "episode", "entity", "community"
SAID_IN = "said_in"
"""The relation from a fact's sentence to the episode that stated it."""
_AUTHORS = {"user": "human", "assistant": "agent", "system": "system", "tool": "system", "function": "system"}
_EPISODE_KEPT = ("group_id", "graph_uuid", "user_uuid", "source", "document_id", "created_at")
_NOT_KEPT = frozenset(
    ("name_embedding", "fact_embedding", "uuid", "name", "summary", "created_at", "labels", "attributes", "fact",
     "episodes", "episode_uuids", "valid_at", "invalid_at", "source_node_uuid", "target_node_uuid", "source_node_name",
     "target_node_name", "expired_at", "reference_time", "score", "relevance")
)  # fmt: skip


def kind_of(row: object) -> str | None:
    """Return what a record is, by its fields; None for one that this module does not know."""
    if not isinstance(row, Mapping):
        return None
    if "fact" in row:
        return EDGE
    if "content" in row and ("source_description" in row or "source" in row or "role" in row):
        return EPISODE
    if "name" in row and ("summary" in row or "labels" in row):
        return COMMUNITY if "Community" in (row.get("labels") or ()) else ENTITY
    return None


class Graph:
    """One graph being read. It holds the names of its entities, because edges name only their ids."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def learn(self, row: Mapping[str, Any]) -> None:
        """Note the name of an entity."""
        uuid, name = name_of(row.get("uuid")), name_of(row.get("name"))
        if uuid is not None and name is not None:
            self._names[uuid] = name

    def items(self, row: Any, where: str) -> Iterator[Item]:
        """Yield what a record becomes. Names of entities must be known before."""
        kind = kind_of(row)
        if kind is None or name_of(row.get("uuid")) is None:
            yield Problem(where, "expected an episode, an entity or an edge, with its uuid", excerpt(row))
        elif kind == EDGE:
            yield from self._edge(row, where)
        else:
            yield _episode(row, where) if kind == EPISODE else _summary(row, kind)

    def _edge(self, row: Mapping[str, Any], where: str) -> Iterator[Item]:
        uuid, text = str(name_of(row["uuid"])), text_of(row.get("fact"))
        source, target = self._end(row, "source"), self._end(row, "target")
        if text is None:
            yield Problem(where, "expected an edge with a fact", excerpt(row))
            return
        begins, ends = moment_of(row.get("valid_at")), moment_of(row.get("invalid_at") or row.get("expired_at"))
        if begins is not None and ends is not None and ends <= begins:
            begins = None
        at = moment_of(row.get("created_at"))
        names = [name for name in (source, target) if name is not None]
        new = NewMemory(
            text, at=at, valid_from=begins, valid_until=ends, entities=names, source=_group(row), meta=_meta(row)
        )
        yield MemoryItem(uuid, new)
        relation = name_of(row.get("name"))
        if source is not None and target is not None and relation is not None:
            yield NewFact(uuid, source, relation, target, begins, ends, memory=uuid, at=at)
        else:
            yield Left("triples of facts whose entities are not there; their sentences are kept")
        for episode in row.get("episodes") or row.get("episode_uuids") or ():
            yield NewLink(f"{uuid} {episode}", End("memory", uuid), SAID_IN, End("memory", str(episode)))

    def _end(self, row: Mapping[str, Any], end: str) -> str | None:
        given = name_of(row.get(f"{end}_node_name"))
        return given or self._names.get(str(row.get(f"{end}_node_uuid")))


def _episode(row: Mapping[str, Any], where: str) -> Item:
    text = text_of(row.get("content"))
    if text is None:
        return Problem(where, "expected an episode with content", excerpt(row))
    role = row.get("role")
    session = name_of(row.get("thread_uuid"))
    new = NewMemory(
        text,
        title=name_of(row.get("name")),
        kind="turn" if session and role else "note",
        at=moment_of(row.get("valid_at") or row.get("reference_time") or row.get("created_at")),
        context=text_of(row.get("source_description")),
        author=name_of(row.get("role_name")) or name_of(role),
        author_type=_AUTHORS.get(role) if isinstance(role, str) else None,
        session=session,
        source=_group(row),
        meta=object_of(row.get("metadata") or row.get("episode_metadata"))
        | without_nothing({name: row.get(name) for name in _EPISODE_KEPT}),
    )
    return MemoryItem(str(name_of(row["uuid"])), new)


def _summary(row: Mapping[str, Any], kind: str) -> Item:
    """Return what is known of an entity, or of a community of entities."""
    name, text = name_of(row.get("name")), text_of(row.get("summary"))
    if text is None:
        return Left("entities without a summary; facts name them")
    labels = [str(label) for label in row.get("labels") or () if label != "Entity"]
    entities = [name] if name is not None and kind == ENTITY else []
    new = NewMemory(
        text, title=name, kind="summary", entities=entities, tags=labels, at=moment_of(row.get("created_at")),
        source=_group(row), meta=_meta(row),
    )  # fmt: skip
    return MemoryItem(str(name_of(row["uuid"])), new)


def _group(row: Mapping[str, Any]) -> str | None:
    """Return the partition of the graph that a record belongs to: a user, or a graph of its own."""
    return name_of(row.get("group_id")) or name_of(row.get("user_uuid")) or name_of(row.get("graph_uuid"))


def _meta(row: Mapping[str, Any]) -> dict[str, Any]:
    rest = {name: value for name, value in row.items() if name not in _NOT_KEPT and not name.endswith("_embedding")}
    return without_nothing(object_of(row.get("attributes")) | rest)
