"""What keeps a graph: the ten callbacks, and how any backend chooses among the candidates that it found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from pieria.errors import InputError
from pieria.graph.changeset import Changeset
from pieria.graph.edge import Edge
from pieria.graph.metadata import NodeMetadata
from pieria.graph.nodes import Node
from pieria.graph.value_function import params_of, score_of
from pieria.record import check
from pieria.record.time import Clock, system_clock


@runtime_checkable
class GraphBackend(Protocol):
    """Threads share a backend. What it cannot do it refuses with an error of `pieria.errors`, and then changes nothing.

    `pieria.graph.contract` checks one of your own against what is said here.
    """

    def init(self, opts: Mapping[str, Any]) -> None:
        """Called once before anything else, with `repo_id` and what was given besides."""

    def apply_changeset(self, changeset: Changeset) -> None:
        """All of it or nothing: nodes, then ties between what is there, then metadata.

        A node under an id that is taken replaces what stood there and keeps its ties. A tie stands on both ends.
        """

    def delete_nodes(self, node_ids: Sequence[str]) -> None:
        """With their metadata and every tie to them. Unknown ids do not matter."""

    def find_candidates(
        self,
        node_types: Sequence[str],
        query_embedding: Sequence[float],
        tag_embeddings: Sequence[Sequence[float]],
        value_fn_config: Mapping[str, Any] | None,
        opts: Mapping[str, Any] | None,
    ) -> list[tuple[Node, float]]:
        """By type, in the order asked for: nodes with their scores, the best first.

        The relevance is the cosine to the question or to the nearest tag, at least 0. The value function makes the
        score of it; each type has a threshold and a `top_k`.
        """

    def get_node(self, node_id: str) -> Node | None: ...

    def get_linked_nodes(self, node_ids: Sequence[str], edge_type: Edge | None = None) -> list[Node]:
        """The neighbours of these nodes, each once, by ties of that type or of any."""

    def get_nodes_by_type(self, node_types: Sequence[str]) -> list[Node]: ...

    def get_metadata(self, node_ids: Sequence[str]) -> dict[str, NodeMetadata]:
        """Of those that have any."""

    def update_metadata(self, metadata: Mapping[str, NodeMetadata]) -> None:
        """Sets it for these nodes, whatever it was. Unknown ids do not matter."""

    def delete_metadata(self, node_ids: Sequence[str]) -> None:
        """Their counts begin anew. Unknown ids do not matter."""


class Found(NamedTuple):
    """A node of which is known how near it is to a question."""

    node: Node
    relevance: float
    metadata: NodeMetadata | None


def chosen(
    found: Iterable[Found], node_type: str, config: Mapping[str, Any] | None, clock: Clock = system_clock
) -> list[tuple[Node, float]]:
    """The best of one type, as the value function and the parameters of the type would have it."""
    params = params_of(config, node_type)
    score = score_of(config, clock)
    scored = [(each.node, float(score(each.relevance, each.node, each.metadata, params))) for each in found]
    kept = [(node, value) for node, value in scored if value >= params["threshold"]]
    kept.sort(key=lambda pair: (-pair[1], pair[0].created_at, pair[0].id))
    return kept[: int(params["top_k"])]


def known_options(opts: Mapping[str, Any] | None, known: Sequence[str] = ()) -> Mapping[str, Any]:
    """The options, where all of them are known."""
    given = {} if opts is None else opts
    if not isinstance(given, Mapping):
        raise InputError("opts", "a mapping of options by name", opts)
    for name in given:
        if name not in known:
            raise InputError("opts", "options that it knows: " + (", ".join(known) or "there are none"), name)
    return given


def known_ids(node_ids: object) -> tuple[str, ...]:
    """Ids of nodes, each once; none is as good as any number of them."""
    return () if isinstance(node_ids, list | tuple | set) and not node_ids else check.identifiers(node_ids, "node_ids")
