"""Makes a reranker from a name such as `cohere:rerank-v3.5`.

Only this module knows all adapters. It reads no settings: keys and addresses are arguments.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pieria.errors import InputError
from pieria.models.names import NONE, refuse_further, spelt
from pieria.models.reranker import SECONDS, Reranker

WHAT = "reranker"
OPTIONS = ("base_url", "api_key", "seconds")
"""The options of every provider."""


@dataclass(frozen=True, slots=True)
class Provider:
    """A server of rerankers. `example` is one of its models; with `texts` it takes documents under that name."""

    example: str
    address: str | None = None
    texts: bool = False


PROVIDERS: Mapping[str, Provider] = {
    "cohere": Provider("rerank-v3.5", "https://api.cohere.com/v2"),
    "jina": Provider("jina-reranker-v2-base-multilingual", "https://api.jina.ai/v1"),
    "tei": Provider("BAAI/bge-reranker-base", "http://localhost:8080", texts=True),
    "server": Provider("the-model"),
}

_EXAMPLES = {name: provider.example for name, provider in PROVIDERS.items()}


def reranker(name: str, *, options: Mapping[str, Any] | None = None) -> Reranker:
    """Return the reranker of a name. Makes no connection."""
    from pieria.models.rerankers.server import ServerReranking

    given = dict(options or {})
    kind, _, model = checked_reranker(name).partition(":")
    provider = PROVIDERS.get(kind)
    if provider is None:
        raise InputError(WHAT, "the name of a reranker", name)
    refuse_further(given, OPTIONS, WHAT)
    address = given.pop("base_url", provider.address)
    if address is None:
        raise InputError("base_url", "the address of the server", None, hint="Such as http://localhost:8000/v1")
    reranking = ServerReranking(model, base_url=address, provider=kind, texts=provider.texts, **given)
    return Reranker(reranking, seconds=given.get("seconds", SECONDS))


def checked_reranker(name: object, parameter: str = WHAT) -> str:
    """Return the name in its stored spelling: a provider's model, or `none`.

    `tei` needs no model: a server of text-embeddings-inference has only one.
    """
    kept = spelt(name, parameter, (NONE,), _EXAMPLES)
    if kept in PROVIDERS and not PROVIDERS[kept].texts:
        hint = f"Such as {kept}:{_EXAMPLES[kept]}."
        raise InputError(parameter, "a provider and a model, spelt provider:model", name, hint=hint)
    return kept
