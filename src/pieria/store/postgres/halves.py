"""How vectors travel to PostgreSQL and back: as pgvector's `halfvec` sends them, bit by bit what is stored elsewhere.

Its numbers are big-endian, behind their count and two bytes of nothing.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import psycopg
from psycopg.adapt import Dumper
from psycopg.pq import Format

from pieria.store.vectors import HALF

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

HEAD = struct.Struct("!HH")
SENT = ">u2"
PACKED = "<u2"


class Halves:
    """A vector as `pieria.store.vectors` packs it, to be handed over as a parameter."""

    def __init__(self, packed: bytes) -> None:
        self.packed = packed


class HalvesDumper(Dumper):
    """Says nothing of the type, so that the server takes it from the column: its number differs from one to another."""

    format = Format.BINARY

    def dump(self, obj: Halves) -> bytes:
        return sent(obj.packed)


psycopg.adapters.register_dumper(Halves, HalvesDumper)


def sent(packed: bytes) -> bytes:
    """What `halfvec_recv` takes."""
    import numpy as np

    numbers = np.frombuffer(packed, dtype=PACKED)
    return HEAD.pack(len(numbers), 0) + numbers.astype(SENT).tobytes()


def read(got: bytes) -> bytes:
    """What `halfvec_send` gives, packed."""
    import numpy as np

    return np.frombuffer(got, dtype=SENT, offset=HEAD.size).astype(PACKED).tobytes()


def halved(question: Floats) -> Halves:
    """A question, as near to it as what is stored can be."""
    return Halves(question.astype(HALF).tobytes())
