"""A BERT encoder as an ONNX graph: it reads word pieces and returns one normalised vector per text.

With it, a model published only as weights runs on ONNX Runtime. The graph has a few kilobytes; the weights stay in
their file, which `weights` reads.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pieria.errors import ModelDamagedError
from pieria.models.embedders import protobuf
from pieria.models.embedders.protobuf import FLOAT, INT64, External
from pieria.record.json_text import parsed

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

CONFIG = "config.json"
WEIGHTS = "model.safetensors"
_LONGEST_HEADER = 1 << 24
_SIZES = {
    "layers": "num_hidden_layers",
    "heads": "num_attention_heads",
    "hidden": "hidden_size",
    "inner": "intermediate_size",
    "vocabulary": "vocab_size",
    "places": "max_position_embeddings",
}


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


def shape_of(folder: Path) -> Shape:
    """Return the encoder's sizes. Raises `ModelDamagedError` if the graph cannot compute this encoder."""
    config = _mapping(folder / CONFIG, (folder / CONFIG).read_bytes())
    sizes: dict[str, int] = {}
    for ours, theirs in _SIZES.items():
        size = config.get(theirs)
        if not isinstance(size, int) or isinstance(size, bool) or size < 1:
            raise ModelDamagedError(folder / CONFIG, f"{theirs} is not a size")
        sizes[ours] = size
    epsilon = config.get("layer_norm_eps")
    if not isinstance(epsilon, float):
        raise ModelDamagedError(folder / CONFIG, "layer_norm_eps is not a number")
    shape = Shape(**sizes, epsilon=epsilon)
    if config.get("hidden_act") != "gelu" or shape.hidden % shape.heads:
        raise ModelDamagedError(folder / CONFIG, "not a BERT encoder with gelu")
    return shape


def places_of(folder: Path, shape: Shape) -> dict[str, External]:
    """Return the position in the file of each tensor that the graph reads."""
    path = folder / WEIGHTS
    with path.open("rb") as file:
        start = file.read(8)
        length = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
        if not 2 <= length <= _LONGEST_HEADER:
            raise ModelDamagedError(path, "not a safetensors file")
        header = _mapping(path, file.read(length))
    begin = 8 + length
    size = path.stat().st_size
    return {name: _place(path, header, name, wanted, begin, size) for name, wanted in tensors(shape).items()}


def _place(
    path: Path, header: Mapping[str, Any], name: str, wanted: tuple[int, ...], begin: int, size: int
) -> External:
    entry = header.get(name)
    if not isinstance(entry, dict):
        raise ModelDamagedError(path, f"the tensor {name} is missing")
    offsets = entry.get("data_offsets")
    tensor = External(path.name, begin + (offsets[0] if isinstance(offsets, list) else size), wanted)
    if entry.get("dtype") != "F32" or tuple(entry.get("shape", ())) != wanted:
        raise ModelDamagedError(path, f"the tensor {name} is not of 32-bit floats in the shape {wanted}")
    if tensor.offset + tensor.length > size:
        raise ModelDamagedError(path, f"the tensor {name} lies beyond the end of the file")
    return tensor


def _mapping(path: Path, content: bytes) -> Mapping[str, Any]:
    try:
        read = parsed(content)
    except ValueError as problem:
        raise ModelDamagedError(path, "not valid JSON") from problem
    if not isinstance(read, dict):
        raise ModelDamagedError(path, "not a JSON object")
    return read
