"""Makes a language model from a name such as `ollama:qwen3`, or from a user's object.

Only this module knows all adapters. It reads no settings and no keys: they are arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pieria.errors import InputError
from pieria.models.chat import Chat
from pieria.models.llm import LLM
from pieria.models.names import NONE, refuse_further, spelt

WHAT = "llm"
SERVER = ("base_url", "api_key", "seconds")
"""The options of every provider."""

Maker = Callable[..., LLM]


@dataclass(frozen=True, slots=True)
class Provider:
    """A server of models. `example` is one of its models; its key is usually in the environment `variable`."""

    make: Maker
    example: str
    address: str | None = None
    variable: str | None = None
    spelling: Mapping[str, Any] = field(default_factory=dict)
    """Arguments for the provider's differences from others of its protocol."""


def _openai(model: str, **options: Any) -> LLM:
    from pieria.models.llms.openai import OpenAILLM

    return OpenAILLM(model, **options)


def _anthropic(model: str, **options: Any) -> LLM:
    from pieria.models.llms.anthropic import AnthropicLLM

    return AnthropicLLM(model, **options)


PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider(
        _openai,
        "gpt-5-mini",
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
        {"limit_field": "max_completion_tokens"},
    ),
    "anthropic": Provider(_anthropic, "claude-haiku-4-5", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
    "ollama": Provider(_openai, "qwen3", "http://localhost:11434/v1"),
    "openrouter": Provider(_openai, "qwen/qwen3-32b", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "server": Provider(_openai, "the-model"),
}

_EXAMPLES = {name: provider.example for name, provider in PROVIDERS.items()}


def language_model(chosen: object, *, options: Mapping[str, Any] | None = None) -> Chat:
    """Return the language model of a name, an LLM, or a function of messages and a schema. Makes no connection."""
    given = dict(options or {})
    return chosen if isinstance(chosen, Chat) else Chat(_llm(chosen, given))


def _llm(chosen: object, options: Mapping[str, Any]) -> LLM:
    if isinstance(chosen, str):
        return _named(chosen, options)
    if isinstance(chosen, LLM) and not isinstance(chosen, type):
        refuse_further(options, (), WHAT)
        return chosen
    if callable(chosen) and not isinstance(chosen, type):
        from pieria.models.llms.function import FunctionLLM

        refuse_further(options, ("name",), WHAT)
        return FunctionLLM(chosen, **options)
    expected = "a name such as ollama:qwen3, an LLM, or a function of messages and a schema"
    raise InputError(WHAT, expected, chosen)


def checked_llm(name: object, parameter: str = WHAT) -> str:
    """Return the name in its stored spelling: a known provider with a model, or `none`."""
    kept = spelt(name, parameter, (NONE,), _EXAMPLES)
    if kept in PROVIDERS:
        hint = f"Such as {kept}:{_EXAMPLES[kept]}."
        raise InputError(parameter, "a provider and a model, spelt provider:model", name, hint=hint)
    return kept


def provider_of(name: str) -> Provider | None:
    """Return the provider of a name in any spelling; None for `none` or an unknown name."""
    return PROVIDERS.get(name.partition(":")[0].strip().lower())


def _named(name: str, options: Mapping[str, Any]) -> LLM:
    kind, _, model = checked_llm(name).partition(":")
    provider = PROVIDERS.get(kind)
    if provider is None:
        raise InputError(WHAT, "the name of a language model", name)
    refuse_further(options, SERVER, WHAT)
    address = options.get("base_url", provider.address)
    if address is None:
        raise InputError("base_url", "the address of the server", None, hint="Such as http://localhost:8000/v1")
    return provider.make(model, **{**provider.spelling, **options, "base_url": address, "provider": kind})
