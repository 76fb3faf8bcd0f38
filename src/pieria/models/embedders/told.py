"""An embedding that is told more with each call: the model, and whatever else it takes, as a configuration has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from pieria.models.embedding import Embedding, EmbeddingResponse, Identity, identity_of


class ToldEmbedding:
    """What it is told goes before what a call says. The model it is told is part of whose vectors these are."""

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
