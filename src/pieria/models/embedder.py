"""The embedder that the engine holds: any embedding, its replies checked, as arrays of unit vectors.

Exists so that no store ever gets a vector that is not finite, not of its space or not of its text, whoever made it.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

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
"""Embedded once where only a reply tells the dimension."""
_ROOM = 200_000
PASSAGES, QUERY = "embed", "embed_query"
"""What a call is counted as."""
_ESTIMATED_LIMIT = 254
"""Pieces of a passage for a model that does not tell its own limit: what fits the local one fits every other."""


class Passages(NamedTuple):
    """A row a text; `truncated` are the places of texts that the model read in part."""

    vectors: NDArray[np.float32]
    truncated: tuple[int, ...]


class Embedder:
    """Safe in threads when its embedding is.

    The prefixes go before each text, for models that want to be told a question from a passage.
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
        """What whoever reads the plan of a recall, or the doctor's findings, has to know of this embedder."""
        return self._identity.note

    @property
    def pieces(self) -> Pieces:
        """How the model counts a text; of one that does not say, an estimate."""
        if self._estimated is not None:
            return self._estimated
        pieces: Pieces = self._embedding.pieces  # type: ignore[attr-defined]
        return pieces

    @property
    def space(self) -> Space:
        """The identity of the vectors. Embeds a word where the dimension is not known yet; see `told`."""
        return self.told(UNMETERED)

    def told(self, meter: Meter) -> Space:
        """The same, counted."""
        if self._dimension is None:
            self.query(_PROBE, meter)
        assert self._dimension is not None
        return self.space_of(self._dimension)

    def space_of(self, dimension: int) -> Space:
        """The same without embedding anything: where the dimension is not known yet, it is taken to be this one."""
        return space_of(self._identity, self._dimension or dimension, prefixes=self._prefixes)

    @property
    def is_floor(self) -> bool:
        """Whether it serves for want of a model."""
        return self.model.startswith(FLOOR)

    @property
    def is_loaded(self) -> bool:
        """Whether it is at work in this process: a text can be embedded at once, as far as that is known."""
        return bool(getattr(self._embedding, "is_loaded", self._has_replied))

    @property
    def is_at_hand(self) -> bool:
        """Whether it embeds in this process, in a few milliseconds, whatever happens elsewhere."""
        return bool(getattr(self._embedding, "is_at_hand", False))

    @property
    def room(self) -> int:
        """Characters to give it in one call, of several texts: a call cannot be broken off."""
        return int(getattr(self._embedding, "room", _ROOM))

    def check(self) -> None:
        """Raises `AdapterError` where it is plain without loading anything that it cannot embed."""
        check = getattr(self._embedding, "check", None)
        if callable(check):
            check()

    def close(self) -> None:
        """Lets go of connections, if there are any."""
        close = getattr(self._embedding, "close", None)
        if callable(close):
            close()

    def counted_by(self, meter: Meter) -> Embedder:
        """The same, whose calls count there where whoever asks names no other meter."""
        same = copy.copy(self)
        same._meter = meter
        return same

    def query(self, text: str, meter: Meter = UNMETERED) -> NDArray[np.float32]:
        """The vector of a question."""
        with telemetry.during("embedding.embed", model=self.model, text_length=len(text)):
            reply = self._replied(lambda: self._embedding.embed(self._prefixes["query"] + text), QUERY, meter)
            vector: NDArray[np.float32] = self._checked(reply, 1)[0]
            return vector

    def queries(self, texts: Sequence[str], meter: Meter = UNMETERED) -> NDArray[np.float32]:
        """The vectors of several ways to ask, in one call."""
        if len(texts) == 1:
            return self.query(texts[0], meter)[None, :]
        with telemetry.during("embedding.embed_batch", model=self.model, batch_size=len(texts)):
            prefixed = [self._prefixes["query"] + text for text in texts]
            return self._checked(self._replied(lambda: self._embedding.embed_batch(prefixed), QUERY, meter), len(texts))

    def passages(self, texts: Sequence[str], meter: Meter = UNMETERED) -> Passages:
        """The vectors of what is to be found."""
        with telemetry.during("embedding.embed_batch", model=self.model, batch_size=len(texts)):
            prefixed = [self._prefixes["passage"] + text for text in texts]
            reply = self._replied(lambda: self._embedding.embed_batch(prefixed), PASSAGES, meter)
            return Passages(self._checked(reply, len(texts)), reply.truncated)

    def _replied(self, ask: Callable[[], EmbeddingResponse], step: str, meter: Meter) -> EmbeddingResponse:
        """A model at work in this process costs nobody anything: it is not counted."""
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
        # What a user's own embedding raises is not known here; as the cause it is kept.
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
            raise self._wrong("a vector is all zeros, which is alike to nothing")
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
        hint = "The model behind this name is another one than before, or its adapter is wrong."
        return AdapterError(self.model, "embed", reason, hint=hint)
