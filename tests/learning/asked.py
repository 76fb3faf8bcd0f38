"""Tools for recall tests: texts with given vectors, scripted minds, and a clock."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.learning.trajectories import Embedding, Told

from pieria import EmbeddingResponse
from pieria.graph import Edge, InMemoryBackend, Node, NodeMetadata, Procedural, Semantic, Tag
from pieria.graph.changeset import Changeset
from pieria.learning.recalled import RecallTrace, RetrievalResult
from pieria.learning.retrieval import retrieve

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
AXES = 8


def clock() -> datetime:
    return NOW


def ago(**past: float) -> NodeMetadata:
    return NodeMetadata(created_at=NOW - timedelta(**past))


def axis(number: int, near: float = 1.0) -> list[float]:
    """Return a unit vector along an axis, or one with cosine `near` to it."""
    vector = [0.0] * AXES
    vector[number] = near
    vector[AXES - 1] = (1 - near**2) ** 0.5
    return vector


class Space(Embedding):
    """An embedder with given vectors. Any other text gets a vector near to nothing; a text of `fails` is an error."""

    def __init__(self, vectors: Mapping[str, list[float]], *fails: str) -> None:
        super().__init__(lambda text: vectors.get(text, axis(AXES - 2)))
        self.fails = fails

    def embed_batch(self, texts: Sequence[str], opts: Any = None) -> EmbeddingResponse:
        if {*texts} & {*self.fails}:
            raise OSError("the model is gone")
        return super().embed_batch(texts)


def fact(id: str, vector: list[float] | None = None, **values: Any) -> Semantic:
    return Semantic(id=id, proposition=f"This is {id}.", embedding=vector, created_at=NOW, **values)


def procedure(id: str, vector: list[float], **values: Any) -> Procedural:
    return Procedural(id=id, instruction=f"Do {id}.", embedding=vector, created_at=NOW, **values)


def tag(id: str, vector: list[float]) -> Tag:
    return Tag(id=id, label=id, embedding=vector, created_at=NOW)


def graph(
    nodes: Sequence[Node],
    links: Sequence[tuple[str, str, Edge]] = (),
    metadata: Mapping[str, NodeMetadata] | None = None,
) -> InMemoryBackend:
    """Return a backend with these nodes; nodes without metadata were created now."""
    backend = InMemoryBackend(clock=clock)
    new = {node.id: ago() for node in nodes}
    backend.apply_changeset(Changeset(list(nodes), list(links), {**new, **(metadata or {})}))
    return backend


def asked(backend: Any, mind: Any = None, space: Any = None, **more: Any) -> tuple[RetrievalResult, RecallTrace]:
    """Retrieve with a query vector near the first axis."""
    return retrieve("?", mind or Told(), space or Space({"?": axis(0)}), backend, clock=clock, **more)


def ids(result: RetrievalResult) -> list[str]:
    return [each.node.id for each in result.all]
