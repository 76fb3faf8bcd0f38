"""A function as an embedding: it takes a list of texts and returns a vector for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pieria.errors import AdapterError, InputError, PieriaError
from pieria.models.embedding import EmbeddingResponse, Identity, OwnEmbedding, checked_opts

Function = Callable[[list[str]], Sequence[Sequence[float]]]


class FunctionEmbedding(OwnEmbedding):
    """Wraps a function. `name` and `version` identify its vectors in a store: change one when the function changes.

    The default name is that of the function. A lambda or a partial has none, so it needs a `name`.
    """

    def __init__(
        self, function: Function, *, name: str | None = None, version: str = "", dimension: int | None = None
    ) -> None:
        if not callable(function):
            raise InputError("function", "a callable that takes a list of texts", function)
        self._function = function
        self.identity = Identity(f"function:{name or _name_of(function)}", dimension, {"version": version})

    def _embedded(self, texts: list[str], opts: Mapping[str, Any] | None) -> EmbeddingResponse:
        model = self.identity.model
        checked_opts(opts, model)
        if not texts:
            return EmbeddingResponse([], model)
        try:
            vectors = [[float(number) for number in vector] for vector in self._function(texts)]
        except PieriaError:
            raise
        # A user's function may raise any exception; it is kept as the cause.
        except Exception as problem:
            raise AdapterError(model, "embed", f"the function failed with {type(problem).__name__}") from problem
        if len(vectors) != len(texts):
            raise AdapterError(model, "embed", f"expected {len(texts)} vectors, got {len(vectors)}")
        return EmbeddingResponse(vectors, model)


def _name_of(function: Function) -> str:
    named = getattr(function, "__qualname__", "")
    if not named or "<lambda>" in named:
        hint = "Write it with `def`, or give it a name: pieria.models.embedder(function, options={'name': …})."
        raise InputError("embedder", "a function that has a name", function, hint=hint)
    return f"{getattr(function, '__module__', '')}.{named}"
