"""A BERT encoder as an ONNX graph: it reads word pieces and returns one normalised vector per text.

With it, a model published only as weights runs on ONNX Runtime. The graph has a few kilobytes; the weights stay in
their file, which `weights` reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pieria.models.embedders import protobuf
from pieria.models.embedders.protobuf import FLOAT, INT64, External

OPERATORS = 20
"""The oldest operator set with Gelu."""

IDS, POSITIONS, KEPT, BIAS = "ids", "positions", "kept", "bias"
INPUTS = (
    protobuf.value(IDS, INT64, ["texts", "length"]),
    protobuf.value(POSITIONS, INT64, [1, "length"]),
    protobuf.value(KEPT, FLOAT, ["texts", "length", 1]),
    protobuf.value(BIAS, FLOAT, ["texts", 1, 1, "length"]),
)
VECTORS = "vectors"

_WORDS, _PLACES, _TYPES = (f"embeddings.{part}_embeddings.weight" for part in ("word", "position", "token_type"))
_QUERY, _KEY, _VALUE = (f"attention.self.{part}" for part in ("query", "key", "value"))
_BLOCKS = (
    *(_QUERY, _KEY, _VALUE, "attention.output.dense", "attention.output.LayerNorm"),
    *("intermediate.dense", "output.dense", "output.LayerNorm"),
)


@dataclass(frozen=True, slots=True)
class Shape:
    """The encoder's sizes. `places` is the largest number of pieces in a text."""

    layers: int
    heads: int
    hidden: int
    inner: int
    vocabulary: int
    places: int
    epsilon: float


def tensors(shape: Shape) -> dict[str, tuple[int, ...]]:
    """Return the weights that the graph reads: BERT's names, with their shapes."""
    wide, inner = (shape.hidden, shape.hidden), (shape.inner, shape.hidden)
    weights = {"intermediate.dense": inner, "output.dense": inner[::-1]}
    rows = {_WORDS: shape.vocabulary, _PLACES: shape.places, _TYPES: 2}
    read: dict[str, tuple[int, ...]] = {name: (count, shape.hidden) for name, count in rows.items()}
    for name in ("embeddings.LayerNorm", *(f"{_at(layer)}{part}" for layer in range(shape.layers) for part in _BLOCKS)):
        part = name.split(".", 3)[-1]
        weight = (shape.hidden,) if name.endswith("LayerNorm") else weights.get(part, wide)
        read[f"{name}.weight"] = weight
        read[f"{name}.bias"] = weight[:1]
    return read


def _at(layer: int) -> str:
    return f"encoder.layer.{layer}."


def encoder(shape: Shape, weights: Mapping[str, External]) -> bytes:
    """Return the serialised model. For padding `kept` is 0 and `bias` is far below zero; for pieces they are 1 and 0.

    The sum over a text's pieces serves as their mean, because the vector is normalised.
    """
    steps = _Steps(shape)
    steps.add("Concat", [steps.add("Shape", [IDS]), "width"], out="whole", axis=0)
    steps.add("Concat", [steps.add("Shape", [IDS]), "heads"], out="split", axis=0)
    state = _embedded(steps)
    for layer in range(shape.layers):
        state = _layer(steps, state, _at(layer))
    pieces = steps.add("Mul", [steps.add("Reshape", [state, "whole"]), KEPT])
    summed = steps.add("ReduceSum", [pieces, "over pieces"], keepdims=0)
    steps.add("LpNormalization", [summed], out=VECTORS, axis=1, p=2)
    outputs = [protobuf.value(VECTORS, FLOAT, ["texts", shape.hidden])]
    graph = protobuf.graph("encoder", steps.nodes, _constants(shape, weights), INPUTS, outputs)
    return protobuf.model(graph, OPERATORS)


def _constants(shape: Shape, weights: Mapping[str, External]) -> list[bytes]:
    # All pieces have the first token type, so the first row of that table is enough.
    types = weights[_TYPES]
    read = {**weights, _TYPES: External(types.file, types.offset, (1, shape.hidden))}
    head = shape.hidden // shape.heads
    return [
        *(protobuf.external(name, tensor) for name, tensor in read.items()),
        protobuf.integers("width", [shape.hidden]),
        protobuf.integers("heads", [shape.heads, head]),
        protobuf.integers("flat", [-1, shape.hidden]),
        protobuf.integers("over pieces", [1]),
        protobuf.scalar("scale", head**-0.5),
    ]


class _Steps:
    """The nodes in the order of computation. A node is named by its output."""

    def __init__(self, shape: Shape) -> None:
        self.nodes: list[bytes] = []
        self._epsilon = shape.epsilon

    def add(
        self, operator: str, inputs: Sequence[str], out: str = "", **attributes: int | float | Sequence[int]
    ) -> str:
        name = out or f"{operator} {len(self.nodes)}"
        self.nodes.append(protobuf.node(operator, inputs, [name], attributes))
        return name

    def linear(self, state: str, weights: str) -> str:
        return self.add("Gemm", [state, f"{weights}.weight", f"{weights}.bias"], transB=1)

    def normal(self, state: str, weights: str) -> str:
        inputs = [state, f"{weights}.weight", f"{weights}.bias"]
        return self.add("LayerNormalization", inputs, axis=-1, epsilon=self._epsilon)

    def heads(self, state: str, order: Sequence[int]) -> str:
        return self.add("Transpose", [self.add("Reshape", [state, "split"])], perm=order)


def _embedded(steps: _Steps) -> str:
    words = steps.add("Gather", [_WORDS, IDS])
    places = steps.add("Add", [steps.add("Gather", [_PLACES, POSITIONS]), _TYPES])
    state = steps.normal(steps.add("Add", [words, places]), "embeddings.LayerNorm")
    return steps.add("Reshape", [state, "flat"])


def _layer(steps: _Steps, state: str, at: str) -> str:
    mixed = steps.linear(_attention(steps, state, at), f"{at}attention.output.dense")
    state = steps.normal(steps.add("Add", [mixed, state]), f"{at}attention.output.LayerNorm")
    inner = steps.add("Gelu", [steps.linear(state, f"{at}intermediate.dense")])
    outer = steps.linear(inner, f"{at}output.dense")
    return steps.normal(steps.add("Add", [outer, state]), f"{at}output.LayerNorm")


def _attention(steps: _Steps, state: str, at: str) -> str:
    query = steps.heads(steps.linear(state, at + _QUERY), (0, 2, 1, 3))
    key = steps.heads(steps.linear(state, at + _KEY), (0, 2, 3, 1))
    value = steps.heads(steps.linear(state, at + _VALUE), (0, 2, 1, 3))
    scores = steps.add("Mul", [steps.add("MatMul", [query, key]), "scale"])
    shares = steps.add("Softmax", [steps.add("Add", [scores, BIAS])], axis=-1)
    taken = steps.add("Transpose", [steps.add("MatMul", [shares, value])], perm=(0, 2, 1, 3))
    return steps.add("Reshape", [taken, "flat"])
