"""The engine's embedder: it wraps any embedding, checks replies and returns arrays of unit vectors.

It guarantees a store one finite vector of the right dimension per text, for every kind of embedding.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from pieria import telemetry
from pieria.errors import AdapterError, PieriaError
from pieria.models.embedders.pieces import EstimatedPieces, Pieces
from pieria.models.embedding import FLOOR, Embedding, EmbeddingResponse, Space, identity_of, space_of
from pieria.models.llm import USAGE, tokens
from pieria.models.meter import UNMETERED, Meter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PROBE = "Pieria"
"""Embedded once if only a reply tells the dimension."""
_ROOM = 200_000
PASSAGES, QUERY = "embed", "embed_query"
"""The steps that calls are metered under."""
_ESTIMATED_LIMIT = 254
"""Pieces of a passage for a model with unknown limit: a passage that fits the local model fits every other."""


class Passages(NamedTuple):
    """One vector per text. `truncated` has the indices of texts that the model read only in part."""

    vectors: NDArray[np.float32]
    truncated: tuple[int, ...]


class Embedder:
    """Wraps an embedding. Safe in threads if the wrapped embedding is.

    The prefixes go before each text, for models that must distinguish queries from passages.
    """

    def __init__(self, embedding: Embedding, *, query_prefix: str = "", passage_prefix: str = "") -> None:
        self._embedding = embedding
        self._prefixes = {"query": query_prefix, "passage": passage_prefix}
        self._identity = identity_of(embedding)
        self._dimension = self._identity.dimension
        self._has_replied = False
        self._meter: Meter = UNMETERED
        self._lock = threading.Lock()
        pieces = getattr(type(embedding), "pieces", None)
        self._estimated = None if pieces is not None else EstimatedPieces(_ESTIMATED_LIMIT)

    @property
    def model(self) -> str:
        return self._identity.model

    @property
    def note(self) -> str | None:
        """A note on this embedder for the plan of a recall and for the doctor's findings, or None."""
        return self._identity.note

    @property
    def pieces(self) -> Pieces:
        """The model's tokenizer, or an estimate if the model has none."""
        if self._estimated is not None:
            return self._estimated
        pieces: Pieces = self._embedding.pieces  # type: ignore[attr-defined]
        return pieces

    @property
    def space(self) -> Space:
        """The identity of the vectors. Embeds a probe if the dimension is unknown; `told` meters that call."""
        return self.told(UNMETERED)

    def told(self, meter: Meter) -> Space:
        """Return `space`, and meter the call if a probe is embedded."""
        if self._dimension is None:
            self.query(_PROBE, meter)
        assert self._dimension is not None
        return self.space_of(self._dimension)

    def space_of(self, dimension: int) -> Space:
        """Return the space without a call, using this dimension if the model's own is unknown."""
        return space_of(self._identity, self._dimension or dimension, prefixes=self._prefixes)

    @property
    def is_floor(self) -> bool:
        """Whether this is the fallback that works without a model."""
        return self.model.startswith(FLOOR)

    @property
    def is_loaded(self) -> bool:
        """Whether a text can be embedded at once, as far as is known."""
        return bool(getattr(self._embedding, "is_loaded", self._has_replied))

    @property
    def is_at_hand(self) -> bool:
        """Whether it embeds in this process, within milliseconds and without a server."""
        return bool(getattr(self._embedding, "is_at_hand", False))

    @property
    def room(self) -> int:
        """Characters per call with several texts. A call cannot be interrupted."""
        return int(getattr(self._embedding, "room", _ROOM))

    def check(self) -> None:
        """Raise `AdapterError` if it cannot embed, as far as can be seen without loading."""
        check = getattr(self._embedding, "check", None)
        if callable(check):
            check()

    def close(self) -> None:
        """Close connections, if there are any."""
        close = getattr(self._embedding, "close", None)
        if callable(close):
            close()

    def served(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to a call of another process. Raise `AdapterError` if the model cannot be shared."""
        serve = getattr(self._embedding, "served", None)
        if not callable(serve):
            raise AdapterError(self.model, "embed", "the model is not shared between processes")
        answer: dict[str, Any] = serve(values)
        return answer

    def counted_by(self, meter: Meter) -> Embedder:
        """Return a copy whose calls count on this meter, unless a call passes its own."""
        same = copy.copy(self)
        same._meter = meter
        return same

    def query(self, text: str, meter: Meter = UNMETERED) -> NDArray[np.float32]:
        """Return the vector of a query."""
        with telemetry.during("embedding.embed", model=self.model, text_length=len(text)):
            reply = self._replied(lambda: self._embedding.embed(self._prefixes["query"] + text), QUERY, meter)
            vector: NDArray[np.float32] = self._checked(reply, 1)[0]
            return vector

    def queries(self, texts: Sequence[str], meter: Meter = UNMETERED) -> NDArray[np.float32]:
        """Return the vectors of several queries, in one call."""
        if len(texts) == 1:
            return self.query(texts[0], meter)[None, :]
        with telemetry.during("embedding.embed_batch", model=self.model, batch_size=len(texts)):
            prefixed = [self._prefixes["query"] + text for text in texts]
            return self._checked(self._replied(lambda: self._embedding.embed_batch(prefixed), QUERY, meter), len(texts))

    def passages(self, texts: Sequence[str], meter: Meter = UNMETERED) -> Passages:
        """Return the vectors of passages."""
        with telemetry.during("embedding.embed_batch", model=self.model, batch_size=len(texts)):
            prefixed = [self._prefixes["passage"] + text for text in texts]
            reply = self._replied(lambda: self._embedding.embed_batch(prefixed), PASSAGES, meter)
            return Passages(self._checked(reply, len(texts)), reply.truncated)

    def _replied(self, ask: Callable[[], EmbeddingResponse], step: str, meter: Meter) -> EmbeddingResponse:
        """Call the model and meter the call. In-process models are free, so they are not metered."""
        if self.is_at_hand:
            return self._asked(ask)
        meter = self._meter if meter is UNMETERED else meter
        meter.allow(step, self.model)
        begun = perf_counter()
        reply: EmbeddingResponse | None = None
        try:
            reply = self._asked(ask)
            return reply
        finally:
            usage = tokens(None if reply is None else reply.usage, *((name,) for name in USAGE))
            meter.note(step, self.model, usage, perf_counter() - begun, failed=reply is None)

    def _asked(self, ask: Callable[[], EmbeddingResponse]) -> EmbeddingResponse:
        try:
            reply = ask()
        except PieriaError:
            raise
        # A user's own embedding may raise any exception; it is kept as the cause.
        except Exception as problem:
            raise AdapterError(self.model, "embed", f"it failed with {type(problem).__name__}") from problem
        self._has_replied = True
        return reply

    def _checked(self, reply: EmbeddingResponse, wanted: int) -> NDArray[np.float32]:
        import numpy as np

        if len(reply.vectors) != wanted:
            raise self._wrong(f"expected {wanted} vectors, got {len(reply.vectors)}")
        sizes = {len(vector) for vector in reply.vectors}
        for size in sorted(sizes):
            self._check_dimension(size)
        if not wanted:
            return np.zeros((0, self.space.dimension), np.float32)
        try:
            made = np.asarray(reply.vectors, np.float32)
        except (TypeError, ValueError, OverflowError) as problem:
            raise self._wrong("expected vectors of numbers, got something else") from problem
        lengths = np.linalg.norm(made.astype(np.float64), axis=1, keepdims=True)
        if not np.isfinite(lengths).all():
            raise self._wrong("a vector holds a number that is not finite")
        if not lengths.all():
            raise self._wrong("a vector is all zeros")
        unit: NDArray[np.float32] = (made / lengths).astype(np.float32)
        return unit

    def _check_dimension(self, size: int) -> None:
        with self._lock:
            if self._dimension is None and size:
                self._dimension = size
            expected = self._dimension
        if size != expected:
            raise self._wrong(f"expected {expected or 'some'} dimensions, got {size}")

    def _wrong(self, reason: str) -> AdapterError:
        hint = "The model behind this name has changed, or its adapter has a bug."
        return AdapterError(self.model, "embed", reason, hint=hint)
