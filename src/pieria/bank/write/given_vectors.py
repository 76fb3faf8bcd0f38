"""Check vectors supplied with a text: their format, and the part of the text for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeGuard

from pieria.errors import InputError
from pieria.record.changeset import NewVector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EXPECTED = "a list of finite numbers, or a list of such lists"


def supplied(given: object, text: str, dimension: int | None) -> tuple[NewVector, ...]:
    """Return the vectors with their spans: one per passage if the numbers agree, otherwise each for the whole text.

    If `dimension` is None, the caller must check the dimension.
    """
    from pieria.language.passages import passages

    vectors = _vectors(given)
    for vector in vectors:
        if dimension is not None and len(vector) != dimension:
            raise wrong_length(dimension, len(vector))
    parts = passages(text)
    spans = parts if len(parts) == len(vectors) else [(0, len(text))] * len(vectors)
    return tuple(NewVector(*span, vector) for span, vector in zip(spans, vectors, strict=True))


def wrong_length(dimension: int, length: int) -> InputError:
    hint = "Embed with the bank's model, which `doctor` names, or leave vectors out."
    return InputError("vectors", f"{dimension} numbers in each, as in the bank's space", f"{length:,}", hint=hint)


def _vectors(given: object) -> NDArray[np.float32]:
    """Return the vectors as rows of an array."""
    import numpy as np

    if not isinstance(given, Sequence | np.ndarray) or isinstance(given, str | bytes):
        raise InputError("vectors", EXPECTED, given)
    try:
        read = np.asarray(given)
    except ValueError as problem:
        raise InputError("vectors", "lists of one length", given) from problem
    if not read.size or read.ndim not in (1, 2) or read.dtype.kind not in "iuf":
        raise InputError("vectors", EXPECTED, given)
    if _are_plain(read):
        return np.atleast_2d(read)
    made = np.atleast_2d(read).astype(np.float64)
    # A value beyond float32 is as useless as an infinite one.
    if not np.isfinite(made).all() or np.abs(made).max() > np.finfo(np.float32).max:
        raise InputError("vectors", "finite numbers", "one that is not")
    if not made.any(axis=1).all():
        raise InputError("vectors", "a vector that is not all zeros", "zeros alone")
    return made.astype(np.float32)


def _are_plain(read: NDArray[np.generic]) -> TypeGuard[NDArray[np.float32]]:
    """Return whether the vectors can be stored without conversion, judged by their lengths: fast for many thousands."""
    import numpy as np

    if read.dtype != np.float32:
        return False
    squares = np.vecdot(read, read)
    return bool(np.isfinite(squares).all() and (squares > 0).all())
