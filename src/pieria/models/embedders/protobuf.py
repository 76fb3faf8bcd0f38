"""The ONNX messages that an encoder needs, as protobuf bytes.

With it, ONNX Runtime gets a graph without the `onnx` package. `graph` decides what the graph computes; numbers here are
field numbers of the format.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

FLOAT = 1
INT64 = 7
_FORMAT = 9
"""The version of the file format; 9 came with operator set 20."""
_EXTERNAL = 1
_VARINT, _BYTES, _FIXED32 = 0, 2, 5

Dimension = int | str
"""A size, or the name of a size that varies between calls."""
Attribute = int | float | Sequence[int]


@dataclass(frozen=True, slots=True)
class External:
    """A tensor of floats, stored in a file beside the graph."""

    file: str
    offset: int
    shape: tuple[int, ...]

    @property
    def length(self) -> int:
        size = 4
        for dimension in self.shape:
            size *= dimension
        return size


def model(graph: bytes, operators: int) -> bytes:
    return _integer(1, _FORMAT) + _block(7, graph) + _block(8, _integer(2, operators))


def graph(
    name: str, nodes: Sequence[bytes], initializers: Sequence[bytes], inputs: Sequence[bytes], outputs: Sequence[bytes]
) -> bytes:
    parts = [_block(1, node) for node in nodes]
    parts.append(_text(2, name))
    for field, blocks in ((5, initializers), (11, inputs), (12, outputs)):
        parts += [_block(field, block) for block in blocks]
    return b"".join(parts)


def node(
    operator: str,
    inputs: Sequence[str],
    outputs: Sequence[str],
    attributes: Mapping[str, Attribute],
) -> bytes:
    parts = [_text(1, name) for name in inputs]
    parts += [_text(2, name) for name in outputs]
    parts.append(_text(4, operator))
    parts += [_block(5, _attribute(name, value)) for name, value in attributes.items()]
    return b"".join(parts)


def value(name: str, kind: int, shape: Sequence[Dimension]) -> bytes:
    """Return an input or an output."""
    sizes = [_text(2, size) if isinstance(size, str) else _integer(1, size) for size in shape]
    tensor = _integer(1, kind) + _block(2, b"".join(_block(1, size) for size in sizes))
    return _text(1, name) + _block(2, _block(1, tensor))


def integers(name: str, values: Sequence[int]) -> bytes:
    """Return a constant list of integers."""
    raw = struct.pack(f"<{len(values)}q", *values)
    return _integer(1, len(values)) + _integer(2, INT64) + _text(8, name) + _block(9, raw)


def scalar(name: str, value: float) -> bytes:
    return _integer(2, FLOAT) + _text(8, name) + _block(9, struct.pack("<f", value))


def external(name: str, tensor: External) -> bytes:
    """Return a tensor of floats that the runtime reads from its file."""
    places = {"location": tensor.file, "offset": str(tensor.offset), "length": str(tensor.length)}
    parts = [_integer(1, size) for size in tensor.shape]
    parts += [_integer(2, FLOAT), _text(8, name)]
    parts += [_block(13, _text(1, key) + _text(2, place)) for key, place in places.items()]
    parts.append(_integer(14, _EXTERNAL))
    return b"".join(parts)


def _attribute(name: str, value: Attribute) -> bytes:
    if isinstance(value, float):
        return _text(1, name) + _tag(2, _FIXED32) + struct.pack("<f", value) + _integer(20, 1)
    if isinstance(value, int):
        return _text(1, name) + _integer(3, value) + _integer(20, 2)
    return _text(1, name) + b"".join(_integer(8, item) for item in value) + _integer(20, 7)


def _tag(field: int, kind: int) -> bytes:
    return _varint(field << 3 | kind)


def _integer(field: int, value: int) -> bytes:
    return _tag(field, _VARINT) + _varint(value)


def _block(field: int, content: bytes) -> bytes:
    return _tag(field, _BYTES) + _varint(len(content)) + content


def _text(field: int, content: str) -> bytes:
    return _block(field, content.encode())


def _varint(value: int) -> bytes:
    """Return the number in 7-bit groups, lowest first. A negative number is encoded as 64 bits."""
    value &= 0xFFFF_FFFF_FFFF_FFFF
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)
