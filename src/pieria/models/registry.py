"""Makes an embedder from a name such as `openai:text-embedding-3-small`, or from a user's object.

Only this module knows all adapters. It reads no settings: paths, keys and addresses are arguments.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pieria.errors import InputError
from pieria.models import shelf
from pieria.models.catalogue import DEFAULT, model_named
from pieria.models.embedder import Embedder
from pieria.models.embedding import Embedding
from pieria.models.names import NONE, refuse_further, spelt

AUTO = "auto"
"""The installed model, or the floor without one."""
WHAT = "embedder"
_PREFIXES = ("query_prefix", "passage_prefix")

Maker = Callable[[str, Path, Mapping[str, Any]], Embedding]


@dataclass(frozen=True, slots=True)
class Provider:
    """A source of embeddings. `example` is one of its models; `options` are the options it takes."""

    make: Maker
    example: str
    options: tuple[str, ...]
    address: str | None = None


def _local(model: str, models: Path, options: Mapping[str, Any]) -> Embedding:
    from pieria.models.embedders.local import LocalEmbedding

    return LocalEmbedding(model_named(model or DEFAULT.name), models, **options)


def _hashing(model: str, models: Path, options: Mapping[str, Any]) -> Embedding:
    from pieria.models.embedders.hash_floor import HashingEmbedding

    if model and not model.isdecimal():
        raise InputError("embedder", "hashing, or hashing: and a number of dimensions", f"hashing:{model}")
    return HashingEmbedding(int(model)) if model else HashingEmbedding()


def _openai(model: str, models: Path, options: Mapping[str, Any]) -> Embedding:
    from pieria.models.embedders.openai import OpenAIEmbedding

    if options.get("base_url") is None:
        raise InputError("base_url", "the address of the server", None, hint="Such as http://localhost:8000/v1")
    return OpenAIEmbedding(model, **options)


def _fastembed(model: str, models: Path, options: Mapping[str, Any]) -> Embedding:
    from pieria.models.embedders.fastembed import FastEmbedding

    return FastEmbedding(model, **{"cache": models / "fastembed", **options})


_SERVER = ("base_url", "api_key", "dimensions", "batch", "seconds")

PROVIDERS: Mapping[str, Provider] = {
    "local": Provider(_local, DEFAULT.name, ("threads",)),
    "hashing": Provider(_hashing, "384", ()),
    "openai": Provider(_openai, "text-embedding-3-small", _SERVER, "https://api.openai.com/v1"),
    "ollama": Provider(_openai, "nomic-embed-text", _SERVER, "http://localhost:11434/v1"),
    "server": Provider(_openai, "the-model", _SERVER),
    "fastembed": Provider(_fastembed, "BAAI/bge-small-en-v1.5", ("folder", "cache", "threads", "download")),
}

_PLAIN = (AUTO, NONE)
_EXAMPLES = {name: provider.example for name, provider in PROVIDERS.items()}


def embedder(chosen: object = None, *, models: Path, options: Mapping[str, Any] | None = None) -> Embedder:
    """Return the embedder of a name, an embedding, or a function of a list of texts.

    `models` is the folder of installed models. Loads and connects nothing before the first text.
    """
    given = dict(options or {})
    prefixes = {name: given.pop(name) for name in _PREFIXES if name in given}
    for name, prefix in prefixes.items():
        if not isinstance(prefix, str):
            raise InputError(name, "a text", prefix)
    return chosen if isinstance(chosen, Embedder) else Embedder(_embedding(chosen, models, given), **prefixes)


def _embedding(chosen: object, models: Path, options: Mapping[str, Any]) -> Embedding:
    if chosen is None or isinstance(chosen, str):
        chosen = settled(AUTO if chosen is None else chosen, models)
        return _named(chosen, models, options)
    if isinstance(chosen, Embedding) and not isinstance(chosen, type):
        refuse_further(options, _PREFIXES, WHAT)
        return chosen
    if callable(chosen) and not isinstance(chosen, type):
        from pieria.models.embedders.function import FunctionEmbedding

        refuse_further(options, ("name", "version", "dimension", *_PREFIXES), WHAT)
        return FunctionEmbedding(chosen, **options)
    raise InputError("embedder", "a name such as local, an embedding, or a function of a list of texts", chosen)


def settled(name: str, models: Path) -> str:
    """Return the name; for `auto`, the name that it means at the moment."""
    if name.strip().lower() == AUTO:
        return "local" if _installed(models) else "hashing"
    return name


def checked_name(name: object, parameter: str = WHAT) -> str:
    """Return the name in its stored spelling: a known provider, `auto` or `none`."""
    return spelt(name, parameter, _PLAIN, _EXAMPLES)


def _named(name: str, models: Path, options: Mapping[str, Any]) -> Embedding:
    kind, _, model = checked_name(name).partition(":")
    provider = PROVIDERS.get(kind)
    if provider is None:
        raise InputError("embedder", "the name of an embedder", name)
    refuse_further(options, (*provider.options, *_PREFIXES), WHAT)
    addressed = {} if provider.address is None else {"base_url": provider.address}
    return provider.make(model, models, {**addressed, **options})


def _installed(models: Path) -> bool:
    """Return whether the model's folder exists, even if it is damaged: the user must learn of the damage.

    A folder that this user may not read counts as missing.
    """
    return os.path.isdir(shelf.folder_of(DEFAULT, models))
