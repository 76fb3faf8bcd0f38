"""The sizes and file offsets of a model's weights, from `config.json` and the header of the safetensors file.

Reads headers only; the runtime reads the weights. A malformed file raises `ModelDamagedError`.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pieria.errors import ModelDamagedError
from pieria.models.embedders.graph import Shape, tensors
from pieria.models.embedders.protobuf import External
from pieria.record.json_text import parsed

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
