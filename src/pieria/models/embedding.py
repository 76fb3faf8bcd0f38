"""What every embedding model offers, and the identity of the space its vectors lie in.

Exists so that a user's own model needs two methods and no import of ours. How a reply is checked and turned into
arrays belongs to `embedder`, what the models are to `embedders`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol, runtime_checkable

from pieria.errors import InputError

Vector = list[float]
FLOOR = "hashing:"
"""What the name of a space begins with whose vectors were made without a model."""
_SHOWN = 12
"""Letters of a fingerprint that tell spaces apart."""


@dataclass(frozen=True, slots=True)
class EmbeddingResponse:
    """One vector a text, in the order of the texts. `truncated` are the places of texts that were read in part."""

    vectors: list[Vector]
    model: str
    usage: dict[str, int] = field(default_factory=dict)
    truncated: tuple[int, ...] = ()


@runtime_checkable
class Embedding(Protocol):
    """Both methods raise `AdapterError`. What `opts` may hold is the model's own; an unknown option is refused."""

    def embed(self, text: str, opts: Mapping[str, Any] | None = None) -> EmbeddingResponse: ...

    def embed_batch(self, texts: Sequence[str], opts: Mapping[str, Any] | None = None) -> EmbeddingResponse: ...


@dataclass(frozen=True, slots=True)
class Identity:
    """What an embedding may tell of itself in an attribute `identity`. `model` is written `provider:model`.

    `decides` holds whatever else decides what vector a text gets: the hash of the weights, a version, a pooling.
    `dimension` is None where only a reply can tell. `note` is what users must be told of it, if anything.
    """

    model: str
    dimension: int | None = None
    decides: Mapping[str, Any] = field(default_factory=dict)
    note: str | None = None


def identity_of(embedding: Embedding) -> Identity:
    """What it tells of itself; of one that tells nothing, the name of its class."""
    told = getattr(embedding, "identity", None)
    return told if isinstance(told, Identity) else Identity(f"custom:{type(embedding).__qualname__}")


@dataclass(frozen=True, slots=True)
class Space:
    """Vectors may be compared when all three are equal; a store records them and refuses the others."""

    model: str
    dimension: int
    fingerprint: str

    @property
    def name(self) -> str:
        """By which a store knows it."""
        return f"{self.model}@{self.fingerprint[:_SHOWN]}"

    @property
    def is_floor(self) -> bool:
        """These vectors were made without a model, for want of one."""
        return self.model.startswith(FLOOR)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def space_of(identity: Identity, dimension: int, **further: Any) -> Space:
    told = {"model": identity.model, "dimension": dimension, "decides": dict(identity.decides), **further}
    written = json.dumps(told, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return Space(identity.model, dimension, hashlib.sha256(written.encode()).hexdigest()[:32])


def checked_texts(texts: object) -> list[str]:
    """The texts as a list. A single text in their place would be read letter by letter, so it is refused."""
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
    """The options but for the model, which may be named, with or without its provider, and must be the right one."""
    given = dict(opts or {})
    named = given.pop("model", model)
    if named not in (model, model.partition(":")[2]):
        raise InputError("opts.model", model, named, hint="Open another embedder for another model.")
    for name in given:
        if name not in allowed:
            raise InputError("opts", "one of " + ", ".join(("model", *allowed)), str(name))
    return given
