"""Makes embedders, language models and rerankers from names such as `ollama:qwen3`, or from a user's object.

Only this module knows all adapters. It reads no settings: paths, keys and addresses are arguments.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pieria.errors import InputError
from pieria.models import shelf
from pieria.models.catalogue import DEFAULT, model_named
from pieria.models.embedder import Embedder
from pieria.models.embedding import Embedding
from pieria.models.llm import LLM, Chat
from pieria.models.reranker import SECONDS, Reranker

NONE = "none"
"""The name for no model."""
AUTO = "auto"
"""The installed embedding model, or the floor without one."""
SERVER = ("base_url", "api_key", "seconds")
"""The options of every server."""
_EMBEDDING_SERVER = ("base_url", "api_key", "dimensions", "batch", "seconds")
_PREFIXES = ("query_prefix", "passage_prefix")


@dataclass(frozen=True, slots=True)
class Provider:
    """A source of models. `example` is one of its models; its key is usually in the environment `variable`."""

    make: Callable[..., Any]
    example: str
    address: str | None = None
    variable: str | None = None
    options: tuple[str, ...] = SERVER
    spelling: Mapping[str, Any] = field(default_factory=dict)
    """Arguments for the provider's differences from others of its protocol."""

    def addressed(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options with the server's address."""
        address = options.get("base_url", self.address)
        if address is None:
            raise InputError("base_url", "the address of the server", None, hint="Such as http://localhost:8000/v1")
        return {**options, "base_url": address}


def _local(model: str, provider: Provider, models: Path, options: Mapping[str, Any]) -> Embedding:
    from pieria.models.embedders.local import LocalEmbedding
    from pieria.models.embedders.shared import SharedEmbedding

    own = LocalEmbedding(model_named(model or DEFAULT.name), models, threads=options.get("threads"))
    return SharedEmbedding(own, options["served_in"]) if "served_in" in options else own


def _hashing(model: str, provider: Provider, models: Path, options: Mapping[str, Any]) -> Embedding:
    from pieria.models.embedders.hash_floor import HashingEmbedding

    if model and not model.isdecimal():
        raise InputError("embedder", "hashing, or hashing: and a number of dimensions", f"hashing:{model}")
    return HashingEmbedding(int(model)) if model else HashingEmbedding()


def _embedding_server(model: str, provider: Provider, models: Path, options: Mapping[str, Any]) -> Embedding:
    from pieria.models.embedders.openai import OpenAIEmbedding

    return OpenAIEmbedding(model, **provider.addressed(options))


def _fastembed(model: str, provider: Provider, models: Path, options: Mapping[str, Any]) -> Embedding:
    from pieria.models.embedders.fastembed import FastEmbedding

    return FastEmbedding(model, **{"cache": models / "fastembed", **options})


def _openai(model: str, **options: Any) -> LLM:
    from pieria.models.llms.server import OpenAILLM

    return OpenAILLM(model, **options)


def _anthropic(model: str, **options: Any) -> LLM:
    from pieria.models.llms.server import AnthropicLLM

    return AnthropicLLM(model, **options)


PROVIDERS: Mapping[str, Provider] = {
    "local": Provider(_local, DEFAULT.name, options=("threads", "served_in")),
    "hashing": Provider(_hashing, "384", options=()),
    "openai": Provider(
        _embedding_server, "text-embedding-3-small", "https://api.openai.com/v1", options=_EMBEDDING_SERVER
    ),
    "ollama": Provider(_embedding_server, "nomic-embed-text", "http://localhost:11434/v1", options=_EMBEDDING_SERVER),
    "server": Provider(_embedding_server, "the-model", options=_EMBEDDING_SERVER),
    "fastembed": Provider(_fastembed, "BAAI/bge-small-en-v1.5", options=("folder", "cache", "threads", "download")),
}
LLM_PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider(
        _openai,
        "gpt-5-mini",
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
        spelling={"limit_field": "max_completion_tokens"},
    ),
    "anthropic": Provider(_anthropic, "claude-haiku-4-5", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
    "ollama": Provider(_openai, "qwen3", "http://localhost:11434/v1"),
    "openrouter": Provider(_openai, "qwen/qwen3-32b", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "server": Provider(_openai, "the-model"),
}


def _reranking(model: str, **options: Any) -> Reranker:
    from pieria.models.reranker import ServerReranking

    return Reranker(ServerReranking(model, **options), seconds=options.get("seconds", SECONDS))


RERANKER_PROVIDERS: Mapping[str, Provider] = {
    "cohere": Provider(_reranking, "rerank-v3.5", "https://api.cohere.com/v2"),
    "jina": Provider(_reranking, "jina-reranker-v2-base-multilingual", "https://api.jina.ai/v1"),
    "tei": Provider(_reranking, "BAAI/bge-reranker-base", "http://localhost:8080", spelling={"texts": True}),
    "server": Provider(_reranking, "the-model"),
}


# --- embedders


def embedder(
    chosen: object = None, *, models: Path | None = None, options: Mapping[str, Any] | None = None
) -> Embedder:
    """Return the embedder of a name, an embedding, or a function of a list of texts.

    `models` is the folder of installed models; a name needs it. Loads and connects nothing before the first text.
    """
    given = dict(options or {})
    prefixes = {name: given.pop(name) for name in _PREFIXES if name in given}
    for name, prefix in prefixes.items():
        if not isinstance(prefix, str):
            raise InputError(name, "a text", prefix)
    return chosen if isinstance(chosen, Embedder) else Embedder(_embedding(chosen, models, given), **prefixes)


def _embedding(chosen: object, models: Path | None, options: Mapping[str, Any]) -> Embedding:
    if chosen is None or isinstance(chosen, str):
        if models is None:
            raise InputError("models", "the folder of installed models, for an embedder by name", None)
        name = settled(AUTO if chosen is None else chosen, models)
        kind, _, model = checked_name(name).partition(":")
        provider = PROVIDERS.get(kind)
        if provider is None:
            raise InputError("embedder", "the name of an embedder", name)
        _refuse_further(options, (*provider.options, *_PREFIXES), "embedder")
        made: Embedding = provider.make(model, provider, models, options)
        return made
    if isinstance(chosen, Embedding) and not isinstance(chosen, type):
        _refuse_further(options, _PREFIXES, "embedder")
        return chosen
    if callable(chosen) and not isinstance(chosen, type):
        from pieria.models.embedders.function import FunctionEmbedding

        _refuse_further(options, ("name", "version", "dimension", *_PREFIXES), "embedder")
        return FunctionEmbedding(chosen, **options)
    raise InputError("embedder", "a name such as local, an embedding, or a function of a list of texts", chosen)


def settled(name: str, models: Path) -> str:
    """Return the name; for `auto`, the name that it means at the moment.

    A damaged model counts as installed: the user must learn of the damage. A folder that this user may not read counts
    as missing.
    """
    if name.strip().lower() == AUTO:
        return "local" if os.path.isdir(shelf.folder_of(DEFAULT, models)) else "hashing"
    return name


def checked_name(name: object, parameter: str = "embedder") -> str:
    """Return the name in its stored spelling: a known provider, `auto` or `none`."""
    return _spelt(name, parameter, (AUTO, NONE), PROVIDERS)


# --- language models


def language_model(chosen: object, *, options: Mapping[str, Any] | None = None) -> Chat:
    """Return the language model of a name, an LLM, or a function of messages and a schema. Makes no connection."""
    given = dict(options or {})
    return chosen if isinstance(chosen, Chat) else Chat(_llm(chosen, given))


def _llm(chosen: object, options: Mapping[str, Any]) -> LLM:
    if isinstance(chosen, str):
        made: LLM = _served(chosen, checked_llm(chosen), LLM_PROVIDERS, options, "llm", "a language model")
        return made
    if isinstance(chosen, LLM) and not isinstance(chosen, type):
        _refuse_further(options, (), "llm")
        return chosen
    if callable(chosen) and not isinstance(chosen, type):
        from pieria.models.llms.function import FunctionLLM

        _refuse_further(options, ("name",), "llm")
        return FunctionLLM(chosen, **options)
    expected = "a name such as ollama:qwen3, an LLM, or a function of messages and a schema"
    raise InputError("llm", expected, chosen)


def checked_llm(name: object, parameter: str = "llm") -> str:
    """Return the name in its stored spelling: a known provider with a model, or `none`."""
    return _with_model(name, parameter, LLM_PROVIDERS)


def provider_of(name: str) -> Provider | None:
    """Return the provider of a language model in any spelling; None for `none` or an unknown name."""
    return LLM_PROVIDERS.get(name.partition(":")[0].strip().lower())


# --- rerankers


def reranker(name: str, *, options: Mapping[str, Any] | None = None) -> Reranker:
    """Return the reranker of a name. Makes no connection."""
    kept = checked_reranker(name)
    made: Reranker = _served(name, kept, RERANKER_PROVIDERS, options or {}, "reranker", "a reranker")
    return made


def checked_reranker(name: object, parameter: str = "reranker") -> str:
    """Return the name in its stored spelling: a provider's model, or `none`.

    `tei` needs no model: a server of text-embeddings-inference has only one.
    """
    return _with_model(name, parameter, RERANKER_PROVIDERS)


# --- names


def _served(
    name: str, kept: str, providers: Mapping[str, Provider], options: Mapping[str, Any], what: str, noun: str
) -> Any:
    """Return the model of a server, by its name as given and as kept."""
    kind, _, model = kept.partition(":")
    provider = providers.get(kind)
    if provider is None:
        raise InputError(what, f"the name of {noun}", name)
    _refuse_further(options, provider.options, what)
    return provider.make(model, **{**provider.spelling, **provider.addressed(options), "provider": kind})


def _with_model(name: object, parameter: str, providers: Mapping[str, Provider]) -> str:
    kept = _spelt(name, parameter, (NONE,), providers)
    if kept in providers and not providers[kept].spelling.get("texts"):
        hint = f"Such as {kept}:{providers[kept].example}."
        raise InputError(parameter, "a provider and a model, spelt provider:model", name, hint=hint)
    return kept


def _spelt(name: object, parameter: str, plain: Sequence[str], providers: Mapping[str, Provider]) -> str:
    """Return the name in its stored spelling: one of the plain names, or a provider with or without a model.

    Raises `InputError` for any other name.
    """
    if not isinstance(name, str):
        first = next(iter(providers))
        raise InputError(parameter, f"a name such as {first}", name)
    kind, colon, model = (part.strip() for part in name.partition(":"))
    kind = kind.lower()
    if kind in plain and not colon:
        return kind
    if kind not in providers:
        expected = f"{', '.join(plain)}, or provider:model with a provider of {', '.join(providers)}"
        near = get_close_matches(kind, [name for name in (*plain, *providers) if name != NONE], 1)
        meant = near[0] if near else ""
        hint = f"{meant}:{model or providers[meant].example}" if meant in providers else meant
        raise InputError(parameter, expected, name, hint=f"Did you mean {hint}?" if hint else None)
    return f"{kind}:{model}" if model else kind


def _refuse_further(options: Mapping[str, object], allowed: Sequence[str], what: str) -> None:
    """Raise `InputError` for an option that would have no effect."""
    for name in options:
        if name not in allowed:
            raise InputError(f"{what} options", "one of " + ", ".join(allowed), str(name))
