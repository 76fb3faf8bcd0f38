"""Vectors on their way to PostgreSQL and back, in the binary form of pgvector's `halfvec`, bit for bit as stored.

The form is: the count, two zero bytes, then the numbers in big-endian order.
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
    """A vector packed by `pieria.store.vectors`, as a statement's parameter."""

    def __init__(self, packed: bytes) -> None:
        self.packed = packed


class HalvesDumper(Dumper):
    """Sends no type, so that the server takes the column's: the type's number differs between databases."""

    format = Format.BINARY

    def dump(self, obj: Halves) -> bytes:
        return sent(obj.packed)


psycopg.adapters.register_dumper(Halves, HalvesDumper)


def sent(packed: bytes) -> bytes:
    """Return a packed vector in the form that `halfvec_recv` takes."""
    import numpy as np

    numbers = np.frombuffer(packed, dtype=PACKED)
    return HEAD.pack(len(numbers), 0) + numbers.astype(SENT).tobytes()


def read(got: bytes) -> bytes:
    """Return the packed vector from the form that `halfvec_send` gives."""
    import numpy as np

    return np.frombuffer(got, dtype=SENT, offset=HEAD.size).astype(PACKED).tobytes()


def halved(question: Floats) -> Halves:
    """Return a query vector rounded to half precision, like the stored vectors."""
    return Halves(question.astype(HALF).tobytes())
