"""The protocol of embedding models, and the identity of their vector spaces.

A user's own model needs two methods and no import of Pieria. `embedder` checks replies; the models are in `embedders`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

from pieria.errors import InputError

Vector = list[float]
FLOOR = "hashing:"
"""The prefix of space names whose vectors are made without a model."""
_SHOWN = 12
"""Characters of a fingerprint that a space's name shows."""


@dataclass(frozen=True, slots=True)
class EmbeddingResponse:
    """One vector per text, in order. `truncated` has the indices of texts that were read only in part."""

    vectors: list[Vector]
    model: str
    usage: dict[str, int] = field(default_factory=dict)
    truncated: tuple[int, ...] = ()


@runtime_checkable
class Embedding(Protocol):
    """Both methods raise `AdapterError`. The model decides which `opts` it takes, and refuses unknown ones."""

    def embed(self, text: str, opts: Mapping[str, Any] | None = None) -> EmbeddingResponse: ...

    def embed_batch(self, texts: Sequence[str], opts: Mapping[str, Any] | None = None) -> EmbeddingResponse: ...


@dataclass(frozen=True, slots=True)
class Identity:
    """What an embedding says about itself in an attribute `identity`. `model` is written `provider:model`.

    `decides` has everything else that affects vectors: the hash of the weights, a version, a pooling. `dimension` is
    None if only a reply can tell. `note` is a message for users, if there is one.
    """

    model: str
    dimension: int | None = None
    decides: Mapping[str, Any] = field(default_factory=dict)
    note: str | None = None


def identity_of(embedding: Embedding) -> Identity:
    """Return the embedding's identity; without one, the name of its class."""
    told = getattr(embedding, "identity", None)
    return told if isinstance(told, Identity) else Identity(f"custom:{type(embedding).__qualname__}")


@dataclass(frozen=True, slots=True)
class Space:
    """Vectors can be compared if all three fields are equal. A store records the space and refuses other vectors."""

    model: str
    dimension: int
    fingerprint: str

    @property
    def name(self) -> str:
        """The name of the space in a store."""
        return f"{self.model}@{self.fingerprint[:_SHOWN]}"

    @property
    def is_floor(self) -> bool:
        """Whether the vectors are made without a model."""
        return self.model.startswith(FLOOR)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def space_of(identity: Identity, dimension: int, **further: Any) -> Space:
    told = {"model": identity.model, "dimension": dimension, "decides": dict(identity.decides), **further}
    written = json.dumps(told, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return Space(identity.model, dimension, hashlib.sha256(written.encode()).hexdigest()[:32])


def checked_texts(texts: object) -> list[str]:
    """Return the texts as a list. Refuses a single text, which would be read letter by letter."""
    if isinstance(texts, str | bytes | Mapping) or not isinstance(texts, Sequence):
        raise InputError("texts", "a list of texts", texts)
    return [checked_text(text, f"texts[{place}]") for place, text in enumerate(texts)]


def checked_text(text: object, parameter: str = "text") -> str:
    if not isinstance(text, str):
        raise InputError(parameter, "a text", text)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InputError(parameter, "valid Unicode, without half of a surrogate pair", None) from None
    return text


def checked_opts(opts: Mapping[str, Any] | None, model: str, allowed: Sequence[str] = ()) -> dict[str, Any]:
    """Return the options without `model`, which must name this model, with or without its provider.

    Raises `InputError` for another model or an unknown option.
    """
    given = dict(opts or {})
    named = given.pop("model", model)
    if named not in (model, model.partition(":")[2]):
        raise InputError("opts.model", model, named, hint="Open another embedder for another model.")
    for name in given:
        if name not in allowed:
            raise InputError("opts", "one of " + ", ".join(("model", *allowed)), str(name))
    return given


class OwnEmbedding:
    """An embedding of Pieria: it checks the texts, and handles one text as a list of one."""

    def embed(self, text: str, opts: Mapping[str, Any] | None = None) -> EmbeddingResponse:
        return self._embedded([checked_text(text)], opts)

    def embed_batch(self, texts: Sequence[str], opts: Mapping[str, Any] | None = None) -> EmbeddingResponse:
        return self._embedded(checked_texts(texts), opts)

    def _embedded(self, texts: list[str], opts: Mapping[str, Any] | None) -> EmbeddingResponse:
        raise NotImplementedError


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
