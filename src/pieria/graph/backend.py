"""The port of a graph store: its ten callbacks, and the choice among found candidates that all backends share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from pieria.errors import InputError
from pieria.graph.changeset import Changeset
from pieria.graph.edge import Edge
from pieria.graph.graph import Graph
from pieria.graph.metadata import NodeMetadata
from pieria.graph.nodes import NODE_TYPES, Node
from pieria.graph.value_function import checked_types, params_of, score_of
from pieria.record import check
from pieria.record.time import Clock, system_clock


@runtime_checkable
class GraphBackend(Protocol):
    """A store of one graph, shared by threads. It refuses what it cannot do with an error of `pieria.errors` and no
    change.

    `pieria.graph.contract` checks your own backend against these docstrings.
    """

    def init(self, opts: Mapping[str, Any]) -> None:
        """Prepare the backend. Called once before anything else, with `repo_id` and the caller's options."""

    def apply_changeset(self, changeset: Changeset) -> None:
        """Apply the whole changeset or nothing: nodes, then links between existing nodes, then metadata.

        A node with a known id replaces the old one and keeps its links. A link is stored on both ends.
        """

    def delete_nodes(self, node_ids: Sequence[str]) -> None:
        """Delete the nodes with their metadata and every link to them. Ignore unknown ids."""

    def find_candidates(
        self,
        node_types: Sequence[str],
        query_embedding: Sequence[float],
        tag_embeddings: Sequence[Sequence[float]],
        value_fn_config: Mapping[str, Any] | None,
        opts: Mapping[str, Any] | None,
    ) -> list[tuple[Node, float]]:
        """Return nodes with their scores, best first within each type, in the order of `node_types`.

        The relevance is the cosine to the query or to the nearest tag, at least 0. The value function turns it into a
        score; each type has a threshold and a `top_k`.
        """

    def get_node(self, node_id: str) -> Node | None: ...

    def get_linked_nodes(self, node_ids: Sequence[str], edge_type: Edge | None = None) -> list[Node]:
        """Return the neighbours of these nodes, each once, over edges of that type or of any type."""

    def get_nodes_by_type(self, node_types: Sequence[str]) -> list[Node]: ...

    def get_metadata(self, node_ids: Sequence[str]) -> dict[str, NodeMetadata]:
        """Return the metadata of the nodes that have any."""

    def update_metadata(self, metadata: Mapping[str, NodeMetadata]) -> None:
        """Replace the metadata of these nodes. Ignore unknown ids."""

    def delete_metadata(self, node_ids: Sequence[str]) -> None:
        """Reset the metadata of these nodes. Ignore unknown ids."""


class Found(NamedTuple):
    """A node with its relevance to a query."""

    node: Node
    relevance: float
    metadata: NodeMetadata | None


def chosen(
    found: Iterable[Found], node_type: str, config: Mapping[str, Any] | None, clock: Clock = system_clock
) -> list[tuple[Node, float]]:
    """Return the best nodes of one type, by the value function and the parameters of the type."""
    params = params_of(config, node_type)
    score = score_of(config, clock)
    scored = [(each.node, float(score(each.relevance, each.node, each.metadata, params))) for each in found]
    kept = [(node, value) for node, value in scored if value >= params["threshold"]]
    kept.sort(key=lambda pair: (-pair[1], pair[0].created_at, pair[0].id))
    return kept[: int(params["top_k"])]


def known_options(opts: Mapping[str, Any] | None, known: Sequence[str] = ()) -> Mapping[str, Any]:
    """Return the options. Raise `InputError` for an unknown one."""
    given = {} if opts is None else opts
    if not isinstance(given, Mapping):
        raise InputError("opts", "a mapping of options by name", opts)
    for name in given:
        if name not in known:
            raise InputError("opts", "options that it knows: " + (", ".join(known) or "there are none"), name)
    return given


def known_ids(node_ids: object) -> tuple[str, ...]:
    """Return the ids, each once; there may be none."""
    return () if isinstance(node_ids, list | tuple | set) and not node_ids else check.identifiers(node_ids, "node_ids")


@runtime_checkable
class Dated(Protocol):
    """A backend that can return the newest nodes directly."""

    def latest(self, top_k: int, types: Sequence[str]) -> list[tuple[Node, NodeMetadata]]: ...


def whole(backend: GraphBackend) -> Graph:
    """Return the whole graph as a value."""
    held = getattr(backend, "graph", None)
    if isinstance(held, Graph):
        return held
    return Graph().apply_changeset(Changeset(backend.get_nodes_by_type(NODE_TYPES)))


def newest(backend: GraphBackend, top_k: int, types: Sequence[str]) -> list[tuple[Node, NodeMetadata]]:
    """Return the nodes with the latest `created_at` in their metadata, without those that have no metadata."""
    wanted = checked_types(types, "types")
    if isinstance(backend, Dated):
        return backend.latest(top_k, wanted)
    nodes = backend.get_nodes_by_type(wanted)
    metadata = backend.get_metadata([node.id for node in nodes])
    dated = [(node, metadata[node.id]) for node in nodes if node.id in metadata]
    dated.sort(key=lambda pair: (pair[1].created_at, pair[0].id), reverse=True)
    return dated[:top_k]
