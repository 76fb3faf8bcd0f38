"""A model that another process of this user has loaded already. Without such a process it is loaded here."""

from __future__ import annotations

import base64
import logging
from collections.abc import Mapping
from typing import Any

from pieria.errors import AdapterError
from pieria.models.embedders.local import LocalEmbedding
from pieria.models.embedders.pieces import WordPieces
from pieria.models.embedding import EmbeddingResponse, OwnEmbedding, checked_opts, space_of
from pieria.runtime.local_call import RefusedError, asked

log = logging.getLogger(__name__)

WHAT = "embed"
SECONDS = 20.0
"""Seconds that the other process may take for one call, which is for a few texts."""


class SharedEmbedding(OwnEmbedding):
    """`own` is the model in this process, and `folder` the data folder whose server is asked first."""

    is_at_hand = True

    def __init__(self, own: LocalEmbedding, folder: str) -> None:
        self._own = own
        self._folder = folder
        self._was_answered = False
        self.identity = own.identity
        dimension = own.identity.dimension
        assert dimension is not None
        self._space = space_of(own.identity, dimension).name

    @property
    def pieces(self) -> WordPieces:
        return self._own.pieces

    @property
    def is_loaded(self) -> bool:
        return self._own.is_loaded or self._was_answered

    @property
    def room(self) -> int:
        return self._own.room

    def check(self) -> None:
        self._own.check()

    def served(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to a call of another process. Raise `AdapterError` if its vectors are others."""
        import numpy as np

        if values["space"] != self._space:
            raise AdapterError(self.identity.model, "embed", f"its vectors are not those of {values['space']}")
        told = self._own.embed_batch(values["texts"])
        return {
            "vectors": base64.b64encode(np.asarray(told.vectors, dtype="<f4").tobytes()).decode(),
            "count": len(told.vectors),
            "model": told.model,
            "usage": told.usage,
            "truncated": list(told.truncated),
        }

    def _embedded(self, texts: list[str], opts: Mapping[str, Any] | None) -> EmbeddingResponse:
        checked_opts(opts, self.identity.model)
        if not self._own.is_loaded:
            try:
                answer = asked(self._folder, WHAT, {"space": self._space, "texts": texts}, SECONDS)
            except (RefusedError, TimeoutError) as problem:
                log.info("the model is loaded here: %s", problem)
                answer = None
            self._was_answered = answer is not None
            if answer is not None:
                return _response(answer)
        return self._own.embed_batch(texts, opts)


def _response(answer: Mapping[str, Any]) -> EmbeddingResponse:
    import numpy as np

    flat = np.frombuffer(base64.b64decode(answer["vectors"]), dtype="<f4")
    vectors = flat.reshape(answer["count"], -1).tolist()
    return EmbeddingResponse(vectors, answer["model"], answer["usage"], tuple(answer["truncated"]))
