"""An embedding with fixed options for every call, such as a model chosen in the configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from pieria.models.embedding import Embedding, EmbeddingResponse, Identity, identity_of


class ToldEmbedding:
    """Wraps an embedding. The fixed options override those of a call.

    A fixed model is part of the vectors' identity.
    """

    def __init__(self, embedding: Embedding, opts: Mapping[str, Any]) -> None:
        self._embedding = embedding
        self._opts = MappingProxyType(dict(opts))
        own = identity_of(embedding)
        decides = {**own.decides, **({"told": opts["model"]} if "model" in opts else {})}
        self.identity = Identity(own.model, own.dimension, decides, own.note)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedding, name)

    def embed(self, text: str, opts: Mapping[str, Any] | None = None) -> EmbeddingResponse:
        return self._embedding.embed(text, {**(opts or {}), **self._opts})

    def embed_batch(self, texts: Sequence[str], opts: Mapping[str, Any] | None = None) -> EmbeddingResponse:
        return self._embedding.embed_batch(texts, {**(opts or {}), **self._opts})
