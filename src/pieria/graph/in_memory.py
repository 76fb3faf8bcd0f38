"""A graph in memory, optionally saved by a persistence."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

from pieria import telemetry
from pieria.errors import InputError
from pieria.graph.backend import Found, chosen, known_ids, known_options
from pieria.graph.changeset import Changeset, checked, checked_metadata, checked_vector
from pieria.graph.edge import Edge
from pieria.graph.graph import Graph, in_order, same_label
from pieria.graph.metadata import NodeMetadata
from pieria.graph.nodes import Node, Tag, all_linked_ids
from pieria.graph.persistence import JsonLines, Persistence
from pieria.graph.similarity import Directions
from pieria.graph.value_function import checked_types
from pieria.record import check
from pieria.record.time import Clock, system_clock


class _Held(NamedTuple):
    """A consistent snapshot for readers."""

    graph: Graph
    metadata: Mapping[str, NodeMetadata]


class InMemoryBackend:
    """A backend whose readers never wait: each change builds another graph, which becomes visible after it was saved.

    `persistence` is the path of a file, or an object that implements `pieria.graph.Persistence`.
    """

    def __init__(self, persistence: Persistence | str | Path | None = None, *, clock: Clock = system_clock) -> None:
        self.persistence = _persistence(persistence)
        self._clock = clock
        self._repo_id: str | None = None
        self._writing = threading.RLock()
        self._state: _Held | None = None
        self._directions = Directions()

    def init(self, opts: Mapping[str, Any] | None = None) -> None:
        """Load the saved graph. Options: `repo_id`, `persistence`."""
        given = known_options(opts, ("repo_id", "persistence"))
        with self._writing:
            self._repo_id = given.get("repo_id", self._repo_id)
            if given.get("persistence") is not None:
                self._let_go()
                self.persistence, self._state = _persistence(given["persistence"]), None
            if self._state is None:
                self._state = self._loaded()

    def exclusively(self) -> AbstractContextManager[Any]:
        """Return a lock that blocks other writers inside a `with` block."""
        return self._writing

    def close(self) -> None:
        """Close the persistence. A graph without one is kept."""
        with self._writing:
            self._let_go()

    @property
    def graph(self) -> Graph:
        return self._held.graph

    @property
    def metadata(self) -> Mapping[str, NodeMetadata]:
        return self._held.metadata

    def apply_changeset(self, changeset: Changeset) -> None:
        asked = checked(changeset)

        def after(held: _Held) -> _Held:
            graph = held.graph.apply_changeset(asked)
            return _Held(graph, {**held.metadata, **_of_nodes(graph, asked.metadata_over(held.metadata))})

        def saved(persistence: Persistence, held: _Held) -> None:
            persistence.save(_made(held, asked))

        if not asked.empty:
            self._change(after, saved)

    def delete_nodes(self, node_ids: Sequence[str]) -> None:
        ids = known_ids(node_ids)

        def after(held: _Held) -> _Held:
            return _Held(held.graph.without(ids), _without(held.metadata, ids))

        if ids:
            self._change(after, lambda persistence, _: persistence.delete(ids))
            self._directions.forget(ids)

    def update_metadata(self, metadata: Mapping[str, NodeMetadata]) -> None:
        entries = checked_metadata(metadata, "metadata")

        def after(held: _Held) -> _Held:
            return held._replace(metadata={**held.metadata, **_of_nodes(held.graph, entries)})

        def saved(persistence: Persistence, held: _Held) -> None:
            persistence.save_metadata(_of_nodes(held.graph, entries))

        if entries:
            self._change(after, saved)

    def delete_metadata(self, node_ids: Sequence[str]) -> None:
        ids = known_ids(node_ids)

        def after(held: _Held) -> _Held:
            return held._replace(metadata=_without(held.metadata, ids))

        if ids:
            self._change(after, lambda persistence, _: persistence.delete_metadata(ids))

    def find_candidates(
        self,
        node_types: Sequence[str],
        query_embedding: Sequence[float],
        tag_embeddings: Sequence[Sequence[float]] = (),
        value_fn_config: Mapping[str, Any] | None = None,
        opts: Mapping[str, Any] | None = None,
    ) -> list[tuple[Node, float]]:
        known_options(opts)
        questions = [checked_vector(query_embedding, "query_embedding")]
        questions += [checked_vector(tag, f"tag_embeddings[{n}]") for n, tag in enumerate(tag_embeddings)]
        held = self._held
        candidates: list[tuple[Node, float]] = []
        for node_type in checked_types(node_types):
            nodes = [held.graph.nodes[id] for id in held.graph.by_type.get(node_type, ())]
            found = [
                Found(node, relevance, held.metadata.get(node.id))
                for node, relevance in zip(nodes, self._directions.relevances(nodes, questions), strict=True)
            ]
            candidates += chosen(found, node_type, value_fn_config, self._clock)
        return candidates

    def get_node(self, node_id: str) -> Node | None:
        return self._held.graph.get_node(check.identifier(node_id, "node_id"))

    def get_linked_nodes(self, node_ids: Sequence[str], edge_type: Edge | None = None) -> list[Node]:
        graph = self._held.graph
        starts = [graph.nodes[id] for id in known_ids(node_ids) if id in graph.nodes]
        if edge_type is None:
            linked = {id for node in starts for id in all_linked_ids(node)}
        else:
            edge = Edge(check.one_of(edge_type, "edge_type", tuple(Edge)))
            linked = {id for node in starts for id in node.links[edge]}
        return in_order(graph.nodes[id] for id in linked if id in graph.nodes)

    def get_nodes_by_type(self, node_types: Sequence[str]) -> list[Node]:
        graph = self._held.graph
        return [node for node_type in checked_types(node_types) for node in graph.nodes_by_type(node_type)]

    def find_tags(self, labels: Sequence[str]) -> list[Tag]:
        """Return the tags with one of these labels, oldest first."""
        graph = self._held.graph
        ids = {id for label in labels for id in graph.by_tag.get(same_label(label), ())}
        return [node for node in in_order(graph.nodes[id] for id in ids) if isinstance(node, Tag)]

    def get_metadata(self, node_ids: Sequence[str]) -> dict[str, NodeMetadata]:
        metadata = self._held.metadata
        return {id: metadata[id] for id in known_ids(node_ids) if id in metadata}

    @property
    def _held(self) -> _Held:
        if self._state is None:
            self.init()
        assert self._state is not None
        return self._state

    def _loaded(self) -> _Held:
        if self.persistence is None:
            return _Held(Graph(), {})
        with telemetry.during("storage.load", repo_id=self._repo_id):
            return _Held(*self.persistence.load())

    def _change(self, after: Callable[[_Held], _Held], saved: Callable[[Persistence, _Held], None]) -> None:
        """Save a change, then show it to readers. If saving fails, nothing changes."""
        with self._writing:
            before = self._held
            changed = after(before)
            if self.persistence is not None:
                with telemetry.during("storage.persist", repo_id=self._repo_id):
                    saved(self.persistence, before)
            self._state = changed

    def _let_go(self) -> None:
        close = getattr(self.persistence, "close", None)
        if callable(close):
            close()
        if self.persistence is not None:
            self._state = None


def _persistence(given: object) -> Persistence | None:
    if given is None or isinstance(given, Persistence):
        return given
    if isinstance(given, str | Path):
        return JsonLines(given)
    expected = "the path of a file, or an object with load, save, delete, save_metadata and delete_metadata"
    raise InputError("persistence", expected, given)


def _without(metadata: Mapping[str, NodeMetadata], ids: Sequence[str]) -> dict[str, NodeMetadata]:
    gone = set(ids)
    return {id: each for id, each in metadata.items() if id not in gone}


def _made(held: _Held, changeset: Changeset) -> Changeset:
    """Return the effective changeset. Without this, a link to a missing node could take effect later."""
    graph, said = held.graph, changeset.metadata_over(held.metadata)
    bare = [node.unlinked(all_linked_ids(node)) for node in changeset.nodes().values()]
    metadata = _of_nodes(graph, said) | {id: said[id] for id in changeset.nodes() if id in said}
    return Changeset(bare, list(graph.made_by(changeset)), metadata)


def _of_nodes(graph: Graph, entries: Mapping[str, NodeMetadata]) -> dict[str, NodeMetadata]:
    """Return the entries of existing nodes."""
    return {id: entry for id, entry in entries.items() if id in graph.nodes}
