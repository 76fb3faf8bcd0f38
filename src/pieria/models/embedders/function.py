"""A function as an embedding: it takes a list of texts and returns a vector for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import CodeType
from typing import Any

from pieria.errors import AdapterError, InputError, PieriaError
from pieria.models.embedding import EmbeddingResponse, Identity, OwnEmbedding, checked_opts

Function = Callable[[list[str]], Sequence[Sequence[float]]]


class FunctionEmbedding(OwnEmbedding):
    """Wraps a function. `name` and `version` identify its vectors in a store: change one when the function changes.

    The default name is that of the function, or of an object's class.
    """

    def __init__(
        self, function: Function, *, name: str | None = None, version: str = "", dimension: int | None = None
    ) -> None:
        if not callable(function):
            raise InputError("function", "a callable that takes a list of texts", function)
        self._function = function
        further = {} if name else _marks_of(function)
        decides = {"version": version, **further}
        self.identity = Identity(f"function:{name or _name_of(function)}", dimension, decides)

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


def _name_of(function: Any) -> str:
    if isinstance(function, partial):
        return _name_of(function.func)
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}.{named.__qualname__}"


def _marks_of(function: Any) -> dict[str, Any]:
    """Return what tells lambdas of one place apart, and partials of one function: their names do not."""
    if isinstance(function, partial):
        told = [*function.args, *(item for pair in sorted(function.keywords.items()) for item in pair)]
        plain = [repr(value) for value in told if isinstance(value, str | int | float)]
        return {"arguments": plain, **_marks_of(function.func)}
    code = getattr(function, "__code__", None)
    if code is None or code.co_name != "<lambda>":
        return {}
    return {"reads": sorted({*code.co_freevars, *_words_in(code)})}


def _words_in(code: CodeType) -> set[str]:
    """Return the names and texts in the code: unlike its bytes, they are the same in every Python."""
    inner = [_words_in(part) for part in code.co_consts if isinstance(part, CodeType)]
    return {*code.co_names, *(text for text in code.co_consts if isinstance(text, str))}.union(*inner)
